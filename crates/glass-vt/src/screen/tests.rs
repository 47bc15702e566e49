//! A snapshot draws the same screen.

use super::{REPLY_BYTES_MAX, Screen, ScreenSize};
use crate::corpus;
use proptest::prelude::*;

const SIZE: ScreenSize = ScreenSize {
    columns: 20,
    rows: 6,
};

fn screen(stream: &[u8]) -> Screen {
    let mut screen = Screen::new(SIZE);
    screen.feed(stream);
    screen
}

/// A screen that a snapshot was drawn into.
fn redrawn(screen: &mut Screen) -> Screen {
    let snapshot = screen.snapshot();
    self::screen(&snapshot)
}

/// Checks that the snapshot of this stream gives the same lines, and the same
/// snapshot: so everything that a snapshot has survives.
fn check(stream: &str) {
    let mut first = screen(stream.as_bytes());
    let mut second = redrawn(&mut first);
    assert_eq!(second.text(), first.text(), "{stream:?}");
    let (again, once) = (second.snapshot(), first.snapshot());
    assert_eq!(
        String::from_utf8_lossy(&again),
        String::from_utf8_lossy(&once),
        "{stream:?}"
    );
    assert_eq!(second.take_replies(), b"", "a snapshot asks nothing");
}

#[test]
fn text_colours_cursor_and_modes_survive() {
    for stream in [
        "",
        "hello",
        "a\r\nb\r\n\r\nc",
        "\x1b[1;31mred\x1b[0m \x1b[38;5;208mx\x1b[48;2;1;2;3my\x1b[0m",
        "\x1b[4:3m\x1b[58;5;9mcurl\x1b[0m\x1b[3;9;7mx",
        "12345678901234567890wrapped",
        "12345678901234567890",
        "日本語の文字がとても長いので折り返す",
        "e\u{301}x",
        "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
        "\x1b]2;a title\x07x\x1b]4;1;rgb:11/22/33\x07\x1b]11;rgb:00/00/00\x07",
        "one\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix\r\nseven\r\neight",
        "normal\x1b[?1049h\x1b[2;3Halt\x1b[44m\x1b[K",
        "\x1b[2;4r\x1b[?6hin\x1b[2;1Hside",
        "\x1b[?1000h\x1b[?1006h\x1b[?2004h\x1b[?1004h\x1b[?25l\x1b[5 q\x1b=\x1b[?1h",
        "\x1b[4h\x1b[?7l\x1b(0lqk",
        "\x1b[3;5H\x1b[31m\x1b7\x1b[1;1H\x1b[0mx",
        "a\tb\x1b[2K",
        "\x1b[41m\x1b[2J\x1b[0mx",
        "\x1b[5mblinks\x1b[25m not",
        "\x1b[3g\x1b[1;5H\x1bH\x1b[1;12H\x1bH\r\tx",
        "\x1b)0\x0elqk",
        "\x1b(0\x1b[2;2H\x1b7\x1b(B\x1b[H",
        "\x1b)0\x0e\x1b7\x0f",
        "\x1b[?5h\x1b[2;3r",
        "\x1b[?47h\x1b[2;3Hold",
    ] {
        check(stream);
    }
}

#[test]
fn what_is_unfinished_is_finished_by_what_follows() {
    for (before, after) in [
        ("x\x1b[3", "1my"),
        ("x\x1b]2;ti", "tle\x07y"),
        ("x\x1bP1;2", "qdata\x1b\\y"),
        ("x\x1b", "[1mz"),
    ] {
        let mut first = screen(before.as_bytes());
        let mut second = redrawn(&mut first);
        first.feed(after.as_bytes());
        second.feed(after.as_bytes());
        assert_eq!(second.text(), first.text(), "{before:?}");
        assert_eq!(second.snapshot(), first.snapshot(), "{before:?}");
    }
    let mut first = screen(b"x\xe2\x9c");
    let mut second = redrawn(&mut first);
    second.feed(b"\x93");
    assert_eq!(second.text()[0], "x✓");
}

#[test]
fn the_normal_screen_comes_back_after_the_alternate_one() {
    let mut first = screen(b"normal\r\n$ \x1b[?1049hfull");
    let mut second = redrawn(&mut first);
    assert_eq!(second.text()[1].trim_start(), "full");
    second.feed(b"\x1b[?1049lback");
    assert_eq!(second.text()[..2], ["normal", "$ back"]);
    first.feed(b"\x1b[?1049lback");
    assert_eq!(
        first.text()[..2],
        ["normal", "$ back"],
        "it is not disturbed"
    );
}

/// Checks what a stream leaves on the first rows.
fn shows(stream: &str, lines: &[&str]) {
    let text = screen(stream.as_bytes()).text();
    assert_eq!(text[..lines.len()], *lines, "{stream:?}");
}

#[test]
fn the_cursor_goes_up_and_down_within_the_rows_that_scroll() {
    shows(
        "\x1b[2;4r\x1b[3;1H\x1b[9Aup\x1b[9Bdown",
        &["", "up", "", "  down"],
    );
    shows("\x1b[3;4r\x1b[1;1H\x1b[9Bdown", &["", "", "", "down"]);
    shows("\x1b[2;3r\x1b[5;1H\x1b[9Fup", &["", "up"]);
    // A region that is none changes nothing.
    shows("x\x1b[9;20ry\x1b[4;2rz", &["xyz"]);
}

#[test]
fn an_old_alternate_screen_is_one_and_a_column_mode_is_none() {
    shows("one\x1b[?47h\x1b[2Jtwo\x1b[?47lthree", &["one   three"]);
    shows("a\x1b[?1048hbc\x1b[?1048lx", &["axc"]);
    shows("kept\x1b[?3h\x1b[?3l", &["kept"]);
}

#[test]
fn what_cannot_be_seen_goes_on_alike_after_a_snapshot() {
    for before in [
        "\x1b[3g\x1b[1;5H\x1bH\r",
        "\x1b)0\x0e",
        "\x1b(0\x1b[2;2H\x1b7\x1b(B\x1b[H",
        "\x1b)0\x0e\x1b[3;3H\x1b7\x0f\x1b[H",
        "\x1b)0\x0e\x1b[?1049h\x0f",
        "\x1b[5m\x1b7\x1b[m",
        "\x1b[2;3r\x1b[3;1H",
    ] {
        let after = b"q\tx\n\n\x1b[9A~\x1b8lqk\x0f~\x1b[?1049lmqj";
        let mut first = screen(before.as_bytes());
        let mut second = redrawn(&mut first);
        first.feed(after);
        second.feed(after);
        assert_eq!(second.text(), first.text(), "{before:?}");
        assert_eq!(second.snapshot(), first.snapshot(), "{before:?}");
    }
}

#[test]
fn questions_are_answered_once_and_within_bounds() {
    let mut screen = screen(b"ab\x1b[6n\x1b[c\x1b]11;?\x07\x1b[14t");
    let replies = String::from_utf8(screen.take_replies()).expect("text");
    assert!(replies.contains("\x1b[1;3R"), "{replies:?}");
    assert!(replies.contains("\x1b[?6c"), "{replies:?}");
    assert!(replies.contains("rgb:0000/0000/0000"), "{replies:?}");
    assert!(replies.contains("\x1b[4;96;160t"), "{replies:?}");
    assert_eq!(screen.take_replies(), b"");
    screen.feed(&b"\x1b[6n".repeat(100_000));
    assert!(screen.take_replies().len() <= REPLY_BYTES_MAX);
}

#[test]
fn an_update_is_shown_whole() {
    let mut screen = screen(b"old\x1b[?2026h\rnew");
    assert!(screen.is_updating());
    assert_eq!(screen.text()[0], "old");
    screen.feed(b"er\x1b[?2026l");
    assert!(!screen.is_updating());
    assert_eq!(screen.text()[0], "newer");
    screen.feed(b"\x1b[?2026h\rlate");
    screen.end_update();
    assert_eq!(screen.text()[0], "later");
}

#[test]
fn a_string_without_end_is_not_kept() {
    let mut screen = screen(b"x\x1b]2;");
    for _ in 0..1_000 {
        screen.feed(&[b'a'; 1_000]);
    }
    assert!(screen.snapshot().len() < 10_000);
    screen.feed(b"\x07after");
    assert_eq!(screen.text()[0], "xafter");
}

#[test]
fn modes_and_titles_in_any_number_do_no_harm() {
    let mut screen = screen(b"");
    screen.feed(&b"\x1b[>1u".repeat(10_000));
    screen.feed(&b"\x1b[22;0t".repeat(10_000));
    screen.feed(&b"\x1b[23;0t".repeat(10_000));
    screen.feed(b"alive");
    assert_eq!(screen.text()[0], "alive");
}

#[test]
fn a_cell_keeps_few_combining_characters() {
    let mut screen = screen("x".as_bytes());
    for _ in 0..1_000 {
        screen.feed("\x1b[1;2H\u{301}\u{302}\x1b[2;2Hy".as_bytes());
    }
    assert!(screen.text()[0].chars().count() <= 17);
    assert!(screen.text()[0].starts_with("x\u{301}\u{302}"));
}

#[test]
fn a_screen_that_rested_goes_on_as_if_it_had_not() {
    let lines = |from: u32| -> String { (from..from + 50).map(|n| format!("{n}\r\n")).collect() };
    let (mut rested, mut busy) = (screen(b""), screen(b""));
    for from in [0, 50, 2_000] {
        rested.feed(lines(from).as_bytes());
        rested.pack();
        busy.feed(lines(from).as_bytes());
    }
    rested.unpack();
    assert_eq!(rested.snapshot(), busy.snapshot());
}

#[test]
fn a_bell_ends_only_strings_that_it_ends_however_long_they_are() {
    let long = "a".repeat(super::STRING_BYTES_MAX + 10);
    for begin in ["\x1bP1;2q", "\x1b_", "\x1b^", "\x1bX"] {
        shows(&format!("x{begin}a\x07b\x1b\\y"), &["xy"]);
        shows(&format!("x{begin}{long}\x07b\x1b\\y"), &["xy"]);
    }
    shows(&format!("x\x1b]2;{long}\x07y"), &["xy"]);
    for begin in ["\x1b]52;c;", "\x1bP1;2q"] {
        let mut first = screen(format!("x{begin}{long}").as_bytes());
        assert!(!first.is_between());
        let mut second = redrawn(&mut first);
        for rest in ["0;evil", "\x07", "y", "\x1b\\", "z"] {
            first.feed(rest.as_bytes());
            second.feed(rest.as_bytes());
        }
        assert_eq!(second.text(), first.text(), "{begin:?}");
        assert_eq!(second.title(), None);
        assert!(second.is_between());
    }
}

#[test]
fn a_control_sequence_that_is_too_long_ends_where_it_would_have() {
    let long = "1;".repeat(200);
    let mut shown = screen(format!("a\x1b[{long}").as_bytes());
    let mut again = redrawn(&mut shown);
    for screen in [&mut shown, &mut again] {
        screen.feed(b"2Kb");
        assert_eq!(screen.text()[0], "ab");
    }
}

#[test]
fn any_size_is_a_size() {
    let mut screen = screen(b"some text that is long enough to wrap");
    for (columns, rows) in [(0, 0), (1, 1), (u16::MAX, u16::MAX), (80, 24), (3, 2)] {
        screen.resize(ScreenSize { columns, rows });
        assert!(!screen.snapshot().is_empty());
    }
}

#[test]
fn hostile_streams_are_drawn_again() {
    for case in corpus::cases() {
        let mut first = screen(&case.stream);
        let second = redrawn(&mut first);
        assert_eq!(second.text(), first.text(), "{}", case.id);
    }
}

/// What programs write to terminals. Halves of wide characters, which the
/// engine leaves when others erase or move the rest, do not survive a snapshot;
/// so `wide` is narrow where that would show.
fn stream(wide: &'static str) -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z ]{1,12}",
        Just(wide.to_owned()),
        Just("e\u{301}".to_owned()),
        Just("\r\n".to_owned()),
        Just("\t".to_owned()),
        (0u8..50).prop_map(|n| format!("\x1b[{n}m")),
        (1u8..8, 1u8..22).prop_map(|(row, column)| format!("\x1b[{row};{column}H")),
        prop::sample::select(vec![
            "\x1b[K",
            "\x1b[1K",
            "\x1b[J",
            "\x1b[2J",
            "\x1b[L",
            "\x1b[M",
            "\x1b[2P",
            "\x1b[3@",
            "\x1b[?1049h",
            "\x1b[?1049l",
            "\x1b7",
            "\x1b8",
            "\x1bM",
            "\x1bD",
            "\x1b[2;5r",
            "\x1b[r",
            "\x1b[?25l",
            "\x1b[?1002h",
            "\x1b[?1006h",
            "\x1b[S",
            "\x1b[T",
            "\x1bc",
            "\x1b[4A",
            "\x08",
            "\r",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Bytes that engines have opinions about.
fn hostile_bytes() -> impl Strategy<Value = Vec<u8>> {
    let control = (
        prop::sample::select(vec!["", "?", ">", "="]),
        prop::collection::vec(
            prop_oneof![0u32..30, Just(65_535), Just(4_294_967_295)],
            0..4,
        ),
        0x40u8..0x7f,
    );
    let control = control.prop_map(|(prefix, numbers, last)| {
        let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
        let last = char::from(last);
        format!("\x1b[{prefix}{}{last}", numbers.join(";")).into_bytes()
    });
    let piece = prop_oneof![
        4 => control,
        1 => prop::collection::vec(any::<u8>(), 0..8),
        2 => prop::sample::select(vec!["日本", "e\u{301}", "x", "\n", "\r", "\t", "\x1b7", "\x1b8",
            "\x1bM", "\x1bD", "\x1bH", "\x1bc", "\x1b(0", "\x0e", "\x1b#8", "\x1b]104\x07",
            "\x1b[?1049h", "\x1b[?1049l", "\x1b[?2026h", "\x1b[?3h", "\x1b[?6h", "\x1b[2;3r"])
            .prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// A line that rewrites itself. Nothing is erased or moved where that could
/// tear a wide character apart, of which the engine would leave one half.
fn rewritten_line() -> impl Strategy<Value = String> {
    let common = vec![
        "a", "bc", "def", " ", "\r", "\x08", "\x1b[2C", "\x1b[3D", "\t", "\x1b[5G", "\x1b[31m",
    ];
    let erasing = [
        "\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[2P", "\x1b[2@", "\x1b[2X",
    ];
    let narrow = [&common[..], &erasing].concat();
    let wide = [&common[..], &["日", "本x", "é"]].concat();
    let words = |words| prop::collection::vec(prop::sample::select(words), 0..14);
    prop_oneof![words(narrow), words(wide)].prop_map(|words: Vec<&str>| words.concat())
}

proptest! {
    #[test]
    fn no_bytes_at_any_size_do_harm(
        before in hostile_bytes(),
        after in hostile_bytes(),
        sizes in prop::collection::vec((0u16..30, 0u16..12), 2),
    ) {
        let size = |at: usize| ScreenSize { columns: sizes[at].0, rows: sizes[at].1 };
        let mut first = Screen::new(size(0));
        first.feed(&before);
        first.resize(size(1));
        first.feed(&after);
        let mut second = Screen::new(size(1));
        second.feed(&first.snapshot());
        prop_assert_eq!(second.text().len(), first.text().len());
    }

    #[test]
    fn a_snapshot_shows_the_same_lines(stream in stream("日本")) {
        let mut first = screen(stream.as_bytes());
        let second = redrawn(&mut first);
        prop_assert_eq!(second.text(), first.text());
    }

    #[test]
    fn a_screen_that_rests_goes_on_as_if_it_had_not(
        before in hostile_bytes(),
        after in hostile_bytes(),
    ) {
        let (mut first, mut second) = (screen(&before), screen(&before));
        first.pack();
        first.feed(&after);
        first.unpack();
        second.feed(&after);
        prop_assert_eq!(second.text(), first.text());
        prop_assert_eq!(second.snapshot(), first.snapshot());
    }

    #[test]
    fn after_a_snapshot_both_go_on_alike(before in stream("é"), after in "[a-z]{1,30}") {
        let mut first = screen(before.as_bytes());
        let mut second = redrawn(&mut first);
        first.feed(after.as_bytes());
        second.feed(after.as_bytes());
        prop_assert_eq!(second.text(), first.text());
    }

    #[test]
    fn a_line_of_text_is_what_the_screen_shows(line in rewritten_line()) {
        let mut wide = Screen::new(ScreenSize { columns: 400, rows: 2 });
        wide.feed(line.as_bytes());
        let text = crate::text::clean(line.as_bytes());
        let mut plain = Screen::new(ScreenSize { columns: 400, rows: 2 });
        plain.feed(text.as_bytes());
        prop_assert_eq!(&plain.text()[0], &wide.text()[0]);
    }
}
