//! What a reader gets.

mod laws;
mod showing;

use super::budget::Notices;
use super::page::NOTICE;
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
    newline: bool,
}

/// All rows under this budget's width.
fn rows_of(output: &[u8], budget: &Budget) -> Vec<Whole> {
    let mut rows = Vec::new();
    let mut sink = |piece: super::row::Piece<'_>| {
        rows.push(Whole {
            start: piece.start,
            end: piece.end,
            text: piece.text.to_owned(),
            newline: piece.ending == super::row::Ending::Newline,
        });
    };
    let mut split = Split::new(budget.row_columns(), 0);
    split.push(output, &mut sink);
    split.finish(&mut sink);
    rows
}

/// The page with the notices and cuts taken out, and the rows that should be
/// there.
fn accounted(output: &[u8], budget: &Budget, page: &Page) -> (String, String) {
    let mut expected = String::new();
    let mut elisions = page.elisions.iter().peekable();
    for row in rows_of(output, budget) {
        while elisions
            .peek()
            .is_some_and(|elision| elision.offset + elision.bytes <= row.start)
        {
            elisions.next();
        }
        let missing = elisions
            .peek()
            .is_some_and(|elision| elision.offset <= row.start);
        if missing {
            let elision = elisions.peek().expect("just seen");
            assert!(
                row.end <= elision.offset + elision.bytes,
                "an elision ends between two rows"
            );
            continue;
        }
        expected.push_str(&row.text);
        if row.newline {
            expected.push('\n');
        }
    }
    let mut shown = String::new();
    let mut at = 0;
    for elision in &page.elisions {
        shown.push_str(&page.text[at..elision.at]);
        let rest = &page.text[elision.at..];
        at = elision.at;
        if budget.shares(NOTICE).notices == Notices::Shown {
            let notice = rest.lines().next().expect("a notice");
            assert!(notice.starts_with("[... "), "{notice}");
            let place = format!("offset={} length={}]", elision.offset, elision.bytes);
            assert!(notice.ends_with(&place), "{notice} says {place}");
            at += notice.len() + 1;
        }
    }
    shown.push_str(&page.text[at..]);
    (shown, expected)
}
