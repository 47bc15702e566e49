//! Which lines look like errors.
//!
//! A guess, and on purpose a generous one: a line kept for nothing costs a
//! line, an error lost costs an hour.

use aho_corasick::{AhoCorasick, MatchKind};
use std::sync::LazyLock;

/// How a word counts.
#[derive(Clone, Copy)]
enum Rule {
    /// As a word of its own, with a usual ending, and not as zero of them.
    Word,
    /// Wherever it stands.
    Anywhere,
}

/// What errors say, in the cases in which they say it.
const WORDS: &[(&str, Rule)] = &[
    ("error", Rule::Word),
    ("Error", Rule::Word),
    ("ERROR", Rule::Word),
    ("fail", Rule::Word),
    ("Fail", Rule::Word),
    ("FAIL", Rule::Word),
    ("fatal", Rule::Word),
    ("Fatal", Rule::Word),
    ("FATAL", Rule::Word),
    ("panic", Rule::Word),
    ("abort", Rule::Word),
    ("Abort", Rule::Word),
    ("exception", Rule::Word),
    ("Exception", Rule::Word),
    ("Traceback", Rule::Anywhere),
    ("ERR!", Rule::Anywhere),
    ("denied", Rule::Anywhere),
    ("refused", Rule::Anywhere),
    ("not found", Rule::Anywhere),
    ("cannot ", Rule::Anywhere),
    ("Cannot ", Rule::Anywhere),
    ("No such file", Rule::Anywhere),
    ("undefined reference", Rule::Anywhere),
    ("ssertion", Rule::Anywhere),
    ("egmentation fault", Rule::Anywhere),
    ("core dumped", Rule::Anywhere),
    ("ut of memory", Rule::Anywhere),
    ("timed out", Rule::Anywhere),
    ("✗", Rule::Anywhere),
    ("✕", Rule::Anywhere),
];

/// Endings with which a word is still the word.
const ENDINGS: &[&str] = &[
    "", "s", "ed", "ing", "ure", "ures", "ked", "URE", "URES", "ED", "S",
];

static SEARCH: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .build(WORDS.iter().map(|(word, _)| word))
        .expect("a fixed list of short words")
});

/// Whether this line looks like an error.
pub fn looks_like_error(line: &str) -> bool {
    SEARCH
        .find_iter(line)
        .any(|found| match WORDS[found.pattern()].1 {
            Rule::Anywhere => true,
            Rule::Word => is_word(line.as_bytes(), found.start(), found.end()),
        })
}

fn is_word(line: &[u8], start: usize, end: usize) -> bool {
    let before = line[..start].last().copied().unwrap_or(b' ');
    // `TypeError` is one, `thiserror`, `error.rs` and `--no-fail-fast` are not.
    let begins = match line[start] {
        b'A'..=b'Z' => !before.is_ascii_uppercase(),
        _ => !before.is_ascii_alphanumeric(),
    };
    if !begins || matches!(before, b'-' | b'_' | b'/' | b'.') {
        return false;
    }
    let rest = &line[end..];
    let letters = rest.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let (ending, after) = rest.split_at(letters);
    if !ENDINGS.iter().any(|known| known.as_bytes() == ending) {
        return false;
    }
    let is_name = match after {
        [b'_' | b'-', next, ..] => next.is_ascii_alphanumeric(),
        [b'.' | b'/', next, ..] => next.is_ascii_alphanumeric(),
        [next, ..] => next.is_ascii_digit(),
        [] => false,
    };
    !is_name && !is_none_of_them(&line[..start])
}

/// `0 errors`, `no errors`.
fn is_none_of_them(before: &[u8]) -> bool {
    let Some(before) = before.strip_suffix(b" ") else {
        return false;
    };
    let count = before.strip_suffix(b"0");
    let is_zero = count.is_some_and(|rest| !rest.last().is_some_and(u8::is_ascii_digit));
    let lower = before.to_ascii_lowercase();
    let is_no = lower.strip_suffix(b"no");
    is_zero || is_no.is_some_and(|rest| !rest.last().is_some_and(u8::is_ascii_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::looks_like_error;

    #[test]
    fn errors_of_many_tools_are_seen() {
        for line in [
            "error[E0308]: mismatched types",
            "src/a.c:3:5: error: expected ';'",
            "ERROR in ./src/index.ts",
            "TypeError: x is not a function",
            "java.lang.NullPointerException: null",
            "thread 'main' panicked at src/main.rs:2:5:",
            "FAILED tests/test_a.py::test_b - AssertionError",
            "test a::b ... FAILED",
            "--- FAIL: TestX (0.00s)",
            "npm ERR! code ELIFECYCLE",
            "fatal: not a git repository",
            "bash: foo: command not found",
            "ls: cannot access 'x': No such file or directory",
            "Traceback (most recent call last):",
            "Segmentation fault (core dumped)",
            "make: *** [all] Error 2",
            "3 failed, 20 passed",
            "10 errors",
            "connect: Connection refused",
            "  ✕ adds numbers (3 ms)",
        ] {
            assert!(looks_like_error(line), "{line}");
        }
    }

    #[test]
    fn ordinary_lines_are_not() {
        for line in [
            "",
            "   Compiling thiserror v2.0.1",
            "   Compiling error-chain v0.12.4",
            "src/error.rs",
            "test result: ok. 5 passed; 0 failed; 0 ignored",
            "0 errors, no failures",
            "cargo test --no-fail-fast",
            "terrors and failsafe",
            "/var/log/error.log",
            "on_error_resume",
        ] {
            assert!(!looks_like_error(line), "{line}");
        }
    }
}
