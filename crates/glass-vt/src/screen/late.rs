//! A screen that reads plain text only when somebody looks.
//!
//! What a program writes without end scrolls away before anybody sees it. So text
//! without sequences waits, and once more of it waits than a screen and its history
//! can show, only the last of it is ever read. Invariant: whoever looks finds what
//! a screen shows that has read everything.

use super::{HISTORY_LINES_MAX, Screen, ScreenSize};
use crate::control::ESC;

const SHIFT_OUT: u8 = 0x0e;
const SHIFT_IN: u8 = 0x0f;

/// Bytes of text that wait at most.
pub const WAITING_BYTES_MAX: usize = 512 * 1024;

/// Lines that are read beyond those that can be shown, for one that was begun
/// before and one that is not finished.
const LINES_MORE: usize = 2;

/// A screen that is read when it is looked at.
pub struct LateScreen {
    screen: Screen,
    size: ScreenSize,
    waiting: Vec<u8>,
}

impl LateScreen {
    /// One of this size that goes on from a screen.
    pub fn new(screen: Screen, size: ScreenSize) -> LateScreen {
        LateScreen {
            screen,
            size: size.clamped(),
            waiting: Vec::new(),
        }
    }

    /// Takes what a program wrote.
    pub fn feed(&mut self, bytes: &[u8]) {
        let is_plain = memchr::memchr3(ESC, SHIFT_OUT, SHIFT_IN, bytes).is_none();
        // An update that is not finished may have changed what scrolls.
        let is_amid = self.screen.is_within_sequence() || self.screen.is_updating();
        if !is_plain || is_amid {
            self.catch_up();
            return self.screen.feed(bytes);
        }
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() > WAITING_BYTES_MAX {
            self.skip();
        }
    }

    /// The screen, with everything read.
    pub fn now(&mut self) -> &mut Screen {
        self.catch_up();
        self.screen.unpack();
        &mut self.screen
    }

    /// Whether an update is under way, which no plain text changes.
    pub fn is_updating(&self) -> bool {
        self.screen.is_updating()
    }

    /// Takes the answers to what the programs asked. Plain text asks nothing.
    pub fn take_replies(&mut self) -> Vec<u8> {
        self.screen.take_replies()
    }

    /// Changes the size.
    pub fn resize(&mut self, size: ScreenSize) {
        self.size = size.clamped();
        self.now().resize(size);
    }

    /// Gives memory back, until somebody looks or writes more than plain text.
    pub fn rest(&mut self) {
        self.catch_up();
        self.screen.pack();
        self.waiting = Vec::new();
    }

    fn catch_up(&mut self) {
        if !self.waiting.is_empty() {
            self.screen.feed(&self.waiting);
            self.waiting.clear();
        }
    }

    /// Forgets lines that nobody can come to see; reads everything where there are
    /// none.
    fn skip(&mut self) {
        let rows = usize::from(self.size.rows);
        let lines = HISTORY_LINES_MAX + rows + LINES_MORE;
        let ends = memchr::memrchr_iter(b'\n', &self.waiting);
        // Only after a carriage return it is known where a line begins.
        let mut begins = ends.skip(lines).filter(|end| {
            let before = end.checked_sub(1).map(|before| self.waiting[before]);
            before == Some(b'\r')
        });
        match begins
            .next()
            .filter(|_| self.screen.scrolled() == (0..rows))
        {
            Some(end) => drop(self.waiting.drain(..=end)),
            None => self.catch_up(),
        }
        if self.waiting.len() > WAITING_BYTES_MAX / 2 {
            // Long lines: else every piece would be looked through anew.
            self.catch_up();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LateScreen, WAITING_BYTES_MAX};
    use crate::screen::{Screen, ScreenSize};
    use proptest::prelude::*;

    const SIZE: ScreenSize = ScreenSize {
        columns: 20,
        rows: 6,
    };

    /// Checks that whoever looks finds what a screen shows that has read all.
    fn check(pieces: &[Vec<u8>]) {
        let mut late = LateScreen::new(Screen::new(SIZE), SIZE);
        let mut eager = Screen::new(SIZE);
        for piece in pieces {
            late.feed(piece);
            eager.feed(piece);
            assert!(late.waiting.len() <= WAITING_BYTES_MAX);
        }
        let (shown, known) = (late.now().snapshot(), eager.snapshot());
        assert!(shown == known, "{pieces:.200?}");
    }

    /// More lines than ever wait.
    fn flood(line: &str) -> Vec<Vec<u8>> {
        let count = 2 * WAITING_BYTES_MAX / line.len() + 7;
        let lines: String = (0..count).map(|n| format!("{n}{line}")).collect();
        lines
            .as_bytes()
            .chunks(60_000)
            .map(<[u8]>::to_vec)
            .collect()
    }

    #[test]
    fn a_flood_of_text_leaves_what_it_would_have() {
        for line in [
            "\r\n",
            " some text\r\n",
            " no return\n",
            "\t\u{4e16}\u{754c}\r\n\r\n",
            "x",
        ] {
            check(&flood(line));
        }
    }

    #[test]
    fn what_was_said_before_a_flood_counts_in_it() {
        for before in [
            "\x1b[31m",
            "\x1b[2;4r",
            "\x1b[?1049h",
            "\x1b[4h\x1b[?7l",
            "\x1b(0",
            "\x1b[3;3H\x1b7",
            "\x1b]2;ti",
            "x\u{1b}",
            "\x1b[?2026h\x1b[2;4r",
        ] {
            let mut pieces = vec![before.as_bytes().to_vec()];
            pieces.extend(flood(" some text\r\n"));
            pieces.push(b"\x1b[1mend\x0f".to_vec());
            check(&pieces);
        }
        let mut cut = vec![b"\xe4\xb8".to_vec()];
        cut.extend(flood(" some text\r\n"));
        check(&cut);
    }

    #[test]
    fn what_waits_is_given_back() {
        let mut late = LateScreen::new(Screen::new(SIZE), SIZE);
        late.feed(b"text");
        late.rest();
        assert_eq!(late.waiting.capacity(), 0);
        assert_eq!(late.now().text()[0], "text");
    }

    proptest! {
        #[test]
        fn any_pieces_are_read_as_if_at_once(
            pieces in prop::collection::vec("[a-z\\r\\n\u{1b}\\[0-9;mHJ\u{e}\u{f}\u{e4}]{0,30}", 0..12),
        ) {
            let pieces: Vec<Vec<u8>> = pieces.into_iter().map(String::into_bytes).collect();
            check(&pieces);
        }
    }
}
