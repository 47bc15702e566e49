//! Laws that hold for every command.
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

#[path = "common/hostile.rs"]
#[allow(dead_code, reason = "others use the rest")]
mod hostile;

use glass_model::{ShellKind, Verdict};
use glass_policy::{Command, RuleSet, decide, limits};
use proptest::prelude::*;

fn verdict(line: &str, shell: ShellKind) -> Verdict {
    decide(&Command::parse(line, shell), &RuleSet::new()).verdict
}

fn shells() -> impl Strategy<Value = ShellKind> {
    prop_oneof![
        Just(ShellKind::Bash),
        Just(ShellKind::Zsh),
        Just(ShellKind::Posix)
    ]
}

fn harmless() -> impl Strategy<Value = String> {
    let one = prop_oneof![
        Just("ls -la".to_owned()),
        Just("git status -sb".to_owned()),
        Just("cat 'a b' c".to_owned()),
        Just("grep -rn \"x y\" src".to_owned()),
        Just("find . -name '*.rs'".to_owned()),
        Just("sort -u names 2>/dev/null".to_owned()),
        Just("sed -n '1,5p' x".to_owned()),
        Just("cargo test -p a -- --nocapture".to_owned()),
        "[a-z]{1,8}".prop_map(|word| format!("echo {word} '{word}; {word}'")),
    ];
    let connector = prop_oneof![
        Just(" && "),
        Just(" || "),
        Just("; "),
        Just(" | "),
        Just("\n")
    ];
    (
        one.clone(),
        proptest::collection::vec((connector, one), 0..3),
    )
        .prop_map(|(first, rest)| {
            rest.into_iter()
                .fold(first, |line, (connector, next)| line + connector + &next)
        })
}

/// Something that turns a harmless line into one that is not.
fn addition() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop::sample::select(vec![
        ("", "; evil"),
        ("", " && evil"),
        ("", " || evil"),
        ("", " | evil"),
        ("", " |& evil"),
        ("", "\nevil"),
        ("", "\n\n  evil x"),
        ("", " &"),
        ("", " & evil"),
        ("evil; ", ""),
        ("evil && ", ""),
        ("evil | ", ""),
        ("evil\n", ""),
        ("", " $(evil)"),
        ("", " `evil`"),
        ("", " \"$(evil)\""),
        ("", " <(evil)"),
        ("", " $x"),
        ("", " \"${x}\""),
        ("", " $((1))"),
        ("", " > out"),
        ("", " >> out"),
        ("", " < in"),
        ("", " 2> out"),
        ("", " &> out"),
        ("", " >| out"),
        ("", " <<< x"),
        ("", " <<EOF\nx\nEOF"),
        ("> out ", ""),
        ("A=b ", ""),
        ("PATH=. ", ""),
        ("a[0]=x ", ""),
        ("A=b; ", ""),
        ("sudo ", ""),
        ("env ", ""),
        ("eval ", ""),
        ("exec ", ""),
        ("command ", ""),
        ("xargs ", ""),
        ("sh -c ", ""),
        ("time ", ""),
        ("coproc ", ""),
        ("./", ""),
        ("/tmp/", ""),
        ("x() { ", "; }"),
        ("if true; then ", "; fi"),
        ("for x in a; do ", "; done"),
        ("( ", "; evil )"),
        ("{ ", "; evil; }"),
        ("", "\r"),
        ("", " \u{202e}"),
        ("", " '"),
        ("", " \""),
        ("", " ("),
        ("", " )"),
        ("", " {a,$(evil)}"),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn what_is_added_to_an_allowed_line_is_never_allowed_with_it(
        line in harmless(),
        (before, after) in addition(),
        shell in shells(),
    ) {
        prop_assert_eq!(verdict(&line, shell), Verdict::Allow, "{}", line);
        let changed = format!("{before}{line}{after}");
        prop_assert_ne!(verdict(&changed, shell), Verdict::Allow, "{}", changed);
    }

    #[test]
    fn anything_can_be_read_and_is_bounded(
        line in "[ -~\n\t]{0,200}|(\\PC|[$(){}`'\"\\\\<>&|;#!\n ]){0,120}",
        shell in shells(),
    ) {
        let command = Command::parse(&line, shell);
        let reading = command.reading();
        prop_assert!(reading.simple_commands.len() <= limits::COMMANDS_MAX);
        prop_assert!(reading.executable_commands.len() <= reading.simple_commands.len());
        decide(&command, &RuleSet::new());
    }

    #[test]
    fn quoting_keeps_a_line_a_single_argument(text in "[ -&(-~]{0,40}") {
        // Everything but the single quote.
        let line = format!("echo '{text}'");
        prop_assert_eq!(verdict(&line, ShellKind::Bash), Verdict::Allow, "{}", line);
        let reading = Command::parse(&line, ShellKind::Bash).reading();
        prop_assert_eq!(&reading.executable_commands[0].arguments[0].value, &text);
    }
}

#[test]
fn the_worst_lines_are_bounded() {
    for unit in hostile::UNITS {
        for tail in hostile::TAILS {
            let line = hostile::line(unit, tail, limits::PROVABLE_BYTES_MAX);
            let command = Command::parse(&line, ShellKind::Bash);
            assert!(command.reading().simple_commands.len() <= limits::COMMANDS_MAX);
            assert_ne!(decide(&command, &RuleSet::new()).verdict, Verdict::Allow);
        }
    }
    let long = "x".repeat(limits::LINE_BYTES_MAX + 1);
    assert!(
        Command::parse(&long, ShellKind::Bash)
            .reading()
            .parsing_failed
    );
}
