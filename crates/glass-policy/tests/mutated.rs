//! Lines near the corpus that we allow run nothing in a real shell but what we
//! said, and write nothing.
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

#[path = "common/random.rs"]
mod random;

use glass_model::{ShellKind, Verdict};
use glass_policy::{Command, Layer, RuleFile, RuleSet, decide};
use random::Random;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::Stdio;

const CASES: &str = include_str!("../../../tests/corpus/policy/cases.jsonl");
const RULES: &str = include_str!("../../../tests/corpus/policy/rules.toml");

/// Lines that are tried for each shell; some hundreds of them are allowed.
const TRIES: usize = 20_000;

const PIECES: &[&str] = &[
    ";",
    "&&",
    "||",
    "|",
    "|&",
    "&",
    "\n",
    "#",
    "'",
    "\"",
    "\\",
    "$",
    "$?",
    "$(",
    ")",
    "`",
    "(",
    "{",
    "}",
    "<",
    ">",
    ">&2",
    "2>&1",
    "2>/dev/null",
    "&>/dev/null",
    "!",
    "*",
    "?",
    "[",
    "]",
    "~",
    "=",
    " ",
    "  ",
    "\t",
    "\\\n",
    "-",
    "--",
    "evil",
    "; evil",
    "<(evil)",
    "EOF",
    "<<",
    "<<<",
    "a",
    "x=y",
    "^",
    "%",
    "@",
    "+",
    ":",
    ",",
    "..",
    "\"'\"",
    "'\"'",
    "é",
    "$'",
    "$\"",
    "((",
    "))",
    "[[",
    "]]",
    "1",
];

fn mutated(random: &mut Random, line: &str) -> String {
    let mut chars: Vec<String> = line.chars().map(String::from).collect();
    for _ in 0..=random.below(3) {
        let at = random.below(chars.len() + 1);
        match random.below(4) {
            0 if at < chars.len() => {
                chars.remove(at);
            }
            1 if at < chars.len() => chars[at] = random.pick(PIECES).to_owned(),
            _ => chars.insert(at, random.pick(PIECES).to_owned()),
        }
    }
    chars.concat()
}

fn allowed(shell: ShellKind, seed: u64) -> Vec<String> {
    let rules = RuleSet::new().with(Layer::User, RuleFile::parse(RULES).unwrap());
    let cases: Vec<Value> = CASES
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let lines: Vec<&str> = cases
        .iter()
        .map(|case| case["command"].as_str().unwrap())
        .filter(|line| line.len() < 200)
        .collect();
    let mut random = Random(seed);
    let mut found = BTreeSet::new();
    for _ in 0..TRIES {
        let original = random.pick(&lines).to_owned();
        let line = mutated(&mut random, &original);
        let command = Command::parse(&line, shell);
        let mut words = command
            .line()
            .commands
            .iter()
            .flat_map(|simple| &simple.words);
        // What these become is not ours to say.
        let expands = words.any(|word| word.expands || word.tilde);
        if !expands && decide(&command, &rules).verdict == Verdict::Allow {
            found.insert(line);
        }
    }
    found.into_iter().collect()
}

/// Functions in place of everything that could be called.
const STUBS: &str = r#"
PATH=/nonexistent
record() {
    local all; builtin printf -v all '%s\037' "$@"; all=${all//$'\n'/$'\034'}
    builtin printf '%s\036' "$all" >> "$LOG"
}
names='ls cat head tail wc grep rg find echo pwd cargo npm sed sort date true git id evil cd export
    alias trap source read printf declare typeset test unset umask hash enable command let sh bash'
for n in ${=names:-$names}; do builtin eval "$n() { record $n \"\$@\"; }"; done
command_not_found_handle() { record UNKNOWN "$@"; }
command_not_found_handler() { record UNKNOWN "$@"; }
while IFS= builtin read -r -d '' line; do
    builtin eval "$line" </dev/null
    builtin printf '\035' >> "$LOG"
done
"#;

type Calls = BTreeMap<Vec<String>, usize>;

fn traced(program: &str, flags: &[&str], stubs: &str, lines: &[String]) -> (Vec<Calls>, usize) {
    let log = tempfile::NamedTempFile::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut child = std::process::Command::new(program)
        .args(flags)
        .args(["-c", stubs])
        .env("LC_ALL", "C.UTF-8")
        .env("LOG", log.path())
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
    child.wait().unwrap();
    let text = std::fs::read_to_string(log.path()).unwrap();
    let mut traced: Vec<Calls> = text.split('\u{1d}').map(random::calls).collect();
    traced.pop();
    (traced, std::fs::read_dir(folder.path()).unwrap().count())
}

fn check(shell: ShellKind, program: &str, flags: &[&str], stubs: &str) {
    let lines = allowed(shell, 0x0dd5_eed5_0000_0001);
    assert!(lines.len() > 300, "{} lines are allowed", lines.len());
    let (traced, written) = traced(program, flags, stubs, &lines);
    assert_eq!(traced.len(), lines.len(), "{program} ran every line");
    assert_eq!(written, 0, "files were written");
    let total: usize = traced.iter().flat_map(BTreeMap::values).sum();
    assert!(total >= lines.len() / 2, "{total} calls were traced");
    for (line, traced) in lines.iter().zip(&traced) {
        let claimed = random::claimed(line, shell).unwrap();
        for (call, count) in traced {
            let most = claimed.get(call).copied().unwrap_or(0);
            assert!(
                *count <= most,
                "{line:?} called {call:?}; we said {claimed:?}"
            );
        }
    }
}

#[test]
fn bash_runs_nothing_but_what_was_allowed() {
    let stubs = STUBS.replace("${=names:-$names}", "$names");
    check(ShellKind::Bash, "bash", &["--norc", "--noprofile"], &stubs);
}

#[test]
fn zsh_runs_nothing_but_what_was_allowed() {
    // A pattern that matches nothing stays as it is, as in bash.
    let stubs = STUBS.replace("${=names:-$names}", "${=names}");
    let stubs = format!("setopt no_nomatch no_bad_pattern\n{stubs}");
    check(ShellKind::Zsh, "zsh", &["-f"], &stubs);
}
