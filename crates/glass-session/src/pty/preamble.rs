//! What a shell says to the terminal between the moment that it begins a command
//! and the command's first byte: a title, and colours put back. It is shown, and
//! is no part of the command's output.

use glass_model::ShellKind;

/// Longest title that is waited for, in bytes.
pub(super) const BYTES_MAX: usize = 4096;

/// What fish writes, in this order; each may be missing.
const FISH: [Part; 4] = [
    Part::Exact(b"\x1b[?2004l"),
    Part::Title(b"\x1b]0;"),
    Part::Exact(b"\x1b[30m\x1b(B\x1b[m"),
    Part::Exact(b"\r"),
];

/// The same for nu.
const NU: [Part; 2] = [Part::Title(b"\x1b]133;C"), Part::Title(b"\x1b]2;")];

/// Something that a shell writes.
#[derive(Debug)]
pub(super) enum Part {
    Exact(&'static [u8]),
    /// Up to BEL or ST.
    Title(&'static [u8]),
}

/// The beginning of a command's output, until it is known to be the command's.
#[derive(Debug)]
pub(super) struct Preamble {
    parts: &'static [Part],
    held: Vec<u8>,
}

/// How much of some bytes is the shell's.
pub(super) enum Lead {
    /// So many.
    Known(usize),
    /// More bytes may change that.
    Open(usize),
}

impl Preamble {
    /// The one of a shell that says something.
    pub(super) fn of(kind: ShellKind) -> Option<Preamble> {
        let parts: &[Part] = match kind {
            ShellKind::Fish => &FISH,
            ShellKind::Nu => &NU,
            _ => return None,
        };
        let held = Vec::new();
        Some(Preamble { parts, held })
    }

    /// Takes bytes; gives the command's own once it is known where they begin.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let room = BYTES_MAX.saturating_sub(self.held.len());
        self.held.extend_from_slice(bytes);
        match lead(self.parts, &self.held) {
            Lead::Open(_) if bytes.len() < room => None,
            Lead::Known(count) | Lead::Open(count) => Some(self.held.split_off(count)),
        }
    }

    /// What is left of it when the command ends.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let (Lead::Known(count) | Lead::Open(count)) = lead(self.parts, &self.held);
        self.held.split_off(count)
    }
}

/// How much of these bytes is of these parts, in their order.
pub(super) fn lead(parts: &[Part], bytes: &[u8]) -> Lead {
    let mut at = 0;
    for part in parts {
        let rest = &bytes[at..];
        let (Part::Exact(begin) | Part::Title(begin)) = part;
        let shared = begin.len().min(rest.len());
        if rest[..shared] != begin[..shared] {
            continue;
        }
        if rest.len() < begin.len() {
            return Lead::Open(at);
        }
        at += begin.len();
        if let Part::Title(_) = part {
            match title(&rest[begin.len()..]) {
                Title::Ends(count) => at += count,
                Title::Open => return Lead::Open(at - begin.len()),
                Title::None => at -= begin.len(),
            }
        }
    }
    Lead::Known(at)
}

/// What the rest of a title is.
enum Title {
    /// Whole, after so many bytes.
    Ends(usize),
    Open,
    /// No title: another sequence begins in it.
    None,
}

fn title(bytes: &[u8]) -> Title {
    let end = bytes.iter().position(|byte| matches!(byte, 0x07 | 0x1b));
    let Some(end) = end else {
        return Title::Open;
    };
    match (bytes[end], bytes.get(end + 1)) {
        (0x07, _) => Title::Ends(end + 1),
        (_, Some(b'\\')) => Title::Ends(end + 2),
        (_, None) => Title::Open,
        _ => Title::None,
    }
}

#[cfg(test)]
mod tests {
    use super::{BYTES_MAX, Preamble};
    use glass_model::ShellKind;

    fn check(stream: &str, expected: &str) {
        check_of(ShellKind::Fish, stream, expected);
    }

    fn check_of(kind: ShellKind, stream: &str, expected: &str) {
        for size in 1..=stream.len().max(1) {
            let mut preamble = Preamble::of(kind);
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
    fn what_nu_says_for_itself_is_left_out() {
        let nu = |stream, expected| check_of(ShellKind::Nu, stream, expected);
        nu("\x1b]133;C\x1b\\\x1b]2;~> ls\x07hi\r\n", "hi\r\n");
        nu("\x1b]133;C\x1b\\hi", "hi");
        nu("\x1b[31mred", "\x1b[31mred");
    }

    #[test]
    fn what_a_command_says_stays() {
        for text in ["", "hi", "\x1b[31mred", "\x1b]0;a title", "\x1b", "\n\r"] {
            check(text, text);
        }
        let title = format!("\x1b]0;{}", "x".repeat(2 * BYTES_MAX));
        let mut preamble = Preamble::of(ShellKind::Fish).expect("it has one");
        assert_eq!(preamble.take(title.as_bytes()), Some(title.into_bytes()));
    }
}
