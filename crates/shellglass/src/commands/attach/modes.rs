//! What a session's programs have done to our terminal, so that it can be
//! undone when we leave.

/// Longest run of parameters that is looked at, in bytes.
const PARAMETERS_BYTES_MAX: usize = 64;

/// Everything that is safe to undo whether it was done or not: keypad and cursor
/// keys, the mouse, focus, paste, synchronised updates, wrapping, the cursor's
/// visibility and shape, colours, character set, and the scrolling margins, which
/// would move the cursor.
const ALWAYS: &[u8] = b"\x1b>\x1b[?1l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\
\x1b[?1006l\x1b[?2004l\x1b[?2026l\x1b[4l\x1b[20l\x1b[?6l\x1b7\x1b[r\x1b8\x1b[?7h\x1b[?25h\x1b[0 q\x1b[m\x1b(B\x0f";

/// Leaves the alternate screen, which is only right on it: it moves the cursor.
const LEAVE_ALTERNATE: &[u8] = b"\x1b[?1049l";

/// What brings a terminal back of which nothing is known.
pub(super) fn panic_reset() -> Vec<u8> {
    let modes = Modes {
        is_alternate: true,
        has_shown: true,
        ..Modes::default()
    };
    modes.reset(&[])
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Ground,
    Escape,
    Bracket,
    /// In the parameters of a private mode.
    Private(Vec<u8>),
}

/// The state of our terminal.
#[derive(Debug, Default)]
pub(super) struct Modes {
    state: State,
    is_alternate: bool,
    has_shown: bool,
}

impl Modes {
    /// Takes what the terminal is shown.
    pub(super) fn follow(&mut self, bytes: &[u8]) {
        self.has_shown |= !bytes.is_empty();
        for byte in bytes {
            self.step(*byte);
        }
    }

    fn step(&mut self, byte: u8) {
        let state = std::mem::take(&mut self.state);
        self.state = match (state, byte) {
            (_, 0x1b) => State::Escape,
            (State::Escape, b'[') => State::Bracket,
            (State::Escape, b'c') => {
                self.is_alternate = false;
                State::Ground
            }
            (State::Bracket, b'?') => State::Private(Vec::new()),
            (State::Private(mut parameters), b'0'..=b'9' | b';')
                if parameters.len() < PARAMETERS_BYTES_MAX =>
            {
                parameters.push(byte);
                State::Private(parameters)
            }
            (State::Private(parameters), b'h' | b'l') => {
                let mut each = parameters.split(|byte| *byte == b';');
                if each.any(|number| matches!(number, b"47" | b"1047" | b"1049")) {
                    self.is_alternate = byte == b'h';
                }
                State::Ground
            }
            _ => State::Ground,
        };
    }

    /// What brings the terminal back to how a shell expects it, with this once
    /// nothing is in the way of it.
    pub(super) fn reset(&self, more: &[u8]) -> Vec<u8> {
        if !self.has_shown {
            return Vec::new();
        }
        // Whatever sequence is unfinished ends here.
        let mut out = b"\x18".to_vec();
        if self.is_alternate {
            out.extend_from_slice(LEAVE_ALTERNATE);
        }
        out.extend_from_slice(ALWAYS);
        out.extend_from_slice(more);
        out.extend_from_slice(b"\r\n");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::{LEAVE_ALTERNATE, Modes};

    fn leaves_alternate(pieces: &[&[u8]]) -> bool {
        let mut modes = Modes::default();
        for piece in pieces {
            modes.follow(piece);
        }
        let reset = modes.reset(&[]);
        let mut windows = reset.windows(LEAVE_ALTERNATE.len());
        windows.any(|window| window == LEAVE_ALTERNATE)
    }

    #[test]
    fn the_alternate_screen_is_left_only_where_it_was_entered() {
        assert!(!leaves_alternate(&[b"hello"]));
        assert!(leaves_alternate(&[b"\x1b[?10", b"49h"]));
        assert!(leaves_alternate(&[b"\x1b[?25;1049h text"]));
        assert!(!leaves_alternate(&[b"\x1b[?1049h text \x1b[?1049l"]));
        assert!(!leaves_alternate(&[b"\x1b[?47h\x1bc"]));
        assert!(!leaves_alternate(&[b"[?1049h", b"\x1b[1049h"]));
    }

    #[test]
    fn a_terminal_that_was_shown_nothing_is_left_alone() {
        assert_eq!(Modes::default().reset(&[]), b"");
    }

    #[test]
    fn parameters_without_end_are_not_kept() {
        let mut modes = Modes::default();
        modes.follow(b"\x1b[?");
        modes.follow(&[b'1'; 1000]);
        modes.follow(b"049h");
        assert!(!modes.is_alternate);
    }
}
