//! The cells of one line.

use super::sequence::Edit;
use unicode_width::UnicodeWidthChar as _;

/// Combining characters that one row keeps. More are left out, so that a row
/// stays bounded.
const COMBINING_MAX: usize = 256;

/// Columns between two tab stops.
const TAB_COLUMNS: usize = 8;

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    /// Never written, or erased.
    Blank,
    /// A character that begins here.
    Character(char),
    /// The second column of a wide character.
    WideTail,
    /// A tab that begins here, over columns that nothing was written to.
    Tab,
    /// The other columns of a tab.
    TabTail,
}

/// A row of cells and a cursor.
#[derive(Debug)]
pub(super) struct Cells {
    columns: usize,
    cells: Vec<Cell>,
    /// The column of the next character; `columns` after the last one.
    cursor: usize,
    /// Combining characters: the column that each belongs to, in the order in
    /// which they came.
    combining: Vec<(usize, char)>,
    /// Something was written over.
    rewritten: bool,
    /// Something takes more than one column, or more than one character.
    shaped: bool,
}

impl Cells {
    pub(super) fn new(columns: usize) -> Cells {
        Cells {
            columns,
            cells: Vec::new(),
            cursor: 0,
            combining: Vec::new(),
            rewritten: false,
            shaped: false,
        }
    }

    /// Whether a character of this width fits into the row.
    pub(super) fn has_room(&self, width: usize) -> bool {
        self.cursor + width <= self.columns
    }

    /// Writes what can be written at once; gives how many characters that was.
    /// None, where something there would have to be taken apart.
    pub(super) fn write_ascii(&mut self, text: &[u8]) -> usize {
        if self.shaped {
            return 0;
        }
        self.fill_to_cursor();
        let taken = text.len().min(self.columns - self.cursor);
        let over = taken.min(self.cells.len() - self.cursor);
        let (over, beyond) = text[..taken].split_at(over);
        let cells = self.cells[self.cursor..].iter_mut();
        for (cell, byte) in cells.zip(over) {
            *cell = Cell::Character(char::from(*byte));
        }
        self.rewritten |= !over.is_empty();
        let beyond = beyond.iter().map(|byte| char::from(*byte));
        self.cells.extend(beyond.map(Cell::Character));
        self.cursor += taken;
        taken
    }

    /// Writes a character that has room at the cursor.
    pub(super) fn print(&mut self, character: char, width: usize) {
        self.shaped |= width != 1;
        if width == 0 {
            self.combine(character);
            return;
        }
        self.fill_to_cursor();
        for column in self.cursor..self.cursor + width {
            if column < self.cells.len() {
                self.rewritten = true;
                self.blank(column);
            } else {
                self.cells.push(Cell::Blank);
            }
        }
        self.cells[self.cursor] = Cell::Character(character);
        for tail in &mut self.cells[self.cursor + 1..self.cursor + width] {
            *tail = Cell::WideTail;
        }
        self.cursor += width;
    }

    /// Whether nothing stands at or after the cursor.
    pub(super) fn is_at_end(&self) -> bool {
        self.cursor == self.cells.len()
    }

    /// Moves to the next tab stop. Over columns that nothing was written to, a
    /// tab is remembered as such; it needs room for one column.
    pub(super) fn tab(&mut self) {
        let stop = (self.cursor / TAB_COLUMNS + 1) * TAB_COLUMNS;
        if self.is_at_end() {
            self.shaped = true;
            self.cells.push(Cell::Tab);
            self.cursor = stop.min(self.columns);
            self.cells.resize(self.cursor, Cell::TabTail);
        } else {
            self.cursor = stop.min(self.columns - 1).max(self.cursor);
        }
    }

    pub(super) fn edit(&mut self, edit: Edit) {
        let last = self.columns - 1;
        // After the last column the cursor is still on it, for all but the
        // next character.
        let cursor = self.cursor.min(last);
        let length = self.cells.len();
        match edit {
            Edit::To(column) => self.cursor = column.min(last),
            Edit::Left(count) => self.cursor = cursor.saturating_sub(count),
            Edit::Right(count) => self.cursor = (cursor + count).min(last),
            Edit::EraseRight => self.erase(cursor, length),
            Edit::EraseLeft => self.erase(0, length.min(cursor + 1)),
            Edit::EraseAll => self.erase(0, length),
            Edit::Erase(count) => self.erase(cursor, length.min(cursor + count)),
            Edit::Delete(count) if cursor < length => {
                let end = length.min(cursor + count);
                self.before_moving();
                self.cells.drain(cursor..end);
                self.combining.retain(|(at, _)| !(cursor..end).contains(at));
                let moved = self.combining.iter_mut().filter(|(at, _)| *at >= end);
                moved.for_each(|(at, _)| *at -= end - cursor);
                self.mend();
            }
            Edit::Insert(count) if cursor < length => {
                let count = count.min(self.columns - cursor);
                self.before_moving();
                let blanks = std::iter::repeat_n(Cell::Blank, count);
                self.cells.splice(cursor..cursor, blanks);
                self.cells.truncate(self.columns);
                let moved = self.combining.iter_mut().filter(|(at, _)| *at >= cursor);
                moved.for_each(|(at, _)| *at += count);
                self.mend();
            }
            Edit::Delete(_) | Edit::Insert(_) => {}
        }
    }

    /// Moves the text of a row that goes on in another one into `out`, with
    /// all its blanks: read again, it breaks at the same place.
    pub(super) fn take_full(&mut self, out: &mut String) {
        self.fill_to_cursor();
        self.take(self.cells.len(), out);
    }

    /// Moves the text of the last row of a line that has others into `out`. One
    /// that was rewritten keeps two columns at least, so that the line is longer
    /// than a row when it is read again, too.
    pub(super) fn take_last(&mut self, out: &mut String) {
        if self.rewritten {
            let length = self.cells.len().max(2);
            self.cells.resize(length, Cell::Blank);
        }
        self.take(self.cells.len(), out);
    }

    /// Moves the text of a line's only row into `out`, without the blanks at
    /// its end that something was erased or overwritten with.
    pub(super) fn take_trimmed(&mut self, out: &mut String) {
        let rewritten = self.rewritten;
        let shown = self.cells.iter().rposition(|cell| *cell != Cell::Blank);
        self.take(shown.map_or(0, |last| last + 1), out);
        if rewritten {
            out.truncate(out.trim_end_matches([' ', '\t']).len());
        }
    }

    fn take(&mut self, shown: usize, out: &mut String) {
        out.clear();
        for (column, cell) in self.cells[..shown].iter().enumerate() {
            match cell {
                Cell::Blank => out.push(' '),
                Cell::Character(character) => out.push(*character),
                Cell::Tab => out.push('\t'),
                Cell::WideTail | Cell::TabTail => {}
            }
            if !self.combining.is_empty() {
                let own = self.combining.iter().filter(|(at, _)| *at == column);
                out.extend(own.map(|(_, character)| *character));
            }
        }
        self.cells.clear();
        self.combining.clear();
        self.cursor = 0;
        self.rewritten = false;
        self.shaped = false;
    }

    fn combine(&mut self, character: char) {
        let Some(mut column) = self.cursor.checked_sub(1) else {
            return;
        };
        if self.cells.get(column) == Some(&Cell::WideTail) {
            column -= 1;
        }
        let is_character = matches!(self.cells.get(column), Some(Cell::Character(_)));
        if is_character && self.combining.len() < COMBINING_MAX {
            self.combining.push((column, character));
        }
    }

    fn fill_to_cursor(&mut self) {
        if self.cursor > self.cells.len() {
            self.cells.resize(self.cursor, Cell::Blank);
        }
    }

    fn erase(&mut self, from: usize, to: usize) {
        for column in from..to {
            self.rewritten = true;
            self.blank(column);
        }
    }

    /// Blanks a column, and with it the whole of whatever covers it.
    fn blank(&mut self, column: usize) {
        let is_tail = |cell: Cell| matches!(cell, Cell::WideTail | Cell::TabTail);
        let mut start = column;
        while start > 0 && is_tail(self.cells[start]) {
            start -= 1;
        }
        self.cells[start] = Cell::Blank;
        let mut end = start + 1;
        while end < self.cells.len() && is_tail(self.cells[end]) {
            self.cells[end] = Cell::Blank;
            end += 1;
        }
        if !self.combining.is_empty() {
            self.combining.retain(|(at, _)| *at != start);
        }
    }

    /// Before cells move, tabs become the blanks that they show.
    fn before_moving(&mut self) {
        self.rewritten = true;
        for cell in &mut self.cells {
            if matches!(cell, Cell::Tab | Cell::TabTail) {
                *cell = Cell::Blank;
            }
        }
    }

    /// After cells moved, halves of wide characters become blanks.
    fn mend(&mut self) {
        for column in 0..self.cells.len() {
            let is_wide = matches!(self.cells[column], Cell::Character(c) if c.width() == Some(2));
            let has_tail = self.cells.get(column + 1) == Some(&Cell::WideTail);
            let had_head = column > 0
                && matches!(self.cells[column - 1], Cell::Character(c) if c.width() == Some(2));
            let is_tail = self.cells[column] == Cell::WideTail;
            if (is_wide && !has_tail) || (is_tail && !had_head) {
                self.cells[column] = Cell::Blank;
            }
        }
        let cells = &self.cells;
        self.combining
            .retain(|(at, _)| matches!(cells.get(*at), Some(Cell::Character(_))));
    }
}
