//! Lines as a terminal shows them, and pages as a reader wants them.

use super::{budget, numbered, text_of};
use crate::corpus;
use crate::text::{Budget, Compressor, Progress, Reason, clean, compress};

fn check(raw: &str, expected: &str) {
    assert_eq!(clean(raw.as_bytes()), expected, "{raw:?}");
}

#[test]
fn carriage_returns_and_backspaces_are_applied() {
    check("10%\r50%\r100%\n", "100%\n");
    check("100%\r5%\n", "5%0%\n");
    check("abc\r\nd\r\r\n", "abc\nd\n");
    check("abc\x08\x08X\n", "aXc\n");
    check("\x08\x08a\n", "a\n");
    check("über\rÜ\n", "Über\n");
    check("日本語\rx\n", "x 本語\n");
    check("日本\rab日\n", "ab日\n");
    check("e\u{301}a\rx\n", "xa\n");
    check("done     \rok\n", "okne\n");
    check("loading...\r          \rok\n", "ok\n");
    check("50%\r", "50%");
}

#[test]
fn sequences_that_rewrite_a_line_are_applied() {
    check("abcdef\r\x1b[Kx\n", "x\n");
    check("abcdef\x1b[3D\x1b[1Kz\n", "   zef\n");
    check("abc\x1b[2Kd\n", "   d\n");
    check("ab\x1b[5Cc\n", "ab     c\n");
    check("abc\x1b[1GX\n", "Xbc\n");
    check("abcdef\x1b[1G\x1b[2P\n", "cdef\n");
    check("abc\x1b[1G\x1b[2@\n", "  abc\n");
    check("abc\x1b[1G\x1b[2X\n", "  c\n");
    check("日本\x1b[1G\x1b[1P\n", " 本\n");
}

#[test]
fn what_has_no_text_is_left_out() {
    check("\x1b[1;31merror\x1b[0m: x\n", "error: x\n");
    check("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\n", "ab\n");
    check("\x1bP+q544e\x1b\\x\x1b_apc\x1b\\y\x1b(0z\n", "xyz\n");
    check("a\x00\x07\x7f\x0b\x0cb\u{9b}c\n", "abc\n");
    check("\x1b[?25l\x1b[2J\x1b[Hx\x1b[?1049h\n", "x\n");
    check("a\x1béb\n", "aéb\n");
}

#[test]
fn tabs_stay_where_they_are_and_count_as_columns() {
    check("a\tb\n", "a\tb\n");
    check("\x1b[1ma\tb\x1b[0m\n", "a\tb\n");
    check("a\tb\rX\n", "X\tb\n");
    check("a\tb\r\x1b[3CX\n", "a  X    b\n");
    check("abcdefghi\r\tX\n", "abcdefghX\n");
}

#[test]
fn no_tab_is_lost_at_the_end_of_a_row() {
    for length in 4_080..4_110 {
        let line = format!("{}\t\tb\n", "a".repeat(length));
        assert!(clean(line.as_bytes()) == line, "{length}");
    }
}

#[test]
fn a_line_feed_ends_whatever_is_unfinished() {
    check("\x1b]0;never ended\nnext\n", "\nnext\n");
    check("\x1bPnever\nnext\x1b[31\nlast\n", "\nnext\nlast\n");
    assert_eq!(clean(b"\xe2\x9c\n\xff!"), "\u{fffd}\n\u{fffd}!");
}

#[test]
fn text_of_hostile_streams_is_clean_and_complete() {
    for case in corpus::cases() {
        let page = compress(&case.stream, &Budget::default());
        for (text, how) in [(clean(&case.stream), "clean"), (page.text, "page")] {
            for wanted in &case.contains {
                assert!(text.contains(wanted), "{} {how}: {text:?}", case.id);
            }
            for unwanted in &case.excludes {
                assert!(!text.contains(unwanted), "{} {how}: {text:?}", case.id);
            }
        }
    }
}

#[test]
fn repeats_are_folded_where_that_is_shorter() {
    let output = format!("a\n{}b\n", "the same old line\n".repeat(40));
    let page = compress(output.as_bytes(), &Budget::default());
    assert_eq!(
        page.text,
        "a\nthe same old line\n[... the same line 39 more times, offset=20 length=702]\nb\n"
    );
    assert_eq!(page.elisions[0].reason, Reason::Repeats);
    assert_eq!(page.elisions[0].lines, 39);
    assert_eq!(text_of("x\nx\nx\n", &Budget::default()), "x\nx\nx\n");
}

#[test]
fn a_long_output_shows_its_head_its_tail_and_its_errors() {
    let middle = "error: it broke\nhere\nand there\nnot this\n";
    let output = format!("{}{middle}{}", numbered(500), numbered(500));
    let text = text_of(&output, &budget(50, 10_000));
    assert!(text.starts_with("line 0\nline 1\n"), "{text}");
    assert!(text.ends_with("line 498\nline 499\n"), "{text}");
    let kept = "]\nerror: it broke\nhere\nand there\n[... ";
    assert!(text.contains(kept), "{text}");
    assert!(!text.contains("not this"));
    assert_eq!(text.lines().count(), 50, "the whole budget is used");
}

#[test]
fn an_endless_line_shows_its_beginning_and_its_end() {
    let output = format!("begin{}end", "x".repeat(5_000_000));
    let page = compress(output.as_bytes(), &Budget::default());
    assert!(page.text.starts_with("beginxxx"));
    assert!(page.text.ends_with("xxxend"));
    assert!(
        page.text
            .contains("x…\n[... part of a line left out, offset=")
    );
    assert!(page.text.contains("]\n…x"));
    assert_eq!((page.elisions.len(), page.lines), (1, 1));
}

#[test]
fn a_progress_bar_without_end_is_one_line() {
    let output: String = (0..200_000)
        .map(|step| format!("\rprogress {step:>6}"))
        .collect();
    let page = compress(output.as_bytes(), &Budget::default());
    assert_eq!(page.text, "progress 199999");
    assert_eq!(page.elisions, []);
}

#[test]
fn a_progress_bar_is_its_last_state_or_all_of_them() {
    let output = "0%\r50%\r\r100%\r\ndone\r\n\r\nlast\r";
    let shown = Budget {
        progress: Progress::Shown,
        ..Budget::default()
    };
    assert_eq!(text_of(output, &Budget::default()), "100%\ndone\n\nlast");
    assert_eq!(text_of(output, &shown), "0%\n50%\n100%\ndone\n\nlast");
    let whole = compress(output.as_bytes(), &shown);
    for size in 1..5 {
        let mut compressor = Compressor::new(&shown, 0);
        let pieces = output.as_bytes().chunks(size);
        pieces.for_each(|piece| compressor.push(piece));
        assert_eq!(compressor.finish(), whole, "pieces of {size}");
    }
    // The name of a secret begins a line, too.
    let mut compressor = Compressor::new(&shown, 0);
    compressor.push(b"50%\r");
    compressor.push_for(b"[x]", 9);
    assert_eq!(compressor.finish().text, "50%\n[x]");
}

#[test]
fn head_and_tail_can_be_asked_for() {
    let ask = |head_lines, tail_lines| Budget {
        head_lines,
        tail_lines,
        ..Budget::default()
    };
    let output = numbered(100);
    assert_eq!(
        text_of(&output, &ask(Some(2), None)),
        "line 0\nline 1\n[... 98 lines left out, offset=14 length=776]\n"
    );
    assert_eq!(
        text_of(&output, &ask(None, Some(1))),
        "[... 99 lines left out, offset=0 length=782]\nline 99\n"
    );
    assert_eq!(
        text_of(&output, &ask(Some(1), Some(1))),
        "line 0\n[... 98 lines left out, offset=7 length=775]\nline 99\n"
    );
    assert_eq!(text_of(&numbered(3), &ask(Some(2), Some(2))), numbered(3));
}

#[test]
fn rows_can_be_searched() {
    let mut compressor =
        Compressor::new(&Budget::default(), 1_000).matching(Box::new(|row| row.ends_with('7')));
    compressor.push(numbered(20).as_bytes());
    assert_eq!(
        compressor.finish().text,
        "[... 7 lines left out, offset=1000 length=49]\nline 7\n\
         [... 9 lines left out, offset=1056 length=70]\nline 17\n\
         [... 2 lines left out, offset=1134 length=16]\n"
    );
}

#[test]
fn a_budget_without_room_for_a_notice_still_counts() {
    let page = compress(numbered(100).as_bytes(), &budget(2, 40));
    assert_eq!(page.text, "line 0\nline 1\n");
    assert_eq!((page.elisions[0].lines, page.elisions[0].bytes), (98, 776));
    let page = compress(b"abc\n", &budget(0, 0));
    assert_eq!((page.text.as_str(), page.elisions.len()), ("", 1));
}

#[test]
fn memory_stays_near_the_budget() {
    let mut compressor = Compressor::new(&budget(100, 10_000), 0);
    for number in 0..300_000 {
        compressor.push(format!("error: number {number} of a flood\n").as_bytes());
    }
    let page = compressor.finish();
    assert!(page.text.chars().count() <= 10_000);
    assert!(page.errors_left_out > 299_000, "{}", page.errors_left_out);
    assert!(page.elisions.len() < 100);
}
