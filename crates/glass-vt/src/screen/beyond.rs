//! What a terminal has beyond what the engine tells of itself, so that it can be
//! drawn.

use super::ScreenSize;
use super::dump::shift;
use super::style::put;
use alacritty_terminal::vte::ansi::{CharsetIndex, TabulationClearMode};
use std::ops::Range;

/// Columns between two tab stops that nobody has set.
const TAB_COLUMNS: usize = 8;

/// One of the two screens of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Normal,
    Alternate,
}

/// The rest of a terminal's state.
#[derive(Debug)]
pub(super) struct Beyond {
    size: ScreenSize,
    /// Whether there is a tab stop, for every column.
    tabs: Vec<bool>,
    /// The rows that scroll (DECSTBM).
    scrolled: Range<usize>,
    /// The character set that is written in, now and where the cursor was saved.
    charset: CharsetIndex,
    saved_charsets: [CharsetIndex; 2],
    /// Whether dark and light are exchanged (DECSCNM).
    pub(super) is_reverse: bool,
}

impl Beyond {
    pub(super) fn new(size: ScreenSize) -> Beyond {
        Beyond {
            size,
            tabs: default_tabs(usize::from(size.columns)),
            scrolled: 0..usize::from(size.rows),
            charset: CharsetIndex::default(),
            saved_charsets: Default::default(),
            is_reverse: false,
        }
    }

    /// Everything as in a fresh terminal.
    pub(super) fn reset(&mut self) {
        *self = Beyond::new(self.size);
    }

    /// Another size. Tab stops that are there stay, and every row scrolls.
    pub(super) fn resize(&mut self, size: ScreenSize) {
        let tabs = default_tabs(usize::from(size.columns));
        let known = self.tabs.len().min(tabs.len());
        self.tabs.truncate(known);
        self.tabs.extend(&tabs[known..]);
        self.scrolled = 0..usize::from(size.rows);
        self.size = size;
    }

    /// The rows that scroll, from 1 on; whether there is such a region.
    pub(super) fn scroll(&mut self, first: usize, last: Option<usize>) -> bool {
        let rows = usize::from(self.size.rows);
        let last = last.unwrap_or(rows).min(rows);
        let is_region = first < last;
        if is_region {
            self.scrolled = first.saturating_sub(1)..last;
        }
        is_region
    }

    pub(super) fn scrolled(&self) -> Range<usize> {
        self.scrolled.clone()
    }

    /// How many of these rows the cursor goes up from a row: not beyond the
    /// rows that scroll, if it is not above them.
    pub(super) fn rows_up(&self, row: usize, wanted: usize) -> usize {
        let room = row.checked_sub(self.scrolled.start);
        room.map_or(wanted, |room| wanted.min(room))
    }

    /// The same for down.
    pub(super) fn rows_down(&self, row: usize, wanted: usize) -> usize {
        let room = self.scrolled.end.checked_sub(row + 1);
        room.map_or(wanted, |room| wanted.min(room))
    }

    pub(super) fn set_tab(&mut self, column: usize) {
        if let Some(stop) = self.tabs.get_mut(column) {
            *stop = true;
        }
    }

    pub(super) fn clear_tabs(&mut self, which: &TabulationClearMode, column: usize) {
        match which {
            TabulationClearMode::All => self.tabs.fill(false),
            TabulationClearMode::Current => {
                if let Some(stop) = self.tabs.get_mut(column) {
                    *stop = false;
                }
            }
        }
    }

    pub(super) fn use_charset(&mut self, index: CharsetIndex) {
        self.charset = index;
    }

    /// The cursor of this screen was saved.
    pub(super) fn save(&mut self, shown: Shown) {
        self.saved_charsets[shown as usize] = self.charset;
    }

    /// The set that was written in where the cursor of this screen was saved.
    pub(super) fn saved_charset(&self, shown: Shown) -> CharsetIndex {
        self.saved_charsets[shown as usize]
    }

    /// Appends what sets the tab stops, where they are not those of a fresh
    /// terminal. The cursor is at home before and after.
    pub(super) fn draw_tabs(&self, out: &mut Vec<u8>) {
        if self.tabs == default_tabs(self.tabs.len()) {
            return;
        }
        out.extend_from_slice(b"\x1b[3g");
        let stops = self.tabs.iter().enumerate().filter(|(_, stop)| **stop);
        for (column, _) in stops {
            put(out, format_args!("\x1b[1;{}H\x1bH", column + 1));
        }
        out.extend_from_slice(b"\x1b[H");
    }

    /// Appends what makes later text come in the right set.
    pub(super) fn draw_shift(&self, out: &mut Vec<u8>) {
        shift(self.charset, out);
    }

    /// Appends that, and what makes the whole screen light.
    pub(super) fn draw_rest(&self, out: &mut Vec<u8>) {
        self.draw_shift(out);
        if self.is_reverse {
            out.extend_from_slice(b"\x1b[?5h");
        }
    }
}

fn default_tabs(columns: usize) -> Vec<bool> {
    (0..columns)
        .map(|column| column % TAB_COLUMNS == 0)
        .collect()
}
