//! The rules that come with the crate, against their own examples and against
//! the ways around them.
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use glass_model::{ShellKind, Verdict};
use glass_policy::{Command, Layer, RuleFile, RuleSet, decide, failures};
use serde::Deserialize;

const DATA: &str = include_str!("../data/rules.toml");
const CORPUS_RULES: &str = include_str!("../../../tests/corpus/policy/rules.toml");

fn verdict(line: &str, shell: ShellKind, rules: &RuleSet) -> Verdict {
    decide(&Command::parse(line, shell), rules).verdict
}

fn corpus_rules() -> RuleSet {
    RuleSet::new().with(Layer::User, RuleFile::parse(CORPUS_RULES).unwrap())
}

#[test]
fn built_in_rules_do_what_their_examples_say() {
    #[derive(Deserialize)]
    struct Rules {
        rule: toml::Value,
    }
    let rules: Rules = toml::from_str(DATA).unwrap();
    let mut text = toml::Table::new();
    text.insert("rule".to_owned(), rules.rule);
    let file = RuleFile::parse_unchecked(&toml::to_string(&text).unwrap()).unwrap();
    assert!(file.rules.len() > 90);
    let failures: Vec<String> = failures(&file).iter().map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(file.rules.iter().all(|rule| !rule.reason.is_empty()));
}

#[test]
fn dangers_are_found_where_their_examples_say() {
    #[derive(Deserialize)]
    struct Data {
        danger: Vec<Danger>,
    }
    #[derive(Deserialize)]
    struct Danger {
        decision: String,
        reason: String,
        #[serde(default, rename = "match")]
        matches: Vec<String>,
        #[serde(default)]
        not_match: Vec<String>,
    }
    let data: Data = toml::from_str(DATA).unwrap();
    for danger in data.danger {
        let found = |line: &str| {
            let decision = decide(&Command::parse(line, ShellKind::Bash), &RuleSet::new());
            let reason = decision
                .reasons
                .iter()
                .find(|reason| reason.why == danger.reason);
            reason.map(|reason| reason.verdict.name().to_owned())
        };
        for line in &danger.matches {
            assert_eq!(
                found(line).as_deref(),
                Some(danger.decision.as_str()),
                "{line}"
            );
        }
        for line in &danger.not_match {
            assert_eq!(found(line), None, "{line}");
        }
    }
}

/// Lines that must never be allowed, one to a line; `\n` and `\r` are written
/// as such.
const BYPASSES: &str = include_str!("bypasses.txt");

fn lines(text: &str) -> impl Iterator<Item = String> {
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("## "));
    lines.map(|line| {
        line.replace("<NL>", "\n")
            .replace("<CR>", "\r")
            .replace("<TAB>", "\t")
    })
}

#[test]
fn no_way_around_the_rules_is_allowed() {
    let sets = [RuleSet::new(), corpus_rules()];
    let mut wrong = Vec::new();
    for line in lines(BYPASSES) {
        for shell in [ShellKind::Bash, ShellKind::Zsh, ShellKind::Posix] {
            for rules in &sets {
                if verdict(&line, shell, rules) == Verdict::Allow {
                    wrong.push(format!("{shell:?}: {line:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What agents run all day.
const EVERYDAY: &str = include_str!("everyday.txt");

#[test]
fn everyday_commands_run_without_a_question() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in lines(EVERYDAY) {
        count += 1;
        let decision = decide(&Command::parse(&line, ShellKind::Bash), &RuleSet::new());
        if decision.verdict != Verdict::Allow {
            wrong.push(format!("{line:?}: {:?}", decision.reasons));
        }
    }
    assert!(count > 100, "{count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn other_languages_are_never_allowed_and_still_searched_for_danger() {
    for shell in [ShellKind::Fish, ShellKind::Other] {
        assert_eq!(verdict("ls", shell, &RuleSet::new()), Verdict::Ask);
        assert_eq!(
            verdict("begin; rm -rf /; end", shell, &RuleSet::new()),
            Verdict::Deny
        );
    }
}

/// Whoever allows a program does not mean that it runs any other.
#[test]
fn an_allowed_program_runs_no_other_by_its_arguments() {
    let programs = ["git", "tar", "rsync", "fd", "split", "zip", "bat", "printf"];
    let rule = |program: &str| {
        format!("[[rule]]\nprefix = [\"{program}\"]\ndecision = \"allow\"\nreason = \"x\"\n")
    };
    let text: String = programs.map(rule).concat();
    let rules = RuleSet::new().with(Layer::User, RuleFile::parse(&text).unwrap());
    let cases = [
        ("git commit -m x", Verdict::Allow),
        ("git -C a rebase main", Verdict::Allow),
        ("git rebase -ix id main", Verdict::Ask),
        ("git -C a rebase --exe=id main", Verdict::Ask),
        ("git --no-pager -c a=b log", Verdict::Ask),
        ("git -C a -c a=b log", Verdict::Ask),
        ("git bisect run id", Verdict::Ask),
        ("tar xzf a.tgz", Verdict::Allow),
        ("tar xf a --to-co=id", Verdict::Ask),
        ("tar xvIf id a", Verdict::Ask),
        ("rsync -av a b", Verdict::Allow),
        ("rsync -ave id a b:c", Verdict::Ask),
        ("fd -HIx id", Verdict::Ask),
        ("split --filter=id a", Verdict::Ask),
        ("zip -TT id a b", Verdict::Ask),
        ("bat --pag=id a", Verdict::Ask),
        ("printf '%s\\n' a", Verdict::Allow),
        ("printf %d 'x[$(id)]'", Verdict::Ask),
        ("printf %d 'x[`id`]'", Verdict::Ask),
    ];
    for (line, expected) in cases {
        for shell in [ShellKind::Bash, ShellKind::Zsh] {
            assert_eq!(verdict(line, shell, &rules), expected, "{shell:?}: {line}");
        }
    }
}
