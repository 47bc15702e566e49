//! What we say a line runs is what bash runs.
//!
//! Random lines of the small grammar are run by bash, with functions in place
//! of the commands that write down how they were called.
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

#[path = "common/random.rs"]
mod random;

use glass_model::ShellKind;
use random::{Calls, Random, calls, claimed};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::Stdio;

const LINES: usize = 2000;

fn chance(random: &mut Random, percent: usize) -> bool {
    random.below(100) < percent
}

/// A piece of a word, in one of the ways to write it.
fn piece(random: &mut Random) -> String {
    let plain = [
        "a", "b-c", "x.y", "/p/q", "10", "a=b", "%s", "+", ",", ":", "é", "@{1}", "{}",
    ];
    let quoted = [
        "", " ", "a b", "; c0", "$(c0)", "`c0`", "&& x", "| y", "> z", "< w", "#", "(", ")", "\\",
        "\n", "*", "\"", "{a,b}", "~", "!", "$x", "${x}", "é ü",
    ];
    let escaped = [
        " ", ";", "&", "|", "<", ">", "(", ")", "$", "`", "\"", "'", "\\", "#", "*", "~",
    ];
    let in_double = [
        "", " ", "a b", "; c0", "&& x", "\\$x", "\\`c0\\`", "\\\"", "\\\\", "'", "(", ")", "#",
        "a$", "> z", "\n", "*", "\\\n", "{a,b}", "\\a", "~",
    ];
    match random.below(5) {
        0 | 1 => random.pick(&plain).to_owned(),
        2 => format!("'{}'", random.pick(&quoted)),
        3 => format!("\\{}", random.pick(&escaped)),
        _ => format!("\"{}\"", random.pick(&in_double)),
    }
}

fn word(random: &mut Random) -> String {
    let mut word = piece(random);
    while chance(random, 30) {
        word.push_str(&piece(random));
        if chance(random, 10) {
            word.push_str("\\\n");
        }
    }
    if chance(random, 5) {
        word.push('#');
    }
    word
}

fn blank(random: &mut Random) -> &'static str {
    random.pick(&[" ", "  ", "\t", " \\\n ", " "])
}

/// A command that succeeds or fails, as it must for the rest to run.
fn command(random: &mut Random, succeeds: bool, depth: usize) -> String {
    if depth < 3 && chance(random, 12) {
        let inner = list(random, succeeds, depth + 1);
        return match random.below(2) {
            0 => format!("( {inner})"),
            _ => format!("{{ {inner}; }}"),
        };
    }
    let name = if succeeds { "ok" } else { "no" };
    let mut text = format!("{name}{}", random.below(4));
    for _ in 0..random.below(4) {
        text.push_str(blank(random));
        text.push_str(&word(random));
    }
    if chance(random, 20) {
        let redirects = [
            "2>/dev/null",
            ">/dev/null",
            "2>&1",
            ">&2",
            "</dev/null",
            "&>/dev/null",
        ];
        text.push_str(blank(random));
        text.push_str(random.pick(&redirects));
    }
    text
}

fn pipeline(random: &mut Random, succeeds: bool, depth: usize) -> String {
    let negated = chance(random, 10);
    let mut text = if negated { "! " } else { "" }.to_owned();
    while chance(random, 20) {
        let any = chance(random, 50);
        text.push_str(&command(random, any, depth));
        text.push_str(random.pick(&["|", " | ", " |\n ", " |& "]));
    }
    text.push_str(&command(random, succeeds != negated, depth));
    text
}

fn list(random: &mut Random, succeeds: bool, depth: usize) -> String {
    let mut text = String::new();
    while chance(random, 35) {
        let (connector, needs) = match random.below(5) {
            0 => ("&&", true),
            1 => (" && ", true),
            2 => (" || ", false),
            3 => ("; ", chance(random, 50)),
            _ => ("\n", chance(random, 50)),
        };
        text.push_str(&pipeline(random, needs, depth));
        if connector == "\n" && chance(random, 30) {
            text.push_str(" # c0; $(c0) '");
        }
        text.push_str(connector);
    }
    text.push_str(&pipeline(random, succeeds, depth));
    text
}

/// Reads lines that end with NUL, runs each, and writes down every call.
const STUBS: &str = r#"
PATH=/nonexistent
record() {
    local all; printf -v all '%s\037' "$@"; all=${all//$'\n'/$'\034'}
    printf '%s\036' "$all" >> "$LOG"
}
for n in 0 1 2 3; do
    eval "ok$n() { record ok$n \"\$@\"; return 0; }; no$n() { record no$n \"\$@\"; return 1; }"
done
c0() { record INJECTED; }
while IFS= read -r -d '' line; do
    eval "$line" </dev/null
    printf '\035' >> "$LOG"
done
"#;

fn traced(lines: &[String]) -> Vec<Calls> {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut child = std::process::Command::new("bash")
        .args(["--norc", "--noprofile", "-c", STUBS])
        .env_remove("BASH_ENV")
        .env("LC_ALL", "C.UTF-8")
        .env("LOG", &log)
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    for line in lines {
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\0").unwrap();
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    let text = std::fs::read_to_string(&log).unwrap();
    let mut traced: Vec<Calls> = text.split('\u{1d}').map(calls).collect();
    traced.pop();
    traced
}

#[test]
fn simple_commands_are_what_bash_executes() {
    let mut random = Random(0x5eed_1234_abcd_0001);
    let lines: Vec<String> = (0..LINES)
        .map(|_| {
            let succeeds = chance(&mut random, 50);
            list(&mut random, succeeds, 0)
        })
        .collect();
    let traced = traced(&lines);
    assert_eq!(traced.len(), LINES, "bash ran every line");
    let total: usize = traced.iter().flat_map(BTreeMap::values).sum();
    assert!(total > LINES, "{total} calls were traced");
    for (line, traced) in lines.iter().zip(&traced) {
        assert_eq!(
            claimed(line, ShellKind::Bash).as_ref(),
            Some(traced),
            "{line:?}"
        );
    }
}
