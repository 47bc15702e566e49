//! A grid in little memory, for a terminal that nobody writes to.
//!
//! Most cells of a screen are blank, and most others look like the one before
//! them. Invariant: what is unpacked is what was packed, cell for cell, with its
//! cursors.

use alacritty_terminal::grid::{Cursor, Dimensions as _, Grid};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::Cell;

/// A grid that takes less memory by this factor at least is worth packing.
const GAIN_MIN: usize = 2;

/// A packed grid.
pub(super) struct Packed {
    /// The characters of all rows from the oldest on, each without the blank
    /// cells at its end.
    text: String,
    /// How many cells each row has there.
    lengths: Vec<u16>,
    /// How the cells look: for so many of them, like this one.
    looks: Vec<(u32, Cell)>,
    columns: usize,
    rows: usize,
    cursor: Cursor<Cell>,
    saved_cursor: Cursor<Cell>,
}

impl Packed {
    /// Packs a grid, and leaves one of a single row in its place; none, and the
    /// grid as it is, where that would gain little.
    pub(super) fn take(grid: &mut Grid<Cell>) -> Option<Packed> {
        let lines = lines(grid).map(|line| &grid[line][..]);
        let lengths: Vec<u16> = lines.clone().map(filled).collect();
        let mut packed = Packed {
            text: String::new(),
            lengths,
            looks: Vec::new(),
            columns: grid.columns(),
            rows: grid.screen_lines(),
            cursor: grid.cursor.clone(),
            saved_cursor: grid.saved_cursor.clone(),
        };
        let bytes_max = size_of::<Cell>() * grid.total_lines() * grid.columns() / GAIN_MIN;
        for (cells, length) in lines.zip(packed.lengths.clone()) {
            for cell in &cells[..usize::from(length)] {
                packed.push(cell);
            }
            if packed.bytes() > bytes_max {
                return None;
            }
        }
        packed.text.shrink_to_fit();
        packed.looks.shrink_to_fit();
        *grid = Grid::new(1, packed.columns, 0);
        Some(packed)
    }

    /// The grid, which keeps so many lines that have left the screen.
    pub(super) fn unpack(self, history_max: usize) -> Grid<Cell> {
        let mut grid = Grid::new(self.rows, self.columns, history_max);
        let screen = Line(0)..Line(i32::try_from(self.rows).unwrap_or(i32::MAX));
        let mut history = self.lengths.len().saturating_sub(self.rows);
        while history > 0 {
            let step = history.min(self.rows);
            grid.scroll_up(&screen, step);
            history -= step;
        }
        let looks = self.looks.into_iter();
        let mut looks = looks.flat_map(|(count, look)| (0..count).map(move |_| look.clone()));
        let mut text = self.text.chars();
        for (line, length) in lines(&grid).zip(self.lengths) {
            let row = &mut grid[line];
            let cells = (&mut looks).zip(&mut text).take(usize::from(length));
            for (column, (look, c)) in cells.enumerate() {
                row[Column(column)] = Cell { c, ..look };
            }
        }
        grid.cursor = self.cursor;
        grid.saved_cursor = self.saved_cursor;
        grid
    }

    fn push(&mut self, cell: &Cell) {
        self.text.push(cell.c);
        match self.looks.last_mut() {
            Some((count, look)) if is_alike(look, cell) => *count += 1,
            _ => self.looks.push((1, cell.clone())),
        }
    }

    fn bytes(&self) -> usize {
        self.text.len() + self.looks.len() * size_of::<(u32, Cell)>()
    }
}

/// All lines of a grid, from the oldest on.
fn lines(grid: &Grid<Cell>) -> impl Iterator<Item = Line> + Clone + use<> {
    (grid.topmost_line().0..=grid.bottommost_line().0).map(Line)
}

/// How many cells of a row come before those that are as in a fresh one.
fn filled(cells: &[Cell]) -> u16 {
    let blank = Cell::default();
    let last = cells.iter().rposition(|cell| *cell != blank);
    u16::try_from(last.map_or(0, |last| last + 1)).expect("no screen has more columns")
}

fn is_alike(one: &Cell, other: &Cell) -> bool {
    (one.fg, one.bg, one.flags) == (other.fg, other.bg, other.flags) && one.extra == other.extra
}

#[cfg(test)]
mod tests {
    use super::Packed;
    use alacritty_terminal::event::VoidListener;
    use alacritty_terminal::grid::{Dimensions as _, Grid};
    use alacritty_terminal::term::cell::Cell;
    use alacritty_terminal::term::{Config, Term};
    use alacritty_terminal::vte::ansi::{Processor, StdSyncHandler};

    const HISTORY: usize = 20;

    /// The grid after a stream, as it is and packed.
    fn packed(stream: &str) -> (Grid<Cell>, Option<Packed>) {
        let size = crate::screen::ScreenSize {
            columns: 12,
            rows: 5,
        };
        let config = Config {
            scrolling_history: HISTORY,
            ..Config::default()
        };
        let mut term = Term::new(config, &size, VoidListener);
        Processor::<StdSyncHandler>::new().advance(&mut term, stream.as_bytes());
        term.grid_mut().truncate();
        let before = term.grid().clone();
        (before, Packed::take(term.grid_mut()))
    }

    #[test]
    fn a_grid_comes_back_cell_for_cell() {
        for stream in [
            "",
            "one\ttwo\r\nthree",
            "\x1b[31mred\x1b[0m plain \x1b[44m\x1b[K",
            "\x1b[41m\x1b[2J\x1b[0mx",
            "123456789012wrapped",
            "日本e\u{301}\u{302}",
            "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
            "\x1b[2;3H\x1b7\x1b[1;1H\x1b[1mx",
            "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8",
            &"line\r\n".repeat(100),
        ] {
            let (before, packed) = packed(stream);
            let mut after = packed.expect(stream).unpack(HISTORY);
            after.truncate();
            assert_eq!(before, after, "{stream:?}");
            assert_eq!(before.cursor, after.cursor, "{stream:?}");
            assert_eq!(before.saved_cursor, after.saved_cursor, "{stream:?}");
        }
    }

    #[test]
    fn what_would_gain_little_stays() {
        let cell = |n: usize| format!("\x1b[38;5;{}mx", n % 256);
        let motley: String = (0..1_000).map(cell).collect();
        let (before, packed) = packed(&motley);
        assert!(packed.is_none());
        assert_eq!(before.total_lines(), 5 + HISTORY);
    }
}
