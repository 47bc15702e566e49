//! One row of text and where it comes from.

use super::budget::Cost;

/// What follows a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The next line.
    Newline,
    /// More of the same line.
    Wrap,
    /// Nothing: the output ends without a newline.
    End,
}

/// A row as it is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    /// What a terminal would show.
    pub text: &'a str,
    /// Its first raw byte.
    pub start: u64,
    /// The raw byte after its last, newline included.
    pub end: u64,
    /// What follows.
    pub ending: Ending,
    /// Whether a line begins here.
    pub begins_line: bool,
    /// How many lines begin before this row.
    pub lines_before: u64,
}

/// Copies of a row that follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repeats {
    /// How many.
    pub count: u64,
    /// The raw byte after the last.
    pub end: u64,
}

/// A row that is kept.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub text: String,
    pub chars: usize,
    pub start: u64,
    pub end: u64,
    pub ending: Ending,
    pub begins_line: bool,
    pub lines_before: u64,
    pub repeats: Option<Repeats>,
}

impl Row {
    /// The raw byte after this row and its repeats.
    pub(super) fn extent_end(&self) -> u64 {
        self.repeats.map_or(self.end, |repeats| repeats.end)
    }

    /// What it takes to show it: its text, a newline, the notice of its
    /// repeats, and the dots where a neighbouring row may be left out.
    pub(super) fn cost(&self, notice: Cost) -> Cost {
        let broken = !self.begins_line || self.ending == Ending::Wrap;
        let own = Cost {
            lines: usize::from(self.begins_line),
            chars: self.chars + 1 + if broken { 2 } else { 0 },
        };
        match self.repeats {
            Some(_) => own.plus(notice),
            None => own,
        }
    }
}
