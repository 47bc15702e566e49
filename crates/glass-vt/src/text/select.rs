//! Chooses the rows that are shown: all of them, or the head, the tail, and
//! what looks like an error in between.

use super::budget::{Budget, Cost, Notices, Shares};
use super::page::{NOTICE, Page, Renderer};
use super::row::Row;
use super::severity::looks_like_error;
use super::split::End;
use std::collections::VecDeque;

/// Rows after an error that are kept with it, where there is room.
const CONTEXT_ROWS: usize = 2;

/// Buffers of rows that were left out, kept for the next ones.
const SPARE_TEXTS_MAX: usize = 64;

/// The rows so far.
#[derive(Debug)]
pub(super) struct Selection {
    shares: Shares,
    offset: u64,
    /// Everything, until it is too much; then the beginning.
    head: Vec<Row>,
    head_cost: Cost,
    is_over: bool,
    /// Errors of the middle.
    pinned: Vec<Row>,
    pinned_cost: Cost,
    context_rows: usize,
    errors_left_out: u64,
    /// The end so far.
    tail: VecDeque<Row>,
    tail_cost: Cost,
    spare: Vec<String>,
}

impl Selection {
    /// Nothing selected yet of an output that begins at `offset`.
    pub(super) fn new(budget: &Budget, offset: u64) -> Selection {
        Selection {
            shares: budget.shares(NOTICE),
            offset,
            head: Vec::new(),
            head_cost: Cost::default(),
            is_over: false,
            pinned: Vec::new(),
            pinned_cost: Cost::default(),
            context_rows: 0,
            errors_left_out: 0,
            tail: VecDeque::new(),
            tail_cost: Cost::default(),
            spare: Vec::new(),
        }
    }

    /// Leaves room for a notice at the end: rows there may not be asked for.
    pub(super) fn expect_gaps(&mut self) {
        if self.shares.notices == Notices::Shown {
            self.shares.whole = self.shares.whole.minus(NOTICE);
            self.shares.tail = self.shares.tail.minus(NOTICE);
        }
    }

    /// An empty text, with room where there is one to spare.
    pub(super) fn spare_text(&mut self) -> String {
        self.spare.pop().unwrap_or_default()
    }

    /// Takes the next row.
    pub(super) fn take(&mut self, row: Row) {
        if self.is_over {
            self.append(row);
            return;
        }
        let cost = self.head_cost.plus(row.cost(NOTICE));
        if cost.fits(self.shares.whole) {
            self.head_cost = cost;
            self.head.push(row);
            return;
        }
        self.is_over = true;
        for row in self.rows_beyond_head() {
            self.append(row);
        }
        self.append(row);
    }

    /// The page of all rows; the output ends at `end`.
    pub(super) fn page(mut self, end: End) -> Page {
        if self.is_over {
            while !self.tail_fits(self.pinned_cost) {
                self.evict();
            }
        }
        let notices = self.shares.notices;
        let mut renderer = Renderer::new(self.offset, notices);
        let rows = self.head.iter().chain(&self.pinned).chain(&self.tail);
        rows.for_each(|row| renderer.row(row));
        renderer.finish(end, self.errors_left_out)
    }

    /// Cuts the head to its share.
    fn rows_beyond_head(&mut self) -> Vec<Row> {
        let mut cost = Cost::default();
        let fitting = self.head.iter().take_while(|row| {
            cost = cost.plus(row.cost(NOTICE));
            cost.fits(self.shares.head)
        });
        let kept = fitting.count();
        self.head.split_off(kept)
    }

    fn append(&mut self, row: Row) {
        self.tail_cost = self.tail_cost.plus(row.cost(NOTICE));
        self.tail.push_back(row);
        while !self.tail_fits(Cost::default()) {
            self.evict();
        }
    }

    /// Whether the tail fits beside `others`. The notice before it is paid for,
    /// but not the line that begins where it begins in the middle of one.
    fn tail_fits(&self, others: Cost) -> bool {
        let Some(first) = self.tail.front() else {
            return true;
        };
        let broken = Cost {
            lines: usize::from(!first.begins_line),
            chars: 0,
        };
        self.tail_cost
            .plus(others)
            .plus(broken)
            .fits(self.shares.tail)
    }

    /// Takes the oldest row out of the tail and keeps it if it is an error, or
    /// stands right after one.
    fn evict(&mut self) {
        let Some(row) = self.tail.pop_front() else {
            return;
        };
        self.tail_cost = self.tail_cost.minus(row.cost(NOTICE));
        if self.shares.notices == Notices::Hidden || self.shares.errors == Cost::default() {
            self.recycle(row);
            return;
        }
        let follows = self.pinned.last().map(Row::extent_end) == Some(row.start);
        let mut cost = self.pinned_cost.plus(row.cost(NOTICE));
        if !follows && !row.after_gap {
            cost = cost.plus(row.gap_cost(NOTICE));
        }
        let half = Cost {
            lines: self.shares.errors.lines / 2,
            chars: self.shares.errors.chars / 2,
        };
        if looks_like_error(&row.text) {
            self.context_rows = CONTEXT_ROWS;
            if cost.fits(self.shares.errors) {
                self.pinned_cost = cost;
                self.pinned.push(row);
                return;
            }
            self.errors_left_out += 1;
        } else if self.context_rows > 0 && follows && cost.fits(half) {
            self.context_rows -= 1;
            self.pinned_cost = cost;
            self.pinned.push(row);
            return;
        } else {
            self.context_rows = 0;
        }
        self.recycle(row);
    }

    fn recycle(&mut self, row: Row) {
        if self.spare.len() < SPARE_TEXTS_MAX {
            let mut text = row.text;
            text.clear();
            self.spare.push(text);
        }
    }
}
