//! A terminal of seven rows, of which programs have six.

use super::{Fence, fitted};
use crate::screen::{Screen, ScreenSize};
use proptest::prelude::*;

const ABOVE: ScreenSize = ScreenSize {
    columns: 20,
    rows: 6,
};

const WHOLE: ScreenSize = ScreenSize {
    columns: 20,
    rows: 7,
};

/// The terminal after pieces of a stream, with the row painted between them
/// where that is possible, and once more after the last.
fn terminal(pieces: &[&[u8]]) -> Screen {
    let mut fence = Fence::new(ABOVE);
    let mut terminal = Screen::new(WHOLE);
    let mut out = Vec::new();
    fence.put_up(ABOVE, &mut out);
    for piece in pieces {
        fence.show(piece, &mut out);
        fence.paint(WHOLE.rows, "STATUS", &mut out);
    }
    terminal.feed(&out);
    terminal
}

/// Checks that the rows above show what a terminal of their own would, and that
/// the row is what was painted.
fn check(stream: &[u8], pieces: &[&[u8]]) {
    let mut alone = Screen::new(ABOVE);
    alone.feed(stream);
    let shown = terminal(pieces);
    let what = String::from_utf8_lossy(stream);
    assert_eq!(shown.text()[..6], alone.text(), "{what:?}");
    assert_eq!(shown.text()[6], "STATUS", "{what:?}");
    assert_eq!(shown.cursor(), alone.cursor(), "{what:?}");
}

const STREAMS: &[&str] = &[
    "one\r\ntwo",
    "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9",
    "a\x1bcb",
    "text\x1b[2J\x1b[Hnew\x1b[J",
    "\x1b[999;999Hx\x1b[99dy\x1b[99Bz",
    "\x1b[r\x1b[6;1Hlast\r\nnext",
    "\x1b[1;7r\x1b[7;1Hlast\r\nnext",
    "\x1b[2;4r\x1b[4;1Ha\r\nb\r\nc",
    "\x1b[1;3r\x1b[6;1Hbelow",
    "\x1b[1;3r\x1b[6;1Hbelow\r\nagain\n\n",
    "\x1b[4;6r\x1b[6;1Ha\r\nb\r\nc",
    "normal\x1b[?1049h\x1b[6;1Halt\r\nmore\x1b[?1049lback",
    "\x1b[?1049h\x1b[2J\x1b[31mred\x1b[6;20Hx",
    "\x1b(0lqk\x1b[3;3Hlqk",
    "\x1b)0\x0elqk",
    "\x1b[4habc\x1b[1;1Hx",
    "\x1b[2;4r\x1b[?6h\x1b[1;1Hin",
    "12345678901234567890",
    "\x1b[6;1H12345678901234567890more",
    "\x1b]2;a title\x07x\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
    "\x1bP1;2qdata\x1b\\x",
    "\x1bP1;2qda\x07ta\x1b\\x",
    "\x1b[?2026hframe\r\n\x1b[2J\x1b[Hwhole\x1b[?2026l",
    "\x1b[3;3H\x1b7\x1b[1;1Hx\x1b8y",
    "\x1b#8",
    "\x1b[?3h\x1b[!pdone",
    "wörld 世界",
];

#[test]
fn programs_have_the_rows_above_and_only_them() {
    for stream in STREAMS {
        check(stream.as_bytes(), &[stream.as_bytes()]);
    }
}

#[test]
fn a_stream_may_be_cut_anywhere() {
    for stream in STREAMS.iter().map(|stream| stream.as_bytes()) {
        for at in 0..=stream.len() {
            check(stream, &[&stream[..at], &stream[at..]]);
        }
    }
}

#[test]
fn nothing_is_painted_in_the_middle_of_anything() {
    for stream in [
        "x\x1b",
        "x\x1b[3",
        "\x1b]2;ti",
        "\x1b[?2026hx",
        "\x1bP1\x07",
        "w\u{f6}",
    ] {
        let bytes = stream.as_bytes();
        let cut = &bytes[..bytes.len() - usize::from(stream.starts_with('w'))];
        let mut fence = Fence::new(ABOVE);
        let mut out = Vec::new();
        fence.show(cut, &mut out);
        out.clear();
        assert!(!fence.paint(7, "STATUS", &mut out), "{stream:?}");
        assert_eq!(out, b"");
    }
}

#[test]
fn an_update_that_nobody_ends_does_not_last() {
    let mut out = Vec::new();
    for end in [Fence::end_update, |fence: &mut Fence| {
        fence.show(b"\x1bc", &mut Vec::new());
    }] {
        let mut fence = Fence::new(ABOVE);
        fence.show(b"\x1b[?2026hx", &mut out);
        assert!(fence.is_updating());
        assert!(!fence.paint(7, "STATUS", &mut out));
        end(&mut fence);
        assert!(!fence.is_updating());
        assert!(fence.paint(7, "STATUS", &mut out));
    }
}

#[test]
fn the_row_is_exactly_as_wide_as_the_terminal() {
    assert_eq!(fitted("ab", 4), "ab  ");
    assert_eq!(fitted("abcdef", 4), "abcd");
    assert_eq!(fitted("a世界", 4), "a世 ");
    assert_eq!(fitted("e\u{301}\x1b\u{7}x", 3), "ex ");
}

#[test]
fn a_sequence_without_end_is_not_kept() {
    let mut fence = Fence::new(ABOVE);
    let mut out = Vec::new();
    fence.show(b"\x1b[", &mut out);
    fence.show(&[b'1'; 10_000], &mut out);
    assert!(fence.held.len() <= super::CONTROL_BYTES_MAX + 1);
    fence.show(b"\x1b]2;", &mut out);
    fence.show(&[b'1'; 10_000], &mut out);
    assert!(fence.held.is_empty());
}

#[test]
fn another_size_moves_it() {
    let mut fence = Fence::new(ABOVE);
    let mut terminal = Screen::new(WHOLE);
    let mut out = Vec::new();
    fence.put_up(ABOVE, &mut out);
    fence.show(b"1\r\n2\r\n3", &mut out);
    terminal.feed(&out);
    out.clear();
    terminal.resize(ScreenSize {
        columns: 20,
        rows: 5,
    });
    fence.put_up(
        ScreenSize {
            columns: 20,
            rows: 4,
        },
        &mut out,
    );
    fence.show(b"\r\n4\r\n5\r\n6", &mut out);
    assert!(fence.is_worn());
    assert!(fence.paint(5, "STATUS", &mut out));
    terminal.feed(&out);
    assert_eq!(terminal.text(), ["3", "4", "5", "6", "STATUS"]);
}

proptest! {
    #[test]
    fn no_bytes_get_to_the_row_or_do_harm(
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..6),
    ) {
        let mut fence = Fence::new(ABOVE);
        let mut out = Vec::new();
        for piece in &pieces {
            fence.show(piece, &mut out);
        }
        // Whatever is unfinished ends, and it can be painted again.
        fence.show(b"\x18\x1b[?2026l", &mut out);
        prop_assert!(fence.paint(7, "STATUS", &mut out));
        let mut terminal = Screen::new(WHOLE);
        terminal.feed(&out);
        prop_assert_eq!(&terminal.text()[6], "STATUS");
    }
}
