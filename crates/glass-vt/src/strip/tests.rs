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
fn who_only_watches_is_put_nothing_on_the_clipboard() {
    for attack in [
        "\x1b]52;c;aGk=\x07",
        "\x1b]052;c;aGk=\x1b\\",
        "\x1b]52;c;aGk=\x18",
        "\x1b\x00]52;c;aGk=\x07",
        "\x1b\x7f]52;c;aGk=\x07",
        "\x1b]5\x002;c;aGk=\x07",
        "\x1b]\n5\t2\x1f;c;aGk=\x07",
        "\x1b]5\x7f2;c;aGk=\x07",
        "\x1b]5\u{9d}2;c;aGk=\x07",
        "\x1b]1337;CopyToClipboard=\x07",
        "\x1b]5522;type=write\x07",
    ] {
        let stripped = Stripped::ClipboardAndQueries;
        check(stripped, &format!("a{attack}b"), "ab");
    }
    let passed = "\x07\x1b]520;x\x07\x1b]9;4;1;50\x07\x1b]0;t\x07\x1b[31mx";
    passes(Stripped::ClipboardAndQueries, passed);
}

#[test]
fn controls_inside_a_sequence_hide_nothing_and_are_obeyed_before_it() {
    let markers = Stripped::MarkersAndQueries;
    check(markers, "a\x1b]6\x0033;D;0\x07b\x1b\x00]133;A\x07c", "abc");
    let queries = Stripped::Queries;
    check(queries, "a\x1b[1\x008tb\x1bP$\x00qm\x1b\\c", "abc");
    check(
        queries,
        "\x1b[1\nm\x1b\r[2\x08mx",
        "\n\x1b[1m\r\x08\x1b[2mx",
    );
    check(queries, "\x1b]0;t\x1b\n[1mx", "\x1b]0;t\x1b\\\n\x1b[1mx");
    let effects = Stripped::EffectsAndQueries;
    check(effects, "\x1b\x07[1\x07m", "\x1b[1m");
    check(queries, "\x1b\x07[1\x07m", "\x07\x07\x1b[1m");
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
            &b"\x1b\x1b\x1b[]P_Zcnq?;01635 2A\x07\\\x18\x05\xc2\x9b\x9c\x9d$ x\n\x00\x7f"[..]
        )
        .prop_map(|byte| vec![byte]),
        Just(b"\x1b]633;A\x07".to_vec()),
        Just(b"\x1b[6n".to_vec()),
        Just(b"\x1b]0;".to_vec()),
        Just(b"\x1b]52".to_vec()),
        Just(b"\x1bP".to_vec()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn kinds() -> impl Strategy<Value = Stripped> {
    prop::sample::select(vec![
        Stripped::Queries,
        Stripped::MarkersAndQueries,
        Stripped::ClipboardAndQueries,
        Stripped::EffectsAndQueries,
    ])
}

/// The numbers of the operating system commands in a stream, as xterm.js reads them:
/// controls are ignored on the way, and whatever ends the string ends it.
fn numbers(stream: &[u8]) -> Vec<String> {
    let (mut found, mut escaped) = (Vec::new(), false);
    let mut open: Option<String> = None;
    for &byte in stream {
        match byte {
            // These abort it.
            0x18 | 0x1a => (open, escaped) = (None, false),
            0x07 | 0x1b => {
                found.extend(open.take());
                escaped = byte == 0x1b || (escaped && byte == 0x07);
            }
            0x00..=0x1f | 0x7f => {}
            _ if open.is_some() => open.iter_mut().for_each(|text| text.push(char::from(byte))),
            b']' if escaped => (open, escaped) = (Some(String::new()), false),
            _ => escaped = false,
        }
    }
    found.extend(open);
    let number = |text: String| text.split(';').next().map(str::to_owned);
    found.into_iter().filter_map(number).collect()
}

fn is(number: &str, one: u32) -> bool {
    number.parse() == Ok(one)
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

    #[test]
    fn nothing_that_passes_is_on_the_clipboard(stream in stream()) {
        let out = strip(Stripped::ClipboardAndQueries, [&stream[..]]);
        prop_assert!(!numbers(&out).iter().any(|number| is(number, 52)), "{:?}", out);
    }

    #[test]
    fn nothing_that_passes_is_a_marker_in_a_browser(stream in stream()) {
        let out = strip(Stripped::MarkersAndQueries, [&stream[..]]);
        let marks = |number: &String| is(number, 133) || is(number, 633);
        prop_assert!(!numbers(&out).iter().any(marks), "{:?}", out);
    }
}
