//! What fish says to the terminal between the moment that it begins a command
//! and the command's first byte: a title, and colours put back. It is shown, and
//! is no part of the command's output.

/// Longest title that is waited for, in bytes.
const BYTES_MAX: usize = 4096;

/// What fish writes, in this order; each may be missing.
const PARTS: [Part; 4] = [
    Part::Exact(b"\x1b[?2004l"),
    Part::Title(b"\x1b]0;"),
    Part::Exact(b"\x1b[30m\x1b(B\x1b[m"),
    Part::Exact(b"\r"),
];

enum Part {
    Exact(&'static [u8]),
    /// Up to BEL.
    Title(&'static [u8]),
}

/// The beginning of a command's output, until it is known to be the command's.
#[derive(Debug, Default)]
pub(super) struct Preamble(Vec<u8>);

/// How much of some bytes is fish's.
enum Lead {
    /// So many.
    Known(usize),
    /// More bytes may change that.
    Open(usize),
}

impl Preamble {
    /// Takes bytes; gives the command's own once it is known where they begin.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let room = BYTES_MAX.saturating_sub(self.0.len());
        self.0.extend_from_slice(bytes);
        match lead(&self.0) {
            Lead::Open(_) if bytes.len() < room => None,
            Lead::Known(count) | Lead::Open(count) => Some(self.0.split_off(count)),
        }
    }

    /// What is left of it when the command ends.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let (Lead::Known(count) | Lead::Open(count)) = lead(&self.0);
        self.0.split_off(count)
    }
}

fn lead(bytes: &[u8]) -> Lead {
    let mut at = 0;
    for part in &PARTS {
        let rest = &bytes[at..];
        let (Part::Exact(begin) | Part::Title(begin)) = part;
        let shared = begin.len().min(rest.len());
        if rest[..shared] != begin[..shared] {
            continue;
        }
        if rest.len() < begin.len() {
            return Lead::Open(at);
        }
        at += match part {
            Part::Exact(whole) => whole.len(),
            Part::Title(_) => match rest.iter().position(|byte| *byte == 0x07) {
                Some(end) => end + 1,
                None => return Lead::Open(at),
            },
        };
    }
    Lead::Known(at)
}

#[cfg(test)]
mod tests {
    use super::{BYTES_MAX, Preamble};

    fn check(stream: &str, expected: &str) {
        for size in 1..=stream.len().max(1) {
            let mut preamble = Some(Preamble::default());
            let mut own = Vec::new();
            for piece in stream.as_bytes().chunks(size) {
                match &mut preamble {
                    Some(open) => {
                        if let Some(bytes) = open.take(piece) {
                            own.extend(bytes);
                            preamble = None;
                        }
                    }
                    None => own.extend_from_slice(piece),
                }
            }
            own.extend(preamble.map(Preamble::finish).unwrap_or_default());
            assert_eq!(
                String::from_utf8_lossy(&own),
                expected,
                "in pieces of {size}"
            );
        }
    }

    #[test]
    fn what_fish_says_for_itself_is_left_out() {
        check(
            "\x1b[?2004l\x1b]0;ls ~\x07\x1b[30m\x1b(B\x1b[m\rhi\r\n",
            "hi\r\n",
        );
        check("\x1b]0;ls ~\x07\x1b[30m\x1b(B\x1b[m\r", "");
        check("\x1b[30m\x1b(B\x1b[m\r", "");
    }

    #[test]
    fn what_a_command_says_stays() {
        for text in ["", "hi", "\x1b[31mred", "\x1b]0;a title", "\x1b", "\n\r"] {
            check(text, text);
        }
        let title = format!("\x1b]0;{}", "x".repeat(2 * BYTES_MAX));
        let mut preamble = Preamble::default();
        assert_eq!(preamble.take(title.as_bytes()), Some(title.into_bytes()));
    }
}
