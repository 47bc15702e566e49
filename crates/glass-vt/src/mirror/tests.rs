//! What a mirror shows, byte by byte.

use super::{Mirror, MirrorEvent, replay_bytes_max};
use crate::marker::{Body, MarkerScanner};
use proptest::prelude::*;

const OPEN: &str = "\x1b]633;P;Cwd=/w\x07\x1b]633;P;HasRichCommandDetection=True\x07";
const PROMPT: &str = "\x1b]633;A\x07$ \x1b]633;B\x07";

fn start(command: &str) -> MirrorEvent<'_> {
    MirrorEvent::CommandStart { command }
}

fn output(bytes: &str) -> MirrorEvent<'_> {
    let bytes = bytes.as_bytes();
    MirrorEvent::Output { bytes }
}

fn exit(code: Option<i32>) -> MirrorEvent<'static> {
    MirrorEvent::Exit { code }
}

/// What is shown after the opening.
fn shown(history: &[MirrorEvent<'_>], live: &[MirrorEvent<'_>]) -> String {
    let mut out = Vec::new();
    let mut mirror = Mirror::open("/w", &mut out);
    history
        .iter()
        .for_each(|event| mirror.show(*event, &mut out));
    mirror.settle(&mut out);
    live.iter().for_each(|event| mirror.show(*event, &mut out));
    let out = String::from_utf8(out).expect("text");
    out.strip_prefix(OPEN).expect("the opening").to_owned()
}

#[test]
fn without_a_history_there_is_a_prompt() {
    assert_eq!(shown(&[], &[]), PROMPT);
}

#[test]
fn a_command_is_shown_with_its_output_and_its_end() {
    let live = [start("echo a"), output("a\n"), exit(Some(0))];
    let ran = format!("\x1b]633;E;echo a\x07echo a\r\n\x1b]633;C\x07a\r\n\x1b]633;D;0\x07{PROMPT}");
    assert_eq!(shown(&[], &live), format!("{PROMPT}{ran}"));
    assert_eq!(
        shown(&live, &[]),
        format!("{PROMPT}{ran}"),
        "a replay looks the same"
    );
}

#[test]
fn a_running_command_is_replayed_without_an_end() {
    let history = [start("sleep 1"), output("x")];
    let running = format!("{PROMPT}\x1b]633;E;sleep 1\x07sleep 1\r\n\x1b]633;C\x07x");
    assert_eq!(shown(&history, &[]), running);
    assert_eq!(
        shown(&history, &[exit(None)]),
        format!("{running}\x1b]633;D\x07{PROMPT}")
    );
}

#[test]
fn values_are_escaped_and_the_text_is_shown() {
    let text = shown(&[], &[start("a;b\\\n\x1b[31m\tc")]);
    assert_eq!(
        text,
        format!(
            "{PROMPT}\x1b]633;E;a\\x3bb\\\\\\x0a\\x1b[31m\\x09c\x07a;b\\\r\n^[[31m\tc\r\n\x1b]633;C\x07"
        )
    );
    let text = shown(&[], &[MirrorEvent::Cwd { path: "/a;b" }]);
    assert_eq!(text, format!("{PROMPT}\x1b]633;P;Cwd=/a\\x3bb\x07"));
}

#[test]
fn line_feeds_become_crlf_and_crlf_stays() {
    let events = [
        output("a\nb\r\nc\r"),
        output("\nd\n"),
        output("\n\r"),
        output("e"),
    ];
    assert_eq!(
        shown(&[], &events),
        format!("{PROMPT}a\r\nb\r\nc\r\nd\r\n\r\n\re")
    );
}

#[test]
fn a_command_that_begins_before_the_last_one_ended_ends_it() {
    let text = shown(&[], &[start("a"), start("b")]);
    assert_eq!(text.matches("\x1b]633;D\x07").count(), 1);
    assert_eq!(text.matches(PROMPT).count(), 2);
}

#[test]
fn what_a_command_prints_is_no_part_of_the_conversation() {
    let events = [
        start("evil"),
        output("\x1b]633;D;0\x07\x1b[6n"),
        output("\x1b]633;"),
        exit(Some(3)),
    ];
    let text = shown(&[], &events);
    let mut codes = Vec::new();
    MarkerScanner::new(None).scan(text.as_bytes(), |marker| {
        if let Body::Finished { code } = marker.body {
            codes.push(code);
        }
    });
    assert_eq!(codes, [Some(3)]);
    assert!(!text.contains("\x1b[6n"));
}

#[test]
fn a_replay_is_bounded_and_says_so() {
    assert_eq!(replay_bytes_max(0), 20_000);
    assert_eq!(replay_bytes_max(1_000), 200_000);
    assert_eq!(replay_bytes_max(u32::MAX), 2_000_000);
    let mut out = Vec::new();
    let mut mirror = Mirror::open("/w", &mut out);
    out.clear();
    let text = "é".repeat(2_000);
    mirror.limit_replay(4_000 + 6, 1_001, &mut out);
    for event in [
        start("a"),
        output(&text),
        exit(Some(0)),
        start("b"),
        output("kept\r\n"),
    ] {
        mirror.show(event, &mut out);
    }
    mirror.settle(&mut out);
    mirror.show(output("live"), &mut out);
    let text = String::from_utf8(out).expect("whole characters");
    let notice = "[Terminal output truncated: ~3KB dropped from beginning]\r\n";
    let rest = text.strip_prefix(notice).expect("the notice");
    assert_eq!(rest.matches('é').count(), 497);
    assert!(rest.contains("\x1b]633;E;a\x07"), "every command is shown");
    assert!(rest.ends_with("kept\r\nlive"));
}

#[test]
fn a_replay_that_fits_says_nothing() {
    let mut out = Vec::new();
    let mut mirror = Mirror::open("/w", &mut out);
    out.clear();
    mirror.limit_replay(20_000, 20_000, &mut out);
    assert_eq!(out, b"");
}

proptest! {
    #[test]
    fn where_output_is_cut_changes_nothing(
        text in "[ab\\r\\n;é\\x1b\\[\\]6n\\x07]{0,60}",
        size in 1usize..7,
    ) {
        let mut whole = Vec::new();
        let mut mirror = Mirror::open("/", &mut whole);
        mirror.show(output(&text), &mut whole);
        let mut cut = Vec::new();
        let mut mirror = Mirror::open("/", &mut cut);
        for bytes in text.as_bytes().chunks(size) {
            mirror.show(MirrorEvent::Output { bytes }, &mut cut);
        }
        prop_assert_eq!(cut, whole);
    }

    #[test]
    fn no_line_feed_is_without_its_carriage_return(text in "[a\\r\\n]{0,60}") {
        let mut out = Vec::new();
        let mut mirror = Mirror::open("/", &mut out);
        out.clear();
        mirror.show(output(&text), &mut out);
        let out = String::from_utf8(out).expect("text");
        prop_assert!(!out.replace("\r\n", "").contains('\n'));
        prop_assert_eq!(out.replace("\r\n", "\n"), text.replace("\r\n", "\n"));
    }

    #[test]
    fn every_command_has_one_marker_of_each_kind_and_its_code(
        codes in prop::collection::vec(any::<Option<i32>>(), 0..6),
    ) {
        let mut out = Vec::new();
        let mut mirror = Mirror::open("/", &mut out);
        mirror.settle(&mut out);
        for code in &codes {
            mirror.show(start("x"), &mut out);
            mirror.show(exit(*code), &mut out);
        }
        let mut kinds = String::new();
        let mut ends = Vec::new();
        MarkerScanner::new(None).scan(&out, |marker| {
            kinds.push_str(marker.kind);
            if let Body::Finished { code } = marker.body {
                ends.push(code);
            }
        });
        prop_assert_eq!(kinds, format!("PPAB{}", "ECDAB".repeat(codes.len())));
        prop_assert_eq!(ends, codes);
    }
}

#[test]
fn what_a_replay_drops_need_not_be_read() {
    let replay = |skips: bool| {
        let mut out = Vec::new();
        let mut mirror = Mirror::open("/w", &mut out);
        mirror.limit_replay(12, 5, &mut out);
        mirror.show(start("x"), &mut out);
        for piece in ["abcd", "efgh", "ijkl"] {
            if !(skips && mirror.drops_whole(piece.len() as u64)) {
                mirror.show(output(piece), &mut out);
            }
        }
        mirror.settle(&mut out);
        String::from_utf8(out).expect("text")
    };
    assert_eq!(replay(true), replay(false));
    assert!(replay(true).ends_with("hijkl"), "{}", replay(true));
}
