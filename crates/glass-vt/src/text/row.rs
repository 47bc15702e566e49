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
    /// Whether rows right before it were not asked for.
    pub after_gap: bool,
}

impl Row {
    /// The raw byte after this row and its repeats.
    pub(super) fn extent_end(&self) -> u64 {
        self.repeats.map_or(self.end, |repeats| repeats.end)
    }

    /// What it takes to show it after the row before it: exactly its text and
    /// newline, and at most `notice` for its repeats and for a gap.
    pub(super) fn cost(&self, notice: Cost) -> Cost {
        let mut cost = Cost {
            lines: usize::from(self.begins_line),
            chars: self.chars + usize::from(self.ending == Ending::Newline),
        };
        if self.repeats.is_some() {
            cost = cost.plus(notice);
        }
        if self.after_gap {
            cost = cost.plus(self.gap_cost(notice));
        }
        cost
    }

    /// What it takes to leave out what stands before it. A row in the middle of
    /// a line then begins a line of the text.
    pub(super) fn gap_cost(&self, notice: Cost) -> Cost {
        notice.plus(Cost {
            lines: usize::from(!self.begins_line),
            chars: 0,
        })
    }
}
