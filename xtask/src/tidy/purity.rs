//! What a crate may not touch. Pure crates touch nothing outside themselves;
//! `unsafe` and new processes each have one place.

use super::source::{code_only, lines_with_word};
use super::{File, Finding, Tree};

/// Crates that only compute.
const PURE_CRATES: &[&str] = &[
    "glass-adapt",
    "glass-model",
    "glass-vt",
    "glass-policy",
    "glass-redact",
];

/// Modules of the standard library that reach outside.
const IMPURE_MODULES: &[&str] = &["fs", "net", "process", "env", "thread", "os"];

/// Other words that reach outside.
const IMPURE_WORDS: &[&str] = &["SystemTime", "Instant", "tokio", "rustix", "libc"];

/// The one place of `unsafe`.
const UNSAFE_FENCE: &str = "crates/glass-spawn/src/sys";

/// Production code that may name a process to start: the spawning crate, hooks
/// (which it starts for them), the relay beside a command on another host (which
/// the keeper starts, and which starts `ssh`), and the binary, which may start itself in the
/// background.
const MAY_START_PROCESSES: &[&str] = &[
    "crates/glass-spawn/",
    "crates/glass-hooks/src/run.rs",
    "crates/glass-remote/src/relay.rs",
    "crates/glass-remote/src/relay/",
    "crates/shellglass/src/detach.rs",
];

/// Finds what stands where it may not.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust().flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let code = code_only(&file.text);
    let mut findings = Vec::new();
    let mut found = |lines: Vec<usize>, message: &str| {
        findings.extend(
            lines
                .into_iter()
                .map(|line| Finding::new(&file.path, line, message)),
        );
    };
    if !file.path.starts_with(UNSAFE_FENCE) {
        let message = format!("`unsafe` belongs in {UNSAFE_FENCE} alone");
        found(lines_with_word(&code, "unsafe"), &message);
    }
    if !may_start_processes(&file.path) {
        let production = production_code(&code);
        found(
            lines_with_word(production, "process::Command"),
            "only glass-spawn starts processes",
        );
    }
    if PURE_CRATES
        .iter()
        .any(|name| file.path.starts_with(&format!("crates/{name}/src/")))
    {
        for word in IMPURE_WORDS {
            found(
                lines_with_word(&code, word),
                &format!("a pure crate may not use {word}"),
            );
        }
        for module in IMPURE_MODULES {
            let message = format!("a pure crate may not use std::{module}");
            found(lines_with_word(&code, &format!("std::{module}")), &message);
        }
        found(
            impure_groups(&code),
            "a pure crate may not import these of std",
        );
    }
    findings
}

fn may_start_processes(path: &str) -> bool {
    let is_production = path.starts_with("crates/")
        && path.contains("/src/")
        && !path.ends_with("tests.rs")
        && !path.contains("/tests/");
    !is_production
        || MAY_START_PROCESSES
            .iter()
            .any(|place| path.starts_with(place))
}

/// What comes before the file's own tests, which stand at its end.
fn production_code(code: &str) -> &str {
    code.split("#[cfg(test)]").next().unwrap_or(code)
}

/// Lines of `use std::{…}` whose braces name an impure module.
fn impure_groups(code: &str) -> Vec<usize> {
    let mut lines = Vec::new();
    for (start, _) in code.match_indices("std::{") {
        let group = &code[start + "std::{".len()..];
        let group = group.split(';').next().unwrap_or(group);
        if IMPURE_MODULES
            .iter()
            .any(|module| !lines_with_word(group, module).is_empty())
        {
            lines.push(code[..start].lines().count().max(1));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::Tree;

    fn check_text(path: &str, text: &str, expected: usize) {
        let found = check(&Tree::of(&[(path, text)]));
        assert_eq!(found.len(), expected, "{path}: {text}: {found:?}");
    }

    #[test]
    fn a_pure_crate_reaches_nothing_outside() {
        let model = "crates/glass-model/src/a.rs";
        check_text(model, "use std::fmt;\n// std::fs is not for us.\n", 0);
        check_text(model, "use std::fs;", 1);
        check_text(model, "use std::{fmt, fs};", 1);
        check_text(model, "let t = std::time::Instant::now();", 1);
        check_text("crates/glass-store/src/a.rs", "use std::fs;", 0);
    }

    #[test]
    fn unsafe_stays_behind_its_fence() {
        check_text("crates/glass-store/src/a.rs", "unsafe { f() }", 1);
        check_text("crates/glass-spawn/src/sys.rs", "unsafe { f() }", 0);
        check_text("crates/glass-spawn/src/sys/fork.rs", "unsafe { f() }", 0);
        check_text(
            "crates/glass-store/src/a.rs",
            "#![forbid(unsafe_code)] // unsafe",
            0,
        );
    }

    #[test]
    fn only_the_spawning_crate_starts_processes() {
        let text = "std::process::Command::new(\"x\")";
        check_text("crates/glass-server/src/a.rs", text, 1);
        check_text("crates/glass-spawn/src/a.rs", text, 0);
        check_text("tests/tests/a.rs", text, 0);
        check_text(
            "crates/glass-server/src/a.rs",
            &format!("#[cfg(test)] mod t {{ {text} }}"),
            0,
        );
    }
}
