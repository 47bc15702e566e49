//! Folds equal lines that follow each other.

use super::page::{NOTICE_CHARS_MAX, is_notice};
use super::row::{Ending, Piece, Repeats, Row};
use super::select::Selection;

/// The last row and its copies so far.
#[derive(Debug)]
pub(super) struct Fold {
    row: Option<Row>,
    /// Raw ranges of the copies, while it may be shorter to show them.
    copies: Vec<(u64, u64)>,
    count: u64,
    /// The raw byte after the last row taken.
    end: u64,
}

impl Fold {
    /// Nothing taken yet of an output that begins at `offset`.
    pub(super) fn new(offset: u64) -> Fold {
        Fold {
            row: None,
            copies: Vec::new(),
            count: 0,
            end: offset,
        }
    }

    /// Takes the next row.
    pub(super) fn take(&mut self, piece: Piece<'_>, selection: &mut Selection) {
        if let Some(row) = &self.row
            && self.repeats(row, piece)
        {
            self.count += 1;
            self.end = piece.end;
            if !is_worth_it(row.chars, self.count) {
                self.copies.push((piece.start, piece.end));
            }
            return;
        }
        self.flush(selection);
        let mut text = selection.spare_text();
        text.push_str(piece.text);
        self.row = Some(Row {
            chars: text.chars().count(),
            text,
            start: piece.start,
            end: piece.end,
            ending: piece.ending,
            begins_line: piece.begins_line,
            lines_before: piece.lines_before,
            repeats: None,
            after_gap: piece.start != self.end,
        });
        self.end = piece.end;
    }

    /// Hands on what is held.
    pub(super) fn flush(&mut self, selection: &mut Selection) {
        let Some(mut row) = self.row.take() else {
            return;
        };
        if self.count == 0 {
            selection.take(row);
            return;
        }
        if is_worth_it(row.chars, self.count) {
            row.repeats = Some(Repeats {
                count: self.count,
                end: self.end,
            });
            selection.take(row);
        } else {
            let first = row.clone();
            selection.take(row);
            for (number, (start, end)) in (1..).zip(self.copies.iter().copied()) {
                selection.take(Row {
                    start,
                    end,
                    lines_before: first.lines_before + number,
                    after_gap: false,
                    ..first.clone()
                });
            }
        }
        self.count = 0;
        self.copies.clear();
    }

    /// Whether `piece` is the same whole line once more. Rows of longer lines
    /// are not compared, nor are notices: both would be folded differently
    /// when the text is read again.
    fn repeats(&self, row: &Row, piece: Piece<'_>) -> bool {
        piece.text == row.text
            && piece.start == self.end
            && row.begins_line
            && row.ending == Ending::Newline
            && piece.begins_line
            && piece.ending == Ending::Newline
            && !is_notice(piece.text)
    }
}

/// Whether a notice is shorter than so many copies, however long it may be.
fn is_worth_it(chars: usize, count: u64) -> bool {
    let copy = chars as u64 + 1;
    copy.saturating_mul(count) > NOTICE_CHARS_MAX as u64 + 1
}
