//! What a terminal shows, kept on the server: so that somebody who comes later
//! gets the screen and not the whole history of bytes.
//!
//! A [`Screen`] is fed with what the programs write. It answers the questions
//! that a terminal answers ([`Screen::take_replies`]), and can be drawn into a
//! fresh terminal at any moment ([`Screen::snapshot`]). Everything that it holds
//! is bounded by [`ScreenSize`] and the constants here.

mod alacritty;
mod beyond;
mod bounded;
mod dump;
mod gate;
mod late;
mod packed;
mod saved;
mod style;
#[cfg(test)]
mod tests;

use alacritty::Alacritty;
use std::ops::Range;

pub use late::{LateScreen, WAITING_BYTES_MAX};
pub use saved::{SAVED_BYTES_MAX, SavedScreen};

/// Lines that have left the screen and are kept for a snapshot. Older ones are
/// in the journal.
pub const HISTORY_LINES_MAX: usize = 1_000;

/// Fewest and most columns of a screen.
pub const COLUMNS: std::ops::RangeInclusive<u16> = 2..=1_000;

/// Fewest and most rows of a screen.
pub const ROWS: std::ops::RangeInclusive<u16> = 1..=1_000;

/// Longest string sequence that the screen takes, in bytes. A longer one is
/// aborted: the engine would keep it.
pub const STRING_BYTES_MAX: usize = 2 * 1024;

/// Most bytes of replies that wait to be taken.
pub const REPLY_BYTES_MAX: usize = 4 * 1024;

/// Columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScreenSize {
    /// Columns.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

impl ScreenSize {
    /// The nearest size that a screen can have.
    pub fn clamped(self) -> ScreenSize {
        ScreenSize {
            columns: self.columns.clamp(*COLUMNS.start(), *COLUMNS.end()),
            rows: self.rows.clamp(*ROWS.start(), *ROWS.end()),
        }
    }
}

/// What a screen needs of an emulator. The only place that knows which one it
/// is lies behind this.
trait Engine {
    /// Takes bytes.
    fn feed(&mut self, bytes: &[u8]);
    /// Shows what a synchronised update holds back.
    fn end_update(&mut self);
    /// Whether a synchronised update holds something back.
    fn is_updating(&self) -> bool;
    /// Row and column of the cursor, from 0 on.
    fn cursor(&self) -> (usize, usize);
    /// The rows that scroll, from 0 on.
    fn scrolled(&self) -> Range<usize>;
    /// Appends what puts the cursor back, its look, and the margins.
    fn resume(&self, out: &mut Vec<u8>);
    /// Gives memory back. Until it is unpacked or fed, only what it says and
    /// whether it is updating can be asked of it.
    fn pack(&mut self);
    /// Can be asked everything again.
    fn unpack(&mut self);
    /// Changes the size.
    fn resize(&mut self, size: ScreenSize);
    /// Takes what it wants to say to the programs.
    fn take_replies(&mut self) -> Vec<u8>;
    /// The title of its window.
    fn title(&self) -> Option<String>;
    /// The visible lines as text.
    fn text(&self) -> Vec<String>;
    /// Appends sequences that draw it.
    fn draw(&mut self, out: &mut Vec<u8>);
}

/// Follows what is written to a terminal of which no screen is kept.
#[derive(Debug, Default)]
pub struct Whole {
    gate: gate::Gate,
}

impl Whole {
    /// Takes what a program wrote.
    pub fn follow(&mut self, bytes: &[u8]) {
        self.gate.push(bytes, |_| {});
    }

    /// Whether neither a sequence nor a character is unfinished.
    pub fn is_between(&self) -> bool {
        self.gate.is_between()
    }
}

/// The screen of one terminal.
pub struct Screen {
    engine: Box<dyn Engine + Send>,
    gate: gate::Gate,
}

impl Screen {
    /// An empty screen.
    pub fn new(size: ScreenSize) -> Screen {
        Screen {
            engine: Box::new(Alacritty::new(size.clamped())),
            gate: gate::Gate::default(),
        }
    }

    /// Takes what a program wrote.
    pub fn feed(&mut self, bytes: &[u8]) {
        let engine = &mut self.engine;
        self.gate.push(bytes, |passed| engine.feed(passed));
    }

    /// Whether a sequence is not finished.
    fn is_within_sequence(&self) -> bool {
        self.gate.is_within_sequence()
    }

    /// Whether whatever was written is whole, so that something else may be
    /// written before what follows.
    pub fn is_between(&self) -> bool {
        self.gate.is_between()
    }

    /// Whether the program is in the middle of a synchronised update (DEC mode
    /// 2026), which nobody should see half of.
    pub fn is_updating(&self) -> bool {
        self.engine.is_updating()
    }

    /// Ends a synchronised update that takes too long.
    pub fn end_update(&mut self) {
        self.engine.end_update();
    }

    /// Row and column of the cursor, from 0 on.
    pub fn cursor(&self) -> (usize, usize) {
        self.engine.cursor()
    }

    /// The rows that scroll, from 0 on.
    pub fn scrolled(&self) -> Range<usize> {
        self.engine.scrolled()
    }

    /// Appends what makes a terminal that shows this screen ready for plain text
    /// anywhere on it: no margins are in the way, and characters are themselves.
    pub fn step_aside(out: &mut Vec<u8>) {
        out.extend_from_slice(b"\x0f\x1b(B\x1b[?6l\x1b[4l\x1b[m");
    }

    /// Appends what undoes that: margins, cursor, look and character sets are
    /// again what the programs left.
    pub fn resume(&self, out: &mut Vec<u8>) {
        Screen::step_aside(out);
        self.engine.resume(out);
    }

    /// Gives memory back, as [`Engine::pack`] does.
    fn pack(&mut self) {
        self.engine.pack();
    }

    fn unpack(&mut self) {
        self.engine.unpack();
    }

    /// Changes the size.
    pub fn resize(&mut self, size: ScreenSize) {
        self.engine.resize(size.clamped());
    }

    /// Takes the answers to what the programs asked, to be written to them.
    pub fn take_replies(&mut self) -> Vec<u8> {
        self.engine.take_replies()
    }

    /// The title that a program gave.
    pub fn title(&self) -> Option<String> {
        self.engine.title()
    }

    /// The visible lines, without blanks at their ends.
    pub fn text(&self) -> Vec<String> {
        self.engine.text()
    }

    /// Bytes that draw this screen into a terminal of the same size: palette,
    /// title, history and screen, the alternate screen, margins, cursor, modes,
    /// and whatever sequence is unfinished.
    pub fn snapshot(&mut self) -> Vec<u8> {
        let mut out = self.drawing();
        self.gate.unfinished(&mut out);
        out
    }

    /// The same without what is unfinished, for somebody who is going to be
    /// shown that sequence whole, or not at all.
    pub fn drawing(&mut self) -> Vec<u8> {
        self.engine.end_update();
        let mut out = Vec::new();
        self.engine.draw(&mut out);
        out
    }
}
