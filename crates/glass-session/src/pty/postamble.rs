//! What a shell says to the terminal between a command's last byte and the word that
//! it has ended: nu's own marks, a title, a mode put back. It is shown, and is no part
//! of the command's output.

use super::preamble::{BYTES_MAX, Lead, Part, lead};
use glass_model::ShellKind;

/// What nu writes, in this order; each may be missing.
const NU: [Part; 4] = [
    Part::Title(b"\x1b]133;D"),
    Part::Title(b"\x1b]2;"),
    Part::Title(b"\x1b]7;"),
    Part::Exact(b"\x1b[?1l"),
];

/// The end of a command's output, as long as it may be the shell's.
#[derive(Debug, Default)]
pub(super) struct Postamble(Vec<u8>);

impl Postamble {
    /// The one of a shell that says something.
    pub(super) fn of(kind: ShellKind) -> Option<Postamble> {
        (kind == ShellKind::Nu).then(Postamble::default)
    }

    /// Takes bytes; gives those that are the command's whatever comes.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.0.extend_from_slice(bytes);
        let escapes = self.0.iter().enumerate().filter(|(_, byte)| **byte == 0x1b);
        let mut begins = escapes.map(|(at, _)| at);
        let held = begins.find(|at| is_shells(&self.0[*at..]));
        let held = held.filter(|at| self.0.len() - at <= BYTES_MAX);
        let rest = self.0.split_off(held.unwrap_or(self.0.len()));
        std::mem::replace(&mut self.0, rest)
    }

    /// What the command wrote of that, when it has ended.
    pub(super) fn finish(self) -> Vec<u8> {
        match lead(&NU, &self.0) {
            Lead::Known(count) if count == self.0.len() => Vec::new(),
            // Half of one is no word of the shell's.
            Lead::Known(_) | Lead::Open(_) => self.0,
        }
    }
}

/// Whether all of these bytes may be the shell's, as far as they go.
fn is_shells(bytes: &[u8]) -> bool {
    match lead(&NU, bytes) {
        Lead::Known(count) => count == bytes.len(),
        Lead::Open(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::{BYTES_MAX, Postamble};
    use proptest::prelude::*;

    const OWN: &str = "\x1b]133;D;0\x1b\\\x1b]2;~\x07\x1b]7;file://h/\x1b\\\x1b[?1l";

    fn recorded(stream: &[u8], size: usize) -> Vec<u8> {
        let mut postamble = Postamble::default();
        let mut own = Vec::new();
        for piece in stream.chunks(size) {
            own.extend(postamble.take(piece));
            assert!(postamble.0.len() <= BYTES_MAX);
        }
        own.extend(postamble.finish());
        own
    }

    #[test]
    fn what_nu_says_for_itself_is_left_out() {
        for output in [
            "",
            "hi\r\n",
            "\x1b[31mred",
            "\x1b]133;D;1\x1b\\",
            "\x1b",
            "\x1b]2;mine\x07",
            "\x1b[?1l",
            "\x1b]133;D",
        ] {
            let stream = format!("{output}{OWN}");
            for size in 1..=stream.len() {
                let own = recorded(stream.as_bytes(), size);
                assert_eq!(String::from_utf8_lossy(&own), output, "in pieces of {size}");
            }
        }
    }

    #[test]
    fn what_only_looks_so_is_the_commands() {
        let half = format!("hi{}", &OWN[..OWN.len() - 1]);
        assert_eq!(recorded(half.as_bytes(), 3), half.as_bytes());
        let more = format!("{OWN}more");
        assert_eq!(recorded(more.as_bytes(), 3), more.as_bytes());
        let long = format!("\x1b]2;{}", "x".repeat(2 * BYTES_MAX));
        assert_eq!(recorded(long.as_bytes(), 1000), long.as_bytes());
    }

    proptest! {
        #[test]
        fn nothing_else_is_lost(
            output in prop::collection::vec(prop::sample::select(&b"\x1b]2;137D\\\x07[?lx"[..]), 0..60),
            size in 1usize..9,
        ) {
            let stream = [&output[..], b"."].concat();
            prop_assert_eq!(recorded(&stream, size), stream);
        }
    }
}
