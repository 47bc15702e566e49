//! What holds for any output and any budget.

use super::{budget, rows_of, text_from_elisions};
use crate::text::{Budget, Compressor, Progress, compress, looks_like_error};
use proptest::prelude::*;

/// Output with everything that programs do to lines.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        "[a-c ]{1,9}",
        Just("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".to_owned()),
        Just("error: x".to_owned()),
        Just("日本語é\u{301}".to_owned()),
        Just("\x1b[1;31m".to_owned()),
        Just("\x1b[K".to_owned()),
        Just("\x1b[1K".to_owned()),
        Just("\x1b[7C".to_owned()),
        Just("\x1b[2P".to_owned()),
        Just("\x1b[3@".to_owned()),
        Just("\x1b]0;t\x07".to_owned()),
        Just("\x1b]".to_owned()),
        Just("\x1b".to_owned()),
        Just("\r".to_owned()),
        Just("\x08".to_owned()),
        Just("\t".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("[... 3 lines left out, offset=1 length=2]\n".to_owned()),
    ];
    let line = prop::collection::vec(word, 0..6).prop_map(|words| words.concat().into_bytes());
    let line = prop_oneof![
        8 => line,
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ];
    let block = (
        line,
        prop_oneof![6 => Just(1usize), 1 => 2usize..60],
        any::<bool>(),
    )
        .prop_map(|(mut line, times, ends)| {
            if ends || times > 1 {
                line.push(b'\n');
            }
            line.repeat(times)
        });
    prop::collection::vec(block, 0..40).prop_map(|blocks| blocks.concat())
}

fn budgets() -> impl Strategy<Value = Budget> {
    let lines = prop_oneof![0usize..12, 12usize..80, Just(500)];
    let chars = prop_oneof![0usize..300, 300usize..3_000, Just(100_000)];
    let asked = prop_oneof![3 => Just(None), 1 => (0usize..20).prop_map(Some)];
    let progress = prop::sample::select(vec![Progress::Compressed, Progress::Shown]);
    (lines, chars, asked.clone(), asked, progress).prop_map(
        |(lines_max, chars_max, head_lines, tail_lines, progress)| Budget {
            lines_max,
            chars_max,
            head_lines,
            tail_lines,
            progress,
        },
    )
}

proptest! {
    #[test]
    fn a_text_is_never_longer_than_its_budget(output in output(), budget in budgets()) {
        let page = compress(&output, &budget);
        prop_assert!(page.text.chars().count() <= budget.chars_max);
        prop_assert!(page.text.lines().count() <= budget.lines_max);
    }

    #[test]
    fn text_and_elisions_account_for_every_byte(output in output(), budget in budgets()) {
        let page = compress(&output, &budget);
        prop_assert_eq!(&page.text, &text_from_elisions(&output, &budget, &page));
        let mut last = 0;
        for elision in &page.elisions {
            prop_assert!(elision.offset >= last && elision.bytes > 0);
            last = elision.offset + elision.bytes;
        }
        prop_assert!(last <= output.len() as u64);
        prop_assert_eq!(page.end, output.len() as u64);
    }

    #[test]
    fn the_bytes_of_an_elision_are_the_missing_text(output in output(), budget in budgets()) {
        let page = compress(&output, &budget);
        let rows = rows_of(&output, &budget);
        for elision in &page.elisions {
            let from = usize::try_from(elision.offset).expect("small");
            let to = from + usize::try_from(elision.bytes).expect("small");
            let missing = rows.iter().filter(|row| {
                row.start >= elision.offset && row.end <= elision.offset + elision.bytes
            });
            let missing: Vec<&str> = missing.map(|row| row.text.trim_end()).collect();
            let read = rows_of(&output[from..to], &budget);
            let read: Vec<&str> = read.iter().map(|row| row.text.trim_end()).collect();
            prop_assert_eq!(read, missing);
        }
    }

    #[test]
    fn going_through_twice_changes_nothing(output in output(), budget in budgets()) {
        let once = compress(&output, &budget).text;
        let twice = compress(once.as_bytes(), &budget).text;
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn a_search_stays_in_its_budget_and_accounts_for_the_rest(
        output in output(),
        budget in budgets(),
    ) {
        let matcher = |row: &str| row.contains('b') || row.contains('x');
        let mut compressor = Compressor::new(&budget, 0).matching(Box::new(matcher));
        compressor.push(&output);
        let page = compressor.finish();
        prop_assert!(page.text.chars().count() <= budget.chars_max);
        prop_assert!(page.text.lines().count() <= budget.lines_max);
        prop_assert_eq!(&page.text, &text_from_elisions(&output, &budget, &page));
    }

    #[test]
    fn where_output_is_cut_changes_nothing(
        output in output(),
        budget in budgets(),
        size in 1usize..40,
    ) {
        let mut compressor = Compressor::new(&budget, 0);
        for piece in output.chunks(size) {
            compressor.push(piece);
        }
        prop_assert_eq!(compressor.finish(), compress(&output, &budget));
    }

    #[test]
    fn an_error_of_the_head_or_the_tail_is_never_lost(
        lines in prop::collection::vec("[a-z]{1,12}", 20..300),
        from_the_end in any::<bool>(),
        place in 0usize..8,
        repeats in 1usize..30,
    ) {
        let budget = budget(30, 10_000);
        let mut lines = lines;
        let at = if from_the_end { lines.len() - place } else { place };
        let error = "error: the one that counts".to_owned();
        lines.splice(at..at, std::iter::repeat_n(error.clone(), repeats));
        let text = compress((lines.join("\n") + "\n").as_bytes(), &budget).text;
        prop_assert!(text.lines().any(|line| line == error), "{text}");
    }

    #[test]
    fn an_error_of_the_middle_is_kept_while_there_is_room(
        before in 50usize..400,
        after in 50usize..400,
        errors in 1usize..4,
    ) {
        let mut lines: Vec<String> = (0..before).map(|n| format!("before {n}")).collect();
        for number in 0..errors {
            lines.push(format!("error: number {number}"));
            lines.extend((0..20).map(|n| format!("between {number} {n}")));
        }
        lines.extend((0..after).map(|n| format!("after {n}")));
        let text = compress(lines.join("\n").as_bytes(), &budget(60, 10_000)).text;
        let kept = text.lines().filter(|line| looks_like_error(line)).count();
        prop_assert_eq!(kept, errors, "{}", text);
    }
}
