//! What a reader gets.

mod laws;
mod names;
mod showing;
mod since;

use super::budget::Notices;
use super::page::NOTICE;
use super::row::{Ending, Piece};
use super::split::Split;
use super::{Budget, Page, compress};

/// A budget of lines and characters alone.
fn budget(lines_max: usize, chars_max: usize) -> Budget {
    Budget {
        lines_max,
        chars_max,
        ..Budget::default()
    }
}

/// The text of `output` under a budget.
fn text_of(output: &str, budget: &Budget) -> String {
    compress(output.as_bytes(), budget).text
}

/// Numbered lines.
fn numbered(lines: usize) -> String {
    (0..lines)
        .map(|number| format!("line {number}\n"))
        .collect()
}

/// A row of the whole output, whatever the budget.
struct Whole {
    start: u64,
    end: u64,
    text: String,
    ending: Ending,
    begins_line: bool,
}

/// All rows under this budget's width.
fn rows_of(output: &[u8], budget: &Budget) -> Vec<Whole> {
    let mut rows = Vec::new();
    let mut sink = |piece: Piece<'_>| {
        rows.push(Whole {
            start: piece.start,
            end: piece.end,
            text: piece.text.to_owned(),
            ending: piece.ending,
            begins_line: piece.begins_line,
        });
    };
    let mut split = Split::within(budget, 0);
    split.push(output, &mut sink);
    split.finish(&mut sink);
    rows
}

/// The text that a page should have, from the rows of the whole output and the
/// page's elisions alone.
fn text_from_elisions(output: &[u8], budget: &Budget, page: &Page) -> String {
    let shown = budget.shares(NOTICE).notices == Notices::Shown;
    let mut text = String::new();
    let mut elisions = page.elisions.iter().peekable();
    let mut last: Option<Ending> = None;
    for row in rows_of(output, budget) {
        if let Some(elision) = elisions.next_if(|elision| elision.offset == row.start) {
            if last == Some(Ending::Wrap) && shown {
                text.push_str("…\n");
            }
            assert_eq!(elision.at, text.len());
            if shown {
                let notice = page.text[elision.at..].lines().next().expect("a notice");
                let place = format!("offset={} length={}]", elision.offset, elision.bytes);
                assert!(notice.ends_with(&place), "{notice} says {place}");
                text.push_str(notice);
                text.push('\n');
            }
            last = None;
        }
        let missing = page.elisions.iter().find(|elision| {
            elision.offset <= row.start && row.start < elision.offset + elision.bytes
        });
        if let Some(elision) = missing {
            let end = elision.offset + elision.bytes;
            assert!(row.end <= end, "an elision ends between two rows");
            continue;
        }
        if !row.begins_line && last != Some(Ending::Wrap) && shown {
            text.push('…');
        }
        text.push_str(&row.text);
        if row.ending == Ending::Newline {
            text.push('\n');
        }
        last = Some(row.ending);
    }
    assert_eq!(elisions.next(), None, "every elision begins with a row");
    text
}
