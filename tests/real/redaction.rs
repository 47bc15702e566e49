//! `filter redact`, as a person uses it, and what the daemon shows.

mod pages;
pub(crate) mod projections;
mod streams;
mod whole;

use serde_json::Value;
use shellglass_tests::program::{Home, Ran, finish};
use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};

fn started(variables: &[(&str, &str)], arguments: &[&str]) -> (Home, Child) {
    let home = Home::default();
    let mut line = home.line();
    line.args(["filter", "redact"]).args(arguments);
    line.envs(variables.iter().copied());
    line.stdin(Stdio::piped()).stdout(Stdio::piped());
    let child = line.stderr(Stdio::piped()).spawn();
    (home, child.expect("the program can be started"))
}

fn redacted(variables: &[(&str, &str)], arguments: &[&str], text: &[u8]) -> Ran {
    let (_home, mut child) = started(variables, arguments);
    let mut input = child.stdin.take().expect("a pipe");
    let text = text.to_vec();
    let writer = std::thread::spawn(move || input.write_all(&text));
    let ran = finish(child);
    // A filter that refuses its arguments reads nothing.
    let _ = writer.join().unwrap();
    ran
}

fn decode(line: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = line.bytes().filter(|byte| *byte != b'=');
    let digits: Vec<u32> = digits
        .map(|byte| DIGITS.iter().position(|digit| *digit == byte).unwrap() as u32)
        .collect();
    let mut bytes = Vec::new();
    for group in digits.chunks(4) {
        let bits = group.iter().fold(0, |bits, digit| bits << 6 | digit);
        let bits = bits << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}

/// The cases of the corpus.
fn corpus() -> impl Iterator<Item = Value> {
    let lines = include_str!("../corpus/redaction/cases.b64").lines();
    lines.map(|line| serde_json::from_slice(&decode(line)).unwrap())
}

fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().cloned().unwrap_or_default();
    list.iter()
        .map(|one| one.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn every_secret_of_the_corpus_leaves_the_stream_and_near_misses_stay() {
    for case in corpus() {
        let text = case["text"].as_str().unwrap();
        let known = texts(&case["known_secrets"]);
        let variables: Vec<(&str, &str)> = known
            .iter()
            .map(|value| ("CORPUS_SECRET", value.as_str()))
            .collect();
        let out = redacted(&variables, &[], text.as_bytes()).quiet();
        for secret in texts(&case["secrets"]) {
            assert!(!out.contains(&secret), "{}: {out}", case["id"]);
        }
        for kept in texts(&case["must_keep"]) {
            assert!(out.contains(&kept), "{}: {out}", case["id"]);
        }
        if case["redact"] == false {
            assert_eq!(out, text, "{}", case["id"]);
        }
    }
}

#[test]
fn values_of_secret_variables_leave_in_every_form() {
    let variables = [
        ("MY_TOKEN", "kiwi-Banane-77"),
        ("PLAIN", "not-a-secret-at-all"),
    ];
    let text = "kiwi-Banane-77 a2l3aS1CYW5hbmUtNzc= kiwi%2DBanane-77 not-a-secret-at-all\n";
    let out = redacted(&variables, &[], text.as_bytes()).quiet();
    let expected =
        "[REDACTED:MY_TOKEN] [REDACTED:MY_TOKEN]c= [REDACTED:MY_TOKEN] not-a-secret-at-all\n";
    assert_eq!(out, expected);
    let out = redacted(&variables, &["--secret-env", "PLAIN"], text.as_bytes()).quiet();
    assert!(out.ends_with("[REDACTED:PLAIN]\n"), "{out}");
}

#[test]
fn a_prompt_is_not_kept_waiting() {
    let (_home, mut child) = started(&[("MY_TOKEN", "kiwi-Banane-77")], &[]);
    let mut input = child.stdin.take().expect("a pipe");
    let mut output = child.stdout.take().expect("a pipe");
    // The last letter may begin the known value; the pause lets it go.
    for text in ["Password: ", "$ ", "press k"] {
        input.write_all(text.as_bytes()).unwrap();
        let mut seen = vec![0; text.len()];
        output.read_exact(&mut seen).unwrap();
        assert_eq!(seen, text.as_bytes());
    }
    drop(input);
    assert_eq!(finish(child).status, 0);
}

#[test]
fn a_rule_that_does_not_exist_cannot_be_switched_off() {
    let ran = redacted(&[], &["--off", "no-such-rule"], b"");
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("no-such-rule"), "{ran:?}");
}
