//! What passes and what does not.

use super::{HELD_BYTES_MAX, Strip, Stripped};
use crate::corpus;
use crate::marker::{MarkerScanner, Protocol};
use proptest::prelude::*;

fn strip<'a>(stripped: Stripped, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut strip = Strip::new(stripped);
    let mut out = Vec::new();
    for piece in pieces {
        strip.push(piece, |kept| out.extend_from_slice(kept));
        assert!(strip.pending_bytes() <= HELD_BYTES_MAX);
    }
    out
}

fn check(stripped: Stripped, input: &str, expected: &str) {
    for size in [1, 2, 3, input.len().max(1)] {
        let out = strip(stripped, input.as_bytes().chunks(size));
        let out = String::from_utf8(out).expect("text stays text");
        assert_eq!(out, expected, "{input:?} in pieces of {size}");
    }
}

fn passes(stripped: Stripped, input: &str) {
    check(stripped, input, input);
}

#[test]
fn questions_are_left_out() {
    for question in [
        "\x1b[c",
        "\x1b[0c",
        "\x1b[>c",
        "\x1b[=c",
        "\x1b[5n",
        "\x1b[6n",
        "\x1b[?6n",
        "\x1b[?996n",
        "\x1b[?2004$p",
        "\x1b[4$p",
        "\x1b[>q",
        "\x1b[>0q",
        "\x1b[14t",
        "\x1b[18t",
        "\x1b[21t",
        "\x1b[?u",
        "\x1b[x",
        "\x1b[?1;1;0S",
        "\x1b[1;1;1;1;2;2*y",
        "\x1bZ",
        "\x05",
        "\x1b]4;1;?\x07",
        "\x1b]10;?\x1b\\",
        "\x1b]11;?\x07",
        "\x1b]52;c;?\x07",
        "\x1b]50;?\x07",
        "\x1bP$qm\x1b\\",
        "\x1bP+q544e\x1b\\",
        "\x1bP0;1|17/69640a\x1b\\",
        "\x1b_Ga=q\x1b\\",
        "\x1b^private\x1b\\",
        "\x1bXstring\x1b\\",
        "\u{9b}",
        "\u{90}",
        "\x1b\x00[6n",
        "\x1b[\u{9b}6n",
        "\x1b]011;?\x07",
    ] {
        check(Stripped::Queries, &format!("a{question}b"), "ab");
    }
    check(Stripped::Queries, "é\u{a0}", "é\u{a0}");
    let torn = strip(Stripped::Queries, [&b"\xc2\x1b[6n\x9b6n"[..]]);
    assert_eq!(torn, b"\xef\xbf\xbd\x9b6n");
    let long = format!("a\x1b[{}6nb", "0".repeat(5_000));
    check(Stripped::Queries, &long, "ab");
    let long = format!("a\x1b]4;{}1;?\x07b", "1;red;".repeat(500));
    check(Stripped::Queries, &long, "ab");
}

#[test]
fn everything_else_passes() {
    for text in [
        "",
        "plain",
        "\x1b[1;31mred\x1b[0m",
        "\x1b[2J\x1b[H",
        "\x1b]0;title\x07x",
        "\x1b]8;;http://x\x1b\\y\x1b]8;;\x1b\\",
        "\x1b(0lqk\x1b(B",
        "\x1b7\x1b8\x1bc",
        "\x1b[?25l",
        "\x1b]52;c;aGk=\x07",
        "\x1b]4;1;rgb:00/00/00\x07",
        "\x1bPq#0;2;0;0;0#0~~\x1b\\x",
        "\x1b[8;24;80t",
        "\x1b[22;0t",
        "\x1b[2 q",
        "\x1b[u",
        "\x1b[3S",
        "\x07",
        "\x1b]104\x07",
        "\x1b]633;A\x07$ ",
        "Ü Â\u{a0} ✜",
        "\r\n\t\x08",
        "\x1b[3\x18x",
        "\x1b]0;t\x18x",
    ] {
        passes(Stripped::Queries, text);
    }
}

#[test]
fn markers_are_left_out_of_a_mirror() {
    check(
        Stripped::MarkersAndQueries,
        "a\x1b]633;D;0\x07b\x1b]133;A\x1b\\c\x1b]0633;A\x07d\x1b]633\x07e",
        "abcde",
    );
    passes(
        Stripped::MarkersAndQueries,
        "\x1b]6330;A\x07\x1b]13;#fff\x07",
    );
}

#[test]
fn effects_are_left_out_of_what_is_shown_again() {
    check(
        Stripped::EffectsAndQueries,
        "a\x07\x1b]52;c;aGk=\x07b\x1b]9;hello\x07c\x1b]777;notify;x\x1b\\d\x1b]0;t\x07e",
        "abcd\x1b]0;t\x07e",
    );
}

#[test]
fn what_is_left_around_a_gap_becomes_no_sequence() {
    let markers = Stripped::MarkersAndQueries;
    check(markers, "\x1b]6\x1b_x\x1b\\33;A\x07", "33;A\x07");
    check(markers, "\x1b[\x1bZ6n", "6n");
    check(markers, "\x1b]0;ti\x1bZtle", "\x1b]0;ti\x1b\\tle");
    check(markers, "\x1b]0;ti\x1b[31mtle", "\x1b]0;ti\x1b[31mtle");
    check(
        markers,
        "\x1b]633;\x1b]633;A\x07\x1b]0;x\x07",
        "\x1b]0;x\x07",
    );
}

#[test]
fn nothing_of_a_hostile_stream_is_a_marker_or_a_question() {
    for case in corpus::cases() {
        let out = strip(Stripped::MarkersAndQueries, [&case.stream[..]]);
        assert_eq!(markers(&out), 0, "{}", case.id);
        for wanted in &case.contains {
            let text = String::from_utf8_lossy(&out);
            assert!(text.contains(wanted.as_str()), "{}: {text:?}", case.id);
        }
    }
}

fn markers(stream: &[u8]) -> usize {
    let mut count = 0;
    MarkerScanner::new(None).scan(stream, |marker| {
        let shell = matches!(marker.protocol, Protocol::Osc133 | Protocol::Osc633);
        count += usize::from(shell);
    });
    count
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::sample::select(
            &b"\x1b\x1b\x1b[]P_Zcnq?;0163A\x07\\\x18\x05\xc2\x9b\x9c\x9d$ x\n"[..]
        )
        .prop_map(|byte| vec![byte]),
        Just(b"\x1b]633;A\x07".to_vec()),
        Just(b"\x1b[6n".to_vec()),
        Just(b"\x1b]0;".to_vec()),
        Just(b"\x1bP".to_vec()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn kinds() -> impl Strategy<Value = Stripped> {
    prop::sample::select(vec![
        Stripped::Queries,
        Stripped::MarkersAndQueries,
        Stripped::EffectsAndQueries,
    ])
}

proptest! {
    #[test]
    fn where_a_stream_is_cut_changes_nothing(
        stream in stream(),
        stripped in kinds(),
        size in 1usize..8,
    ) {
        let whole = strip(stripped, [&stream[..]]);
        prop_assert_eq!(strip(stripped, stream.chunks(size)), whole);
    }

    #[test]
    fn what_passed_passes_again(stream in stream(), stripped in kinds()) {
        // A byte at the end, so that nothing is held back for what may follow.
        let mut once = strip(stripped, [&stream[..]]);
        once.push(b'x');
        prop_assert_eq!(&strip(stripped, [&once[..]]), &once);
    }

    #[test]
    fn no_marker_passes(stream in stream()) {
        let out = strip(Stripped::MarkersAndQueries, [&stream[..]]);
        prop_assert_eq!(markers(&out), 0);
    }
}
