//! Text that a model reads: what a terminal would show of each line, repeats
//! folded, and when that is still too much, the head, the tail and the lines
//! between them that look like errors.
//!
//! Invariants: the text is never longer than its [`Budget`]; whatever is left
//! out is named by the exact range of raw bytes that held it ([`Elision`]), so
//! that text and elisions together account for every byte; and a text that
//! fits is not changed by going through here again.

mod budget;
mod fold;
mod line;
mod page;
mod row;
mod select;
mod severity;
mod since;
mod split;
#[cfg(test)]
mod tests;

pub use budget::{Budget, Progress};
pub use page::{Elision, Page, Reason};
pub use severity::looks_like_error;
pub use since::{ROWS_MAX, Since, compress_since};

use fold::Fold;
pub(crate) use line::incomplete_suffix;
use row::Piece;
use select::Selection;
use split::Split;

/// Which rows are wanted at all.
pub type Matcher = Box<dyn Fn(&str) -> bool + Send>;

/// Reads output in pieces of any size and makes one [`Page`] of it.
///
/// It holds about the budget's characters, whatever the output's length.
pub struct Compressor {
    split: Split,
    stages: Stages,
}

/// What a row goes through.
struct Stages {
    matcher: Option<Matcher>,
    fold: Fold,
    selection: Selection,
}

impl Compressor {
    /// A compressor whose first byte stands at `offset` of the raw output:
    /// elisions are counted from the same beginning.
    pub fn new(budget: &Budget, offset: u64) -> Compressor {
        Compressor {
            split: Split::within(budget, offset),
            stages: Stages {
                matcher: None,
                fold: Fold::new(offset),
                selection: Selection::new(budget, offset),
            },
        }
    }

    /// Keeps only rows that `matcher` takes; the others are elided.
    pub fn matching(mut self, matcher: Matcher) -> Compressor {
        self.stages.matcher = Some(matcher);
        self.stages.selection.expect_gaps();
        self
    }

    /// Reads the next piece.
    pub fn push(&mut self, bytes: &[u8]) {
        let stages = &mut self.stages;
        self.split.push(bytes, |piece| stages.take(piece));
    }

    /// Reads text that stands for so many bytes of the raw output, such as the
    /// name of a secret. It is part of a line.
    pub fn push_for(&mut self, text: &[u8], raw_bytes: u64) {
        let stages = &mut self.stages;
        self.split
            .push_for(text, raw_bytes, |piece| stages.take(piece));
    }

    /// The page of everything that was read.
    pub fn finish(mut self) -> Page {
        let stages = &mut self.stages;
        let end = self.split.finish(|piece| stages.take(piece));
        let Stages {
            mut fold,
            mut selection,
            ..
        } = self.stages;
        fold.flush(&mut selection);
        selection.page(end)
    }
}

impl Stages {
    fn take(&mut self, piece: Piece<'_>) {
        if let Some(matcher) = &self.matcher
            && !matcher(piece.text)
        {
            return;
        }
        self.fold.take(piece, &mut self.selection);
    }
}

/// The page of output that is there as a whole.
pub fn compress(bytes: &[u8], budget: &Budget) -> Page {
    let mut compressor = Compressor::new(budget, 0);
    compressor.push(bytes);
    compressor.finish()
}

/// What a terminal would show of each line, all of it and without folding.
pub fn clean(bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut split = Split::new(budget::ROW_COLUMNS_MAX, 0);
    let mut append = |piece: Piece<'_>| {
        text.push_str(piece.text);
        if piece.ending == row::Ending::Newline {
            text.push('\n');
        }
    };
    split.push(bytes, &mut append);
    split.finish(&mut append);
    text
}
