//! Filters over standard input, without a daemon.

use serde_json::Value;
use shellglass_tests::program::{Home, Ran, finish};
use std::io::Write as _;
use std::process::Stdio;

const NONCE: &str = "7d1f0c8a-52aa-4f00-9a51-a0b1c2d3e4f5";

/// Runs a filter over what arrives in these pieces.
fn filtered<'a>(arguments: &[&str], pieces: impl IntoIterator<Item = &'a [u8]>) -> Ran {
    let home = Home::default();
    let mut line = home.line();
    let line = line.arg("filter").args(arguments).stdin(Stdio::piped());
    let started = line.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = started.expect("the program can be started");
    let mut input = child.stdin.take().expect("a pipe");
    let pieces: Vec<Vec<u8>> = pieces.into_iter().map(<[u8]>::to_vec).collect();
    let writer = std::thread::spawn(move || {
        for piece in pieces {
            input.write_all(&piece).unwrap();
        }
    });
    let ran = finish(child);
    writer.join().unwrap();
    assert_eq!(home.daemons(), [0u32; 0], "no daemon is started");
    ran
}

/// The markers that `filter osc` finds.
fn markers(arguments: &[&str], stream: &[u8]) -> Vec<Value> {
    let arguments = [&["osc"], arguments].concat();
    let lines = filtered(&arguments, [stream]).quiet();
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

pub(crate) fn base64(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|b| *b != b'=').map(value).collect();
    let mut bytes = Vec::new();
    for group in digits.chunks(4) {
        let bits = group.iter().fold(0u32, |bits, d| bits << 6 | u32::from(*d));
        let bits = bits << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}

/// Streams that a program could print to be taken for the shell.
fn hostile_streams() -> Vec<(String, Vec<u8>)> {
    let cases = include_str!("../corpus/spoof/cases.jsonl");
    let streams = cases.lines().filter_map(|line| {
        let case: Value = serde_json::from_str(line).unwrap();
        let stream = base64(case["stream_b64"].as_str()?);
        Some((case["id"].as_str().unwrap().to_owned(), stream))
    });
    streams.collect()
}

#[test]
fn every_marker_is_one_json_object_with_its_place() {
    let stream = b"ab\x1b]633;E;ls \\x3b;n\x07\x1b]133;D;3\x1b\\\x1b]7;file:///tmp\x07";
    let found = markers(&[], stream);
    let field = |key: &str| -> Vec<Value> { found.iter().map(|m| m[key].clone()).collect() };
    assert_eq!(field("offset"), [2, 20, 31]);
    assert_eq!(field("protocol"), ["633", "133", "7"]);
    assert_eq!(field("kind"), ["E", "D", "cwd"]);
    assert_eq!(field("payload"), ["ls \\x3b;n", "3", "file:///tmp"]);
    assert_eq!(field("trusted"), [false, false, false]);
    assert_eq!(found[0]["command"], "ls ;");
    assert_eq!(found[1]["exitCode"], 3);
    assert_eq!(found[2]["cwd"], "/tmp");
}

#[test]
fn only_markers_with_the_nonce_are_trusted() {
    let mut stream = Vec::new();
    let cases = hostile_streams();
    assert!(cases.len() >= 60);
    for (number, (_, printed)) in cases.iter().enumerate() {
        stream.extend_from_slice(printed);
        stream.extend_from_slice(format!("\x1b]633;D;{number};{NONCE}\x07").as_bytes());
    }
    let found = markers(&["--nonce", NONCE], &stream);
    let trusted = found.iter().filter(|marker| marker["trusted"] == true);
    let codes: Vec<&Value> = trusted.map(|marker| &marker["exitCode"]).collect();
    let expected: Vec<Value> = (0..cases.len()).map(Value::from).collect();
    assert_eq!(codes, expected.iter().collect::<Vec<_>>());
    let none = markers(&[], &stream);
    assert_eq!(none.len(), found.len());
    assert!(none.iter().all(|marker| marker["trusted"] == false));
}

#[test]
fn a_bad_nonce_is_bad_usage() {
    let ran = filtered(&["osc", "--nonce", "short"], []);
    assert_eq!(ran.status, 2, "{ran:?}");
}

#[test]
fn a_filter_sees_the_same_in_any_pieces() {
    let stream = "\x1b]633;D;0\x07Ü\rübrig\x1b]133;A\x1b\\\n\x1b[31merror\x1b[0m: 日本\x08\x08x\n";
    for arguments in [["osc"], ["compress"]] {
        let whole = filtered(&arguments, [stream.as_bytes()]).quiet();
        let bytes = filtered(&arguments, stream.as_bytes().chunks(1)).quiet();
        assert_eq!(bytes, whole, "{arguments:?}");
        assert_ne!(whole, "", "{arguments:?}");
    }
}

#[test]
fn a_progress_bar_becomes_its_last_state() {
    let mut bar: String = (0..=100).map(|n| format!("\r\x1b[Kloading {n}%")).collect();
    bar.push_str("\ndone\n");
    let text = filtered(&["compress"], [bar.as_bytes()]).quiet();
    assert_eq!(text, "loading 100%\ndone\n");
    let text = filtered(&["compress", "--progress"], [bar.as_bytes()]).quiet();
    assert!(text.contains("loading 7%\nloading 8%\n"), "{text}");
    assert!(text.ends_with("loading 100%\ndone\n"), "{text}");
}

#[test]
fn a_long_log_keeps_to_its_budget_and_every_notice_names_the_missing_bytes() {
    let mut log = String::new();
    for number in 0..60_000 {
        match number {
            30_000 => log.push_str("thread 'main' panicked at src/main.rs:2:5\n"),
            _ => log.push_str(&format!(
                "2026-11-15 INFO \x1b[32mrequest\x1b[0m {number}\n"
            )),
        }
        if number == 40_000 {
            log.push_str(&"retrying in a moment, please wait\n".repeat(50));
        }
    }
    let arguments = ["compress", "--lines", "60", "--chars", "8000"];
    let text = filtered(&arguments, log.as_bytes().chunks(4_096)).quiet();
    assert!(text.lines().count() <= 60 && text.chars().count() <= 8_000);
    assert!(text.starts_with("2026-11-15 INFO request 0\n"), "{text}");
    assert!(text.ends_with("2026-11-15 INFO request 59999\n"), "{text}");
    assert!(text.contains("panicked at"), "{text}");

    // Putting the missing bytes back gives the whole log.
    let mut whole = String::new();
    let mut notices = 0;
    for line in text.lines() {
        let Some(place) = line.strip_prefix("[... ") else {
            whole.push_str(line);
            whole.push('\n');
            continue;
        };
        let number = |key: &str| -> usize {
            let (_, after) = place.split_once(key).unwrap();
            let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().unwrap()
        };
        let (offset, length) = (number("offset="), number("length="));
        whole.push_str(&log[offset..offset + length]);
        notices += 1;
    }
    assert!(notices >= 2, "{text}");
    let plain = |text: &str| text.replace("\x1b[32m", "").replace("\x1b[0m", "");
    assert_eq!(plain(&whole), plain(&log));

    let again = filtered(&arguments, [text.as_bytes()]).quiet();
    assert_eq!(again, text, "applied twice it changes nothing");
}

#[test]
fn hostile_output_is_clean_text() {
    for (id, stream) in hostile_streams() {
        let text = filtered(&["compress"], [&stream[..]]).quiet();
        assert!(!text.contains(['\x1b', '\x07', '\0']), "{id}: {text:?}");
    }
}

#[test]
fn head_and_tail_can_be_asked_for() {
    let log: String = (0..100).map(|number| format!("{number}\n")).collect();
    let ran = filtered(
        &["compress", "--head", "1", "--tail", "1"],
        [log.as_bytes()],
    );
    assert_eq!(
        ran.quiet(),
        "0\n[... 98 lines left out, offset=2 length=285]\n99\n"
    );
}
