//! Commands, and what becomes of them.
#![allow(clippy::unwrap_used, missing_docs, reason = "a failing test panics")]

use glass_adapt::{Adapted, adapt};
use glass_model::ShellKind;
use glass_policy::Command;
use proptest::prelude::*;

fn rewritten(command: &str) -> Option<String> {
    adapt(command, ShellKind::Bash).map(|adapted| adapted.command)
}

#[test]
fn words_are_inserted_and_nothing_else_changes() {
    for (command, wanted) in [
        (
            "codex \"say  'hi'\"  2>&1 # why",
            "codex exec --json \"say  'hi'\"  2>&1 # why",
        ),
        ("  codex 'a b';", "  codex exec --json 'a b';"),
        ("codex exec a\\ b", "codex exec --json a\\ b"),
        ("codex\texec\ta", "codex\texec --json\ta"),
        (
            "codex exec < /dev/null x",
            "codex exec --json < /dev/null x",
        ),
        ("codex 'two\nlines'\n", "codex exec --json 'two\nlines'\n"),
        (
            "claude --model opus 'go on' --add-dir a b",
            "claude -p --output-format stream-json --verbose --model opus 'go on' --add-dir a b",
        ),
        ("npm init", "npm init --yes"),
        ("npm init;", "npm init --yes;"),
    ] {
        assert_eq!(rewritten(command).as_deref(), Some(wanted), "{command}");
    }
}

#[test]
fn variables_are_set_where_the_text_needs_no_change() {
    let Adapted {
        command,
        tool,
        env,
        why,
    } = adapt("git clone 'https://a/b' > log", ShellKind::Posix).unwrap();
    assert_eq!(command, "git clone 'https://a/b' > log");
    assert_eq!(tool, "git");
    assert_eq!(
        env,
        [("GCM_INTERACTIVE", "never"), ("GIT_TERMINAL_PROMPT", "0")]
    );
    assert!(why.contains("a password"), "{why}");
    let pip = adapt("python3 -m pip install x", ShellKind::Zsh).unwrap();
    assert_eq!(pip.env, [("PIP_NO_INPUT", "1")]);
}

#[test]
fn everything_else_is_left_alone() {
    for command in [
        "",
        "ls",
        "codex",
        "/usr/bin/codex 'a b'",
        "\"codex\" 'a b'",
        "c\\odex 'a b'",
        "codex \\\n'a b' | cat",
        "codex 'a b' > out",
        "codex 'a b' &",
        "codex 'a b' && true",
        "codex 'a b'; true",
        "codex \"a $b\"",
        "codex \"$(cat a)\"",
        "X=1 codex 'a b'",
        "(codex 'a b')",
        "! codex 'a b'",
        "{ codex 'a b'; }",
        "time codex 'a b'",
        "if codex 'a b'; then :; fi",
        "codex 'a b' <<< x",
        "codex() { :; }",
        "sudo codex 'a b'",
        "codex 'a b",
        "codex exec --json 'a b'",
        "claude -p --output-format json 'a b'",
        "git -c x=fetch status",
        "git",
        "git -C",
        "npm init vite",
        "npx vite",
        "sudo git fetch",
        "git commit --amend",
        "ssh host",
    ] {
        assert_eq!(rewritten(command), None, "{command}");
    }
}

#[test]
fn other_languages_are_not_read() {
    for shell in [ShellKind::Fish, ShellKind::Other] {
        assert_eq!(adapt("git fetch", shell), None);
    }
}

/// Parts that lines are made of: tools, flags, quotes, and what a line must
/// not have.
fn part() -> impl Strategy<Value = String> {
    let parts = [
        "codex",
        "exec",
        "e",
        "claude",
        "git",
        "fetch",
        "commit",
        "--amend",
        "npm",
        "init",
        "-p",
        "--print",
        "--model",
        "--allowedTools",
        "-C",
        "--",
        "-",
        "'a b'",
        "\"a b\"",
        "a\\ b",
        "x",
        "--json",
        "> out",
        "2>&1",
        "< /dev/null",
        "|",
        "&&",
        ";",
        "&",
        "$x",
        "$(id)",
        "`id`",
        "X=1",
        "(",
        ")",
        "{",
        "}",
        "!",
        "#",
        "*",
        "~",
        "\\\n",
        "\n",
        "<<< x",
        "time",
        "if",
        "''",
        "\"",
        "'",
        "=",
        "pip",
        "install",
        "é",
    ];
    prop::sample::select(parts.to_vec()).prop_map(str::to_owned)
}

fn line() -> impl Strategy<Value = String> {
    // Beginnings that are adapted as they stand, and those that are not.
    let tool = prop::sample::select(vec![
        "codex",
        "codex exec",
        "codex 'a b'",
        "claude",
        "claude -p x",
        "git",
        "git fetch",
        "npm init",
        "pip install",
        "terraform plan",
        "",
    ]);
    let blank = prop::sample::select(vec![" ", "  ", "\t", ""]);
    (tool, prop::collection::vec((blank, part()), 0..6)).prop_map(|(tool, parts)| {
        parts
            .into_iter()
            .fold(tool.to_owned(), |line, (blank, part)| line + blank + &part)
    })
}

/// The laws of an adapted line.
fn check_laws(line: &str, shell: ShellKind) {
    let old = Command::parse(line, shell);
    let Some(adapted) = adapt(line, shell) else {
        return;
    };
    let old = old.line();
    assert!(
        old.failure.is_none() && old.obstacles.is_empty(),
        "{line:?}"
    );
    assert_eq!(old.commands.len(), 1, "{line:?}");
    let read = Command::parse(&adapted.command, shell);
    let new = read.line();
    assert!(
        new.failure.is_none() && new.obstacles.is_empty(),
        "{adapted:?}"
    );
    assert_eq!(new.commands.len(), 1, "{adapted:?}");
    assert_eq!(new.commands[0].redirects, old.commands[0].redirects);
    // The old words are there, in their order and as they were written.
    let mut words = new.commands[0].words.iter();
    for word in &old.commands[0].words {
        assert!(words.any(|new| new == word), "{line:?} lost {word:?}");
    }
    let added = adapted.command.len() - line.len();
    assert!(added > 0 || !adapted.env.is_empty(), "{adapted:?}");
    // What was adapted once is not adapted further.
    let again = adapt(&adapted.command, shell);
    assert!(again.is_none_or(|again| again.command == adapted.command));
    assert!(!adapted.why.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn an_adapted_line_keeps_its_words(line in line()) {
        for shell in [ShellKind::Bash, ShellKind::Zsh, ShellKind::Posix] {
            check_laws(&line, shell);
        }
    }

    #[test]
    fn a_line_with_an_obstacle_is_left_alone(
        line in line(),
        obstacle in prop::sample::select(vec![
            " | cat", " && true", " & true", "; true", " $x", " $(id)", " `id`", " <<< x",
        ]),
    ) {
        prop_assert_eq!(adapt(&format!("{line}{obstacle}"), ShellKind::Bash)
            .filter(|_| !line.contains(['#', '\'', '"', '\\'])), None);
    }

    #[test]
    fn any_text_is_answered(line in "\\PC{0,80}") {
        check_laws(&line, ShellKind::Bash);
        check_laws(&format!("codex {line}"), ShellKind::Bash);
    }
}
