//! How long a text may be.

/// Columns after which a long line is continued in another row. Rows are what
/// is kept or left out, so that of a line without end the beginning and the
/// end can be shown.
pub(super) const ROW_COLUMNS_MAX: usize = 4096;

/// Columns of a row at least.
const ROW_COLUMNS_MIN: usize = 16;

/// Rows that should fit into a budget at least.
const ROWS_OF_A_BUDGET: usize = 8;

/// Limits of a [`Page`](super::Page).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Lines, notices included.
    pub lines_max: usize,
    /// Characters (Unicode scalar values), newlines and notices included.
    pub chars_max: usize,
    /// So many lines of the beginning; with `tail_lines` absent, none of the
    /// end.
    pub head_lines: Option<usize>,
    /// So many lines of the end; with `head_lines` absent, none of the
    /// beginning.
    pub tail_lines: Option<usize>,
    /// What becomes of progress bars.
    pub progress: Progress,
}

/// What becomes of a line that is written over and over, after a carriage return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// It is its last state.
    #[default]
    Compressed,
    /// Each of its states is a line.
    Shown,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            lines_max: 500,
            chars_max: 100_000,
            head_lines: None,
            tail_lines: None,
            progress: Progress::Compressed,
        }
    }
}

/// A number of lines and of characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    pub lines: usize,
    pub chars: usize,
}

impl Cost {
    pub(super) fn plus(self, other: Cost) -> Cost {
        Cost {
            lines: self.lines.saturating_add(other.lines),
            chars: self.chars.saturating_add(other.chars),
        }
    }

    pub(super) fn minus(self, other: Cost) -> Cost {
        Cost {
            lines: self.lines.saturating_sub(other.lines),
            chars: self.chars.saturating_sub(other.chars),
        }
    }

    pub(super) fn fits(self, limit: Cost) -> bool {
        self.lines <= limit.lines && self.chars <= limit.chars
    }
}

/// How a budget is shared once not everything fits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    /// All there is.
    pub whole: Cost,
    /// For the beginning.
    pub head: Cost,
    /// For lines of the middle that look like errors, with their notices.
    pub errors: Cost,
    /// For the end and the errors together.
    pub tail: Cost,
    /// Whether notices have room at all.
    pub notices: Notices,
}

/// Whether elisions are named in the text or only beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notices {
    /// In the text.
    Shown,
    /// Beside it: the budget is too small for them.
    Hidden,
}

impl Budget {
    /// Columns of a row under this budget.
    pub(super) fn row_columns(&self) -> usize {
        (self.chars_max / ROWS_OF_A_BUDGET).clamp(ROW_COLUMNS_MIN, ROW_COLUMNS_MAX)
    }

    /// Two fifths for the head, one for errors, two for the tail, which also
    /// has what the errors do not use.
    pub(super) fn shares(&self, notice: Cost) -> Shares {
        let asked = self.head_lines.is_some() || self.tail_lines.is_some();
        let (head, tail) = (self.head_lines.unwrap_or(0), self.tail_lines.unwrap_or(0));
        let lines = match asked {
            true => self
                .lines_max
                .min(head.saturating_add(tail).saturating_add(1)),
            false => self.lines_max,
        };
        let whole = Cost {
            lines,
            chars: self.chars_max,
        };
        let small = whole.chars < notice.chars.saturating_mul(ROWS_OF_A_BUDGET) || lines == 0;
        if small {
            return Shares {
                whole,
                head: whole,
                errors: Cost::default(),
                tail: Cost::default(),
                notices: Notices::Hidden,
            };
        }
        let room = whole.minus(notice);
        let part = |cost: Cost, numerator: usize, denominator: usize| Cost {
            lines: cost.lines / denominator * numerator
                + cost.lines % denominator * numerator / denominator,
            chars: cost.chars / denominator * numerator,
        };
        let (head, errors) = match asked {
            true => {
                let share = |lines: usize| lines.min(room.lines);
                let chars = match (head, tail) {
                    (0, _) => 0,
                    (_, 0) => room.chars,
                    _ => room.chars / 2,
                };
                let head = Cost {
                    lines: share(head),
                    chars,
                };
                (head, Cost::default())
            }
            false => (part(room, 2, 5), part(room, 1, 5)),
        };
        Shares {
            whole,
            head,
            errors,
            tail: room.minus(head),
            notices: Notices::Shown,
        }
    }
}
