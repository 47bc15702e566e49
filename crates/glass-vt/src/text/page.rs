//! The text with its notices.

use super::budget::{Cost, Notices};
use super::row::{Ending, Row};
use super::split::End;
use std::fmt::Write as _;

/// How a notice begins.
const NOTICE_START: &str = "[... ";

/// Longest notice, in characters: three numbers of 20 digits and the words.
pub(super) const NOTICE_CHARS_MAX: usize = 112;

/// What a notice takes: its line, its newline, and where it stands in the
/// middle of a line, two cuts and another newline.
pub(super) const NOTICE: Cost = Cost {
    lines: 1,
    chars: NOTICE_CHARS_MAX + 4,
};

/// Stands where a line was cut.
const CUT: char = '…';

/// Why rows are not in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// They are the same as the line before them.
    Repeats,
    /// The budget had no room for them, or nobody asked for them.
    LeftOut,
}

/// Rows that are not in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elision {
    /// Why.
    pub reason: Reason,
    /// The first raw byte of what is missing.
    pub offset: u64,
    /// How many raw bytes: exactly what is missing.
    pub bytes: u64,
    /// How many lines begin in them.
    pub lines: u64,
    /// Where in the text its notice stands, in bytes; where it would stand, if
    /// the budget had no room for notices.
    pub at: usize,
}

/// A text and what is missing from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The text, notices included.
    pub text: String,
    /// Everything that is not in it, in order.
    pub elisions: Vec<Elision>,
    /// Lines of the output.
    pub lines: u64,
    /// The raw byte after the output's last.
    pub end: u64,
    /// Lines among the elisions that look like errors and found no room.
    pub errors_left_out: u64,
}

/// Whether a line looks like a notice of ours.
pub(super) fn is_notice(line: &str) -> bool {
    line.starts_with(NOTICE_START)
}

/// Puts rows together.
pub(super) struct Renderer {
    page: Page,
    notices: Notices,
    /// The raw byte after what the text accounts for.
    accounted: u64,
    /// Lines that begin before that.
    lines: u64,
    /// How the last row ended; nothing before the first.
    last: Option<Ending>,
}

impl Renderer {
    pub(super) fn new(offset: u64, notices: Notices) -> Renderer {
        Renderer {
            page: Page::default(),
            notices,
            accounted: offset,
            lines: 0,
            last: None,
        }
    }

    /// Adds a row, and a notice for whatever lies between it and the last one.
    pub(super) fn row(&mut self, row: &Row) {
        self.gap(row.start, row.lines_before);
        let follows = self.last == Some(Ending::Wrap);
        if !row.begins_line && !follows && self.notices == Notices::Shown {
            self.page.text.push(CUT);
        }
        self.page.text.push_str(&row.text);
        if row.ending == Ending::Newline {
            self.page.text.push('\n');
        }
        self.last = Some(row.ending);
        self.accounted = row.end;
        self.lines = row.lines_before + u64::from(row.begins_line);
        if let Some(repeats) = row.repeats {
            self.elide(Elision {
                reason: Reason::Repeats,
                offset: row.end,
                bytes: repeats.end - row.end,
                lines: repeats.count,
                at: self.page.text.len(),
            });
            self.accounted = repeats.end;
            self.lines += repeats.count;
        }
    }

    /// The page.
    pub(super) fn finish(mut self, end: End, errors_left_out: u64) -> Page {
        self.gap(end.offset, end.lines);
        self.page.lines = end.lines;
        self.page.end = end.offset;
        self.page.errors_left_out = errors_left_out;
        self.page
    }

    fn gap(&mut self, until: u64, lines: u64) {
        if until == self.accounted {
            return;
        }
        // A line that goes on in what is left out ends here.
        if self.last == Some(Ending::Wrap) && self.notices == Notices::Shown {
            self.page.text.push(CUT);
            self.page.text.push('\n');
        }
        self.elide(Elision {
            reason: Reason::LeftOut,
            offset: self.accounted,
            bytes: until - self.accounted,
            lines: lines - self.lines,
            at: self.page.text.len(),
        });
        self.last = None;
    }

    fn elide(&mut self, elision: Elision) {
        if self.notices == Notices::Shown {
            let Elision {
                offset,
                bytes,
                lines,
                ..
            } = elision;
            let text = &mut self.page.text;
            let written = match (elision.reason, lines) {
                (Reason::Repeats, 1) => write!(text, "{NOTICE_START}the same line once more"),
                (Reason::Repeats, _) => {
                    write!(text, "{NOTICE_START}the same line {lines} more times")
                }
                (Reason::LeftOut, 0) => write!(text, "{NOTICE_START}part of a line left out"),
                (Reason::LeftOut, 1) => write!(text, "{NOTICE_START}1 line left out"),
                (Reason::LeftOut, _) => write!(text, "{NOTICE_START}{lines} lines left out"),
            };
            let written =
                written.and_then(|()| writeln!(text, ", offset={offset} length={bytes}]"));
            written.expect("a String takes everything");
        }
        self.page.elisions.push(elision);
    }
}
