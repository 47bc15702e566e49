//! Where the cells of a prompt and a line are in a terminal of some width.
//!
//! Everything is printed as one text that the terminal wraps by itself, so that it
//! can be copied, and reflowed where the terminal does that.

use super::width::{cell_width, name};
use unicode_width::UnicodeWidthStr as _;

/// Between two tab stops.
const TAB_COLUMNS: usize = 8;

/// Why a row ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The terminal wraps.
    Wrap,
    /// The line has a line end there.
    Break,
}

/// A row, and why it ended.
#[derive(Debug, Default)]
struct Row {
    text: String,
    end: Option<End>,
}

/// Row and column, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) row: usize,
    pub(super) column: usize,
}

/// A prompt and a line in rows.
#[derive(Debug)]
pub(super) struct Layout {
    columns: usize,
    rows: Vec<Row>,
    column: usize,
    cursor: Place,
}

impl Layout {
    /// Lays out a prompt and a text with a cursor. Before and behind the text come
    /// sequences that take no room.
    pub(super) fn of(
        prompt: &str,
        style: (&str, &str),
        text: &str,
        cursor: usize,
        columns: usize,
    ) -> Layout {
        let mut layout = Layout {
            columns: columns.max(2),
            rows: vec![Row::default()],
            column: 0,
            cursor: Place::default(),
        };
        layout.put_prompt(prompt);
        layout.last().push_str(style.0);
        for (at, c) in text.char_indices() {
            if at == cursor {
                layout.cursor = layout.place_of(c);
            }
            layout.put_char(c);
        }
        layout.last().push_str(style.1);
        if cursor >= text.len() {
            layout.cursor = layout.place_of(' ');
        }
        layout
    }

    fn last(&mut self) -> &mut String {
        let last = self.rows.len() - 1;
        &mut self.rows[last].text
    }

    /// Sequences of a prompt take no room.
    fn put_prompt(&mut self, prompt: &str) {
        let mut rest = prompt;
        while let Some(c) = rest.chars().next() {
            if rest.starts_with("\x1b[")
                && let Some(end) = rest.find('m')
            {
                let (sequence, behind) = rest.split_at(end + 1);
                self.last().push_str(sequence);
                rest = behind;
                continue;
            }
            self.put_char(c);
            rest = &rest[c.len_utf8()..];
        }
    }

    fn put_char(&mut self, c: char) {
        if c == '\n' {
            return self.end_row(End::Break);
        }
        if c == '\t' {
            if self.column >= self.columns {
                self.end_row(End::Wrap);
            }
            let stop = (self.column / TAB_COLUMNS + 1) * TAB_COLUMNS;
            for _ in self.column..stop.min(self.columns) {
                self.put(" ", 1);
            }
            return;
        }
        match name(c) {
            Some(name) => name
                .chars()
                .for_each(|c| self.put(c.encode_utf8(&mut [0; 4]), 1)),
            None => self.put(c.encode_utf8(&mut [0; 4]), cell_width(c)),
        }
    }

    fn put(&mut self, piece: &str, width: usize) {
        if self.column + width > self.columns {
            self.end_row(End::Wrap);
        }
        self.last().push_str(piece);
        self.column += width;
    }

    fn end_row(&mut self, end: End) {
        let last = self.rows.len() - 1;
        self.rows[last].end = Some(end);
        self.rows.push(Row::default());
        self.column = 0;
    }

    /// Where this character would come.
    fn place_of(&self, c: char) -> Place {
        let row = self.rows.len() - 1;
        let width = match (c, name(c)) {
            ('\n', _) => 0,
            ('\t', _) => 1,
            (_, Some(name)) => name.width().min(1),
            (_, None) => cell_width(c),
        };
        if self.column + width > self.columns {
            return Place {
                row: row + 1,
                column: 0,
            };
        }
        // A line end behind a full row is shown on its last cell.
        let column = self.column.min(self.columns - 1);
        Place { row, column }
    }

    /// Where the cursor is.
    pub(super) fn cursor(&self) -> Place {
        self.cursor
    }

    /// Whether the text fills its last row, so that the cursor behind it is on
    /// one more.
    pub(super) fn is_full(&self) -> bool {
        self.column >= self.columns
    }

    /// Rows that it takes.
    pub(super) fn height(&self) -> usize {
        self.rows.len() + usize::from(self.is_full())
    }

    /// Prints the rows of a window, with the terminal's cursor at its beginning,
    /// and leaves that in the row that is returned.
    pub(super) fn print(&self, window: std::ops::Range<usize>, out: &mut Vec<u8>) -> usize {
        let end = window.end.min(self.rows.len());
        for (at, row) in self.rows.iter().enumerate().take(end).skip(window.start) {
            out.extend_from_slice(row.text.as_bytes());
            if at + 1 < end && row.end == Some(End::Break) {
                out.extend_from_slice(b"\r\n");
            }
        }
        if window.end > self.rows.len() {
            // The row behind a full one does not exist until something is there.
            out.extend_from_slice(b"\r\n");
            return self.rows.len();
        }
        end.saturating_sub(1)
    }
}
