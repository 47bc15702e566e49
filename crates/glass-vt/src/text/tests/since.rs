//! What is new since the last run.

use super::{budget, rows_of, text_from_elisions};
use crate::text::{Budget, compress_since, looks_like_error};
use proptest::prelude::*;

fn text_since(before: &str, now: &str) -> String {
    let since = compress_since(before.as_bytes(), now.as_bytes(), &Budget::default());
    since.expect("short").page.text
}

#[test]
fn only_what_is_new_and_errors_are_shown() {
    let run = |third: &str, time: u32| {
        let passed: String = (0..100).map(|n| format!("test t{n} ... ok\n")).collect();
        format!("{passed}test x ... {third}\nerror: it broke\nfinished in {time} s\n")
    };
    assert_eq!(
        text_since(&run("FAILED", 3), &run("ok", 4)),
        "[... 100 lines left out, offset=0 length=1590]\ntest x ... ok\nerror: it broke\n\
         finished in 4 s\n"
    );
    let same = compress_since(b"a\nb\n", b"a\nb\n", &Budget::default()).expect("short");
    assert_eq!((same.same, same.gone), (2, 0));
    let other = compress_since(b"a\nb\n", b"c\nb\nd\n", &Budget::default()).expect("short");
    assert_eq!((other.same, other.gone), (1, 1));
}

#[test]
fn what_moved_is_new() {
    let since = compress_since(b"a\nb\nc\nd\n", b"d\na\nb\nc\n", &Budget::default());
    let since = since.expect("short");
    assert_eq!((since.same, since.gone), (3, 1));
    assert!(since.page.text.starts_with("d\n"), "{}", since.page.text);
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-d]{1,2}",
        Just(String::new()),
        Just("error: x".to_owned()),
        Just("warning: \x1b[31my\x1b[0m".to_owned()),
        Just("10%\r50%".to_owned()),
        Just("e".repeat(90)),
    ]
}

fn joined(lines: &[String]) -> Vec<u8> {
    lines.join("\n").into_bytes()
}

/// A run, and what a later one made of it.
fn two_runs() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    let edit = (
        any::<prop::sample::Index>(),
        0usize..4,
        prop::collection::vec(line(), 0..4),
    );
    let edits = prop::collection::vec(edit, 0..5);
    (prop::collection::vec(line(), 0..60), edits).prop_map(|(before, edits)| {
        let mut now = before.clone();
        for (place, gone, new) in edits {
            let at = place.index(now.len() + 1).min(now.len());
            let to = (at + gone).min(now.len());
            now.splice(at..to, new);
        }
        (before, now)
    })
}

proptest! {
    #[test]
    fn it_keeps_to_its_budget_and_accounts_for_every_byte(
        (before, now) in two_runs(),
        lines in 0usize..80,
        chars in prop_oneof![0usize..300, 300usize..3_000],
    ) {
        let (before, now) = (joined(&before), joined(&now));
        let budget = budget(lines, chars);
        let page = compress_since(&before, &now, &budget).expect("short").page;
        prop_assert!(page.text.chars().count() <= budget.chars_max);
        prop_assert!(page.text.lines().count() <= budget.lines_max);
        prop_assert_eq!(&page.text, &text_from_elisions(&now, &budget, &page));
        prop_assert_eq!(page.end, now.len() as u64);
    }

    #[test]
    fn no_error_and_nothing_new_is_lost((before, now) in two_runs()) {
        let (before, now) = (joined(&before), joined(&now));
        let budget = budget(10_000, 1_000_000);
        let since = compress_since(&before, &now, &budget).expect("short");
        let known = rows_of(&before, &budget);
        let rows = rows_of(&now, &budget);
        prop_assert!(since.same <= rows.len().min(known.len()));
        prop_assert_eq!(since.same + since.gone, known.len());
        for row in &rows {
            let is_new = !known.iter().any(|known| known.text == row.text);
            if is_new || looks_like_error(&row.text) {
                let text = row.text.trim_end();
                let is_shown = since.page.text.lines().any(|line| line.trim_end() == text);
                prop_assert!(is_shown, "{text:?} is not in {}", since.page.text);
            }
        }
    }

    #[test]
    fn a_run_that_says_the_same_shows_errors_alone(lines in prop::collection::vec(line(), 0..60)) {
        let run = joined(&lines);
        let since = compress_since(&run, &run, &budget(10_000, 1_000_000)).expect("short");
        prop_assert_eq!(since.gone, 0);
        let shown = since.page.text.lines().filter(|line| !line.starts_with("[... "));
        for line in shown {
            prop_assert!(looks_like_error(line), "{line:?}");
        }
    }
}
