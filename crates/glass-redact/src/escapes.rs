//! Tells escape sequences from visible text, one byte at a time.
//!
//! Colours inside a word do not divide it. Moving the cursor does. What stands
//! inside an OSC or another string is text like any other: an address of a
//! hyperlink may have a password too. So is the letter of a short sequence such
//! as `ESC M`: it may be the first of a secret that somebody printed there.

/// The byte that begins a sequence.
pub(crate) const ESC: u8 = 0x1b;

/// Longest control sequence. What follows of a longer one is text.
const CSI_BYTES_MAX: u8 = 64;

/// Where in a sequence we are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Escape {
    /// In none.
    #[default]
    Ground,
    /// Behind ESC.
    Begun,
    /// Behind ESC and an intermediate byte.
    Intermediate,
    /// In a control sequence, after so many bytes.
    Csi(u8),
}

/// What a byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Part of a sequence that divides nothing.
    Quiet,
    /// The end of a sequence after which text stands elsewhere.
    Break,
    /// Text, and no part of the sequence.
    Text,
}

impl Escape {
    /// Whether the next byte belongs to a sequence.
    #[inline]
    pub(crate) fn is_open(self) -> bool {
        self != Escape::Ground
    }

    /// Takes the next byte of an open sequence.
    #[inline]
    pub(crate) fn step(&mut self, byte: u8) -> Part {
        let (next, part) = match (*self, byte) {
            (_, ESC) => (Escape::Begun, Part::Quiet),
            (Escape::Ground, _) => (Escape::Ground, Part::Text),
            (Escape::Begun, b'[') => (Escape::Csi(0), Part::Quiet),
            (Escape::Begun | Escape::Intermediate, 0x20..=0x2f) => {
                (Escape::Intermediate, Part::Quiet)
            }
            // OSC, PM, APC and their end: what is inside is text.
            (Escape::Begun, b']' | b'^' | b'_' | b'\\') => (Escape::Ground, Part::Break),
            (Escape::Intermediate, 0x30..=0x7e) => (Escape::Ground, Part::Quiet),
            (Escape::Csi(n), 0x20..=0x3f) if n < CSI_BYTES_MAX => (Escape::Csi(n + 1), Part::Quiet),
            (Escape::Csi(_), b'm' | b'K' | b'h' | b'l') => (Escape::Ground, Part::Quiet),
            (Escape::Csi(_), 0x40..=0x7e) => (Escape::Ground, Part::Break),
            (Escape::Begun | Escape::Intermediate | Escape::Csi(_), _) => {
                (Escape::Ground, Part::Text)
            }
        };
        *self = next;
        part
    }
}

#[cfg(test)]
mod tests {
    use super::{ESC, Escape, Part};

    fn visible(bytes: &[u8]) -> String {
        let mut escape = Escape::Ground;
        let mut text = String::new();
        for byte in bytes {
            if !escape.is_open() && *byte != ESC {
                text.push(char::from(*byte));
            } else {
                match escape.step(*byte) {
                    Part::Quiet => {}
                    Part::Break => text.push('|'),
                    Part::Text => text.push(char::from(*byte)),
                }
            }
        }
        text
    }

    #[test]
    fn colours_divide_nothing_and_cursors_do() {
        assert_eq!(visible(b"a\x1b[1;31mb\x1b[0m\x1b[Kc"), "abc");
        assert_eq!(visible(b"a\x1b[2;1Hb"), "a|b");
        assert_eq!(visible(b"a\x1b(Bb\x1bMc"), "abMc");
        assert_eq!(
            visible(b"\x1b]0;t\x07a\x1b]8;;u\x1b\\b"),
            "|0;t\x07a|8;;u|b"
        );
        assert_eq!(visible(b"a\x1b\nb"), "a\nb");
    }
}
