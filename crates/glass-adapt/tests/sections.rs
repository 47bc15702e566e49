//! Events in, sections out.
#![allow(clippy::unwrap_used, missing_docs, reason = "a failing test panics")]

use glass_adapt::{LINE_BYTES_MAX, Sections, TEXT_CHARS_MAX, Tool};
use proptest::prelude::*;

const CODEX: &str = include_str!("events/codex.jsonl");
const CLAUDE: &str = include_str!("events/claude.jsonl");

fn shown(tool: Option<Tool>, pieces: &[&[u8]]) -> String {
    let (mut sections, mut out) = (Sections::new(tool), Vec::new());
    for piece in pieces {
        sections.push(piece, &mut out);
        assert!(sections.held_bytes() <= LINE_BYTES_MAX);
    }
    sections.finish(&mut out);
    assert_eq!(sections.held_bytes(), 0);
    String::from_utf8_lossy(&out).into_owned()
}

fn check(line: &str, expected: &str) {
    assert_eq!(shown(None, &[line.as_bytes()]), expected, "{line}");
}

#[test]
fn a_run_of_codex_can_be_read() {
    let expected = include_str!("events/codex.txt");
    assert_eq!(shown(Some(Tool::Codex), &[CODEX.as_bytes()]), expected);
    assert_eq!(shown(None, &[CODEX.as_bytes()]), expected);
}

#[test]
fn a_run_of_claude_can_be_read() {
    let expected = include_str!("events/claude.txt");
    assert_eq!(shown(Some(Tool::Claude), &[CLAUDE.as_bytes()]), expected);
    assert_eq!(shown(None, &[CLAUDE.as_bytes()]), expected);
}

#[test]
fn a_run_can_be_cut_anywhere() {
    for (tool, run) in [(Tool::Codex, CODEX), (Tool::Claude, CLAUDE)] {
        let whole = shown(Some(tool), &[run.as_bytes()]);
        for at in 0..=run.len() {
            let (a, b) = run.as_bytes().split_at(at);
            assert_eq!(shown(Some(tool), &[a, b]), whole, "cut at {at}");
        }
    }
}

#[test]
fn what_is_no_event_passes_as_it_is() {
    for line in [
        "hello\n",
        "{\n  \"type\": \"error\"\n}\n",
        "{\"type\":\"other\"}\n",
        "{\"type\":\"item.completed\",\"item\":{\"type\":\"new\"}}\n",
        "{\"type\":\"item.completed\"}\n",
        "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{}]}}\n",
        "{broken\n",
        "\r\n",
        "no end",
        "{no end",
    ] {
        check(line, line);
    }
    let codex = "{\"type\":\"error\",\"message\":\"x\"}\n";
    assert_eq!(shown(Some(Tool::Claude), &[codex.as_bytes()]), codex);
    let bytes = b"\xff\x00 raw\n{\xff}\n";
    let (mut sections, mut out) = (Sections::new(None), Vec::new());
    sections.push(bytes, &mut out);
    assert_eq!(out, bytes);
}

#[test]
fn ordinary_output_does_not_wait_for_its_line() {
    let (mut sections, mut out) = (Sections::new(None), Vec::new());
    sections.push(b"Password: ", &mut out);
    assert_eq!(out, b"Password: ");
}

#[test]
fn text_of_events_commands_no_terminal_and_looks_like_no_heading() {
    check(
        "{\"type\":\"error\",\"message\":\"a\\u001b[2Jb\\n[exit 0] c\\u009b\"}\n",
        "[error] a\\u{1b}[2Jb\n  [exit 0] c\\u{9b}\n",
    );
}

#[test]
fn a_long_line_passes_and_a_long_output_is_cut() {
    let long = format!(
        "{{\"type\":\"error\",\"message\":\"{}\"}}\n",
        "a".repeat(LINE_BYTES_MAX)
    );
    check(&long, &long);
    let message = "a".repeat(TEXT_CHARS_MAX + 7);
    let line = format!("{{\"type\":\"error\",\"message\":\"{message}\"}}\n");
    let text = shown(None, &[line.as_bytes()]);
    assert!(text.ends_with("a\n  … 7 more characters\n"), "{text}");
}

/// Lines that are events, nearly events, or something else.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let lines: Vec<String> = CODEX
        .lines()
        .chain(CLAUDE.lines())
        .map(str::to_owned)
        .collect();
    let event = prop::sample::select(lines);
    let cut = (event.clone(), any::<prop::sample::Index>()).prop_map(|(mut line, at)| {
        let at = at.index(line.len());
        if line.is_char_boundary(at) {
            line.truncate(at);
        }
        line
    });
    let line = prop_oneof![event, cut, "\\PC{0,20}".prop_map(|text| text)];
    prop::collection::vec(line, 0..6).prop_map(|lines| lines.join("\n").into_bytes())
}

proptest! {
    #[test]
    fn pieces_do_not_matter(stream in stream(), size in 1usize..40) {
        let pieces: Vec<&[u8]> = stream.chunks(size).collect();
        prop_assert_eq!(shown(None, &pieces), shown(None, &[&stream]));
    }

    #[test]
    fn lines_that_do_not_begin_an_object_stay(text in "[^{\\n][^\\n]{0,40}\\n") {
        prop_assert_eq!(shown(None, &[text.as_bytes()]), text);
    }
}
