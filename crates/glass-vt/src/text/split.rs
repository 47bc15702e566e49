//! Cuts output into rows.

use super::line::Line;
use super::row::{Ending, Piece};

/// Columns that one byte can take: a tab.
const BYTE_COLUMNS_MAX: usize = 8;

/// Where the output ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// The raw byte after the last.
    pub offset: u64,
    /// Lines in all.
    pub lines: u64,
}

/// Rows of a stream that comes in pieces.
#[derive(Debug)]
pub(super) struct Split {
    columns: usize,
    line: Line,
    /// The offset of the next byte.
    offset: u64,
    /// Where the current row begins.
    row_start: u64,
    /// Whether a line begins with the current row.
    begins_line: bool,
    /// Lines that begin before the current row.
    lines_before: u64,
}

impl Split {
    pub(super) fn new(columns: usize, offset: u64) -> Split {
        Split {
            columns,
            line: Line::new(columns),
            offset,
            row_start: offset,
            begins_line: true,
            lines_before: 0,
        }
    }

    /// Reads the next piece and hands over every row that ends in it.
    pub(super) fn push(&mut self, bytes: &[u8], mut sink: impl FnMut(Piece<'_>)) {
        let mut at = 0;
        for newline in memchr::memchr_iter(b'\n', bytes) {
            let raw = &bytes[at..newline];
            match self.plain(raw) {
                Some(text) => {
                    self.offset += raw.len() as u64 + 1;
                    sink(self.piece(text, self.offset, Ending::Newline));
                }
                None => {
                    self.feed(raw, &mut sink);
                    self.offset += 1;
                    self.end_line(Ending::Newline, &mut sink);
                }
            }
            self.next_row(self.offset, true);
            at = newline + 1;
        }
        self.feed(&bytes[at..], &mut sink);
    }

    /// Hands over the last row, and says where the output ended.
    pub(super) fn finish(&mut self, mut sink: impl FnMut(Piece<'_>)) -> End {
        if self.offset > self.row_start {
            self.end_line(Ending::End, &mut sink);
            self.next_row(self.offset, true);
        }
        End {
            offset: self.offset,
            lines: self.lines_before,
        }
    }

    /// The text of a whole line that a terminal would show as it is.
    fn plain<'a>(&self, raw: &'a [u8]) -> Option<&'a str> {
        if self.offset != self.row_start || !self.begins_line {
            return None;
        }
        let mut body = raw;
        while let Some(before) = body.strip_suffix(b"\r") {
            body = before;
        }
        let printable = |byte: u8| (0x20..0x7f).contains(&byte);
        let all = |plain: fn(u8) -> bool| body.iter().fold(true, |all, byte| all & plain(*byte));
        let fits = match body.len() * BYTE_COLUMNS_MAX <= self.columns {
            true => all(|byte| (0x20..0x7f).contains(&byte) || byte == b'\t'),
            false => body.len() <= self.columns && body.iter().all(|byte| printable(*byte)),
        };
        fits.then(|| std::str::from_utf8(body).ok()).flatten()
    }

    fn feed(&mut self, bytes: &[u8], sink: &mut impl FnMut(Piece<'_>)) {
        let mut line = std::mem::replace(&mut self.line, Line::new(0));
        line.feed(bytes, self.offset, |text, at| self.wrap(text, at, sink));
        self.line = line;
        self.offset += bytes.len() as u64;
    }

    /// Ends the current line at the current offset, newline included.
    fn end_line(&mut self, ending: Ending, sink: &mut impl FnMut(Piece<'_>)) {
        let mut line = std::mem::replace(&mut self.line, Line::new(0));
        let text_end = self.offset - u64::from(ending == Ending::Newline);
        let text = line.end(text_end, |text, at| self.wrap(text, at, sink));
        sink(self.piece(text, self.offset, ending));
        self.line = line;
    }

    fn wrap(&mut self, text: &str, at: u64, sink: &mut impl FnMut(Piece<'_>)) {
        sink(self.piece(text, at, Ending::Wrap));
        self.next_row(at, false);
    }

    fn piece<'a>(&self, text: &'a str, end: u64, ending: Ending) -> Piece<'a> {
        Piece {
            text,
            start: self.row_start,
            end,
            ending,
            begins_line: self.begins_line,
            lines_before: self.lines_before,
        }
    }

    fn next_row(&mut self, start: u64, begins_line: bool) {
        self.lines_before += u64::from(self.begins_line);
        self.row_start = start;
        self.begins_line = begins_line;
    }
}
