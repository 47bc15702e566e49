//! Cuts output into rows.

use super::line::{self, Line};
use super::row::{Ending, Piece};
use super::{Budget, Progress};

/// Columns that a tab can take. Every other byte takes one at most: wide
/// characters have more bytes than columns.
const TAB_COLUMNS_MAX: usize = 8;

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
    scratch: String,
    /// The offset of the next byte.
    offset: u64,
    /// Where the current row begins.
    row_start: u64,
    /// Whether a line begins with the current row.
    begins_line: bool,
    /// Lines that begin before the current row.
    lines_before: u64,
    progress: Progress,
    /// The last byte was a carriage return that may end a line.
    after_return: bool,
}

impl Split {
    pub(super) fn new(columns: usize, offset: u64) -> Split {
        Split {
            columns,
            line: Line::new(columns),
            scratch: String::new(),
            offset,
            row_start: offset,
            begins_line: true,
            lines_before: 0,
            progress: Progress::Compressed,
            after_return: false,
        }
    }

    /// Rows under a budget.
    pub(super) fn within(budget: &Budget, offset: u64) -> Split {
        let progress = budget.progress;
        Split {
            progress,
            ..Split::new(budget.row_columns(), offset)
        }
    }

    /// Reads the next piece and hands over every row that ends in it.
    pub(super) fn push(&mut self, bytes: &[u8], mut sink: impl FnMut(Piece<'_>)) {
        if self.progress == Progress::Compressed {
            return self.push_lines(bytes, &mut sink);
        }
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if !matches!(first, b'\r' | b'\n') {
                self.end_returned(&mut sink);
            }
            let found = memchr::memchr(b'\r', rest);
            let end = found.map_or(rest.len(), |at| at + 1);
            self.push_lines(&rest[..end], &mut sink);
            self.after_return = found.is_some();
            rest = &rest[end..];
        }
    }

    /// Ends a line that a carriage return has ended.
    fn end_returned(&mut self, sink: &mut impl FnMut(Piece<'_>)) {
        if std::mem::take(&mut self.after_return) {
            self.end_line(Ending::Newline, sink);
            self.next_row(self.offset, true);
        }
    }

    fn push_lines(&mut self, bytes: &[u8], mut sink: impl FnMut(Piece<'_>)) {
        let mut at = 0;
        for newline in memchr::memchr_iter(b'\n', bytes) {
            let raw = &bytes[at..newline];
            if !self.simple(raw, &mut sink) {
                self.feed(raw, &mut sink);
                self.offset += 1;
                self.end_line(Ending::Newline, &mut sink);
            }
            self.next_row(self.offset, true);
            at = newline + 1;
        }
        self.feed(&bytes[at..], &mut sink);
    }

    /// Reads text that stands for so many raw bytes, within a line: the name of
    /// what was taken out.
    pub(super) fn push_for(
        &mut self,
        text: &[u8],
        raw_bytes: u64,
        mut sink: impl FnMut(Piece<'_>),
    ) {
        self.end_returned(&mut sink);
        let end = self.offset + raw_bytes;
        let mut line = std::mem::replace(&mut self.line, Line::new(0));
        line.feed(text, self.offset, |text, at| {
            // A row that ends within the name ends somewhere in what it stands for.
            let at = at.min(end).max(self.row_start);
            self.wrap(text, at, &mut sink);
        });
        self.line = line;
        self.offset = end;
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

    /// Hands over a whole line whose text is easily told; says whether it was.
    fn simple(&mut self, raw: &[u8], sink: &mut impl FnMut(Piece<'_>)) -> bool {
        if self.offset != self.row_start || !self.begins_line || raw.len() > self.columns {
            return false;
        }
        let mut body = raw;
        while let Some(before) = body.strip_suffix(b"\r") {
            body = before;
        }
        let end = self.offset + raw.len() as u64 + 1;
        let has_tabs = || memchr::memchr(b'\t', body).is_some();
        if body.len() * TAB_COLUMNS_MAX > self.columns && has_tabs() {
            return false;
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let plain = match is_plain(body) {
            true => std::str::from_utf8(body).ok(),
            false => line::append(body, &mut scratch).then_some(scratch.as_str()),
        };
        if let Some(text) = plain {
            sink(self.piece(text, end, Ending::Newline));
            self.offset = end;
        }
        let done = plain.is_some();
        self.scratch = scratch;
        done
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

/// Whether a terminal would show these bytes as they are.
fn is_plain(bytes: &[u8]) -> bool {
    let plain = |byte: &u8| (0x20..0x7f).contains(byte) || *byte == b'\t';
    bytes.iter().fold(true, |all, byte| all & plain(byte))
}
