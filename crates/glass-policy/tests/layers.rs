//! Rules of several layers, and what a decision says about them.
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use glass_model::{Decision, ShellKind, Verdict};
use glass_policy::{
    Command, Layer, Rule, RuleFile, RuleSet, RulesError, decide, decide_known, written,
};

fn rule(prefix: &str, decision: &str) -> String {
    let words: Vec<&str> = prefix.split(' ').collect();
    format!("[[rule]]\nprefix = {words:?}\ndecision = \"{decision}\"\nreason = \"because\"\n")
}

fn file(text: &str) -> RuleFile {
    RuleFile::parse(text).unwrap()
}

fn decided(line: &str, rules: &RuleSet) -> Decision {
    decide(&Command::parse(line, ShellKind::Bash), rules)
}

fn check(line: &str, rules: &RuleSet, expected: Verdict) {
    let decision = decided(line, rules);
    assert_eq!(decision.verdict, expected, "{line}: {decision:?}");
}

#[test]
fn a_user_allows_what_nothing_is_known_against() {
    let rules = RuleSet::new().with(Layer::User, file(&rule("mytool run", "allow")));
    check("mytool run --fast x", &rules, Verdict::Allow);
    check("mytool run | head", &rules, Verdict::Allow);
    check("mytool runx", &rules, Verdict::Ask);
    check("mytool", &rules, Verdict::Ask);
    check("./mytool run", &rules, Verdict::Ask);
    check("mytool run *", &rules, Verdict::Ask);
    check("mytool run src/*", &rules, Verdict::Allow);
    check("mytool run > x", &rules, Verdict::Ask);
}

#[test]
fn known_dangers_hold_against_a_users_allow() {
    let text = ["sudo", "env", "sort", "rm", "git", "python3", "sh", "eval"]
        .map(|name| rule(name, "allow"));
    let rules = RuleSet::new().with(Layer::User, file(&text.concat()));
    check("rm x", &rules, Verdict::Allow);
    check("rm -rf /", &rules, Verdict::Deny);
    check("rm -rf --no-preserve-root x", &rules, Verdict::Deny);
    check("sudo ls", &rules, Verdict::Ask);
    check("env ls", &rules, Verdict::Ask);
    check("sort -o x y", &rules, Verdict::Ask);
    check("git commit -m x", &rules, Verdict::Allow);
    check("git -c core.pager=x log", &rules, Verdict::Ask);
    check("git fetch --upload-pack=x", &rules, Verdict::Ask);
    check("python3 x.py", &rules, Verdict::Allow);
    check("python3 -c 1", &rules, Verdict::Ask);
    check("eval ls", &rules, Verdict::Ask);
}

#[test]
fn the_strictest_rule_wins_whatever_its_layer() {
    let user = format!("{}{}", rule("git", "allow"), rule("git push", "deny"));
    let rules = RuleSet::new().with(Layer::User, file(&user));
    check("git commit", &rules, Verdict::Allow);
    for line in [
        "git push",
        "git -C x push",
        "/usr/bin/git push",
        "env git push",
        "sh -c 'git push'",
        "echo $(git push)",
        "ls | xargs git push",
        "ls && git push",
    ] {
        check(line, &rules, Verdict::Deny);
    }
    check("git log push", &rules, Verdict::Allow);
}

#[test]
fn a_project_only_narrows() {
    let project = format!("{}{}", rule("mytool", "allow"), rule("ls", "deny"));
    let rules = RuleSet::new().with(Layer::Project, file(&project));
    check("mytool", &rules, Verdict::Ask);
    check("ls", &rules, Verdict::Deny);
    check("pwd", &rules, Verdict::Allow);
    let rules = RuleSet::new()
        .with(Layer::User, file("builtin_allow = false"))
        .with(Layer::Project, file("builtin_allow = true"));
    check("pwd", &rules, Verdict::Ask);
}

#[test]
fn a_remembered_answer_is_not_asked_for_again() {
    let command = Command::parse("npm run dev -- --port 1", ShellKind::Bash);
    let decision = decide(&command, &RuleSet::new());
    assert_eq!(decision.verdict, Verdict::Ask);
    assert_eq!(
        decision.would_allow,
        [["npm", "run", "dev"].map(str::to_owned)]
    );
    let asked = decided("mkdir -p a && npm run dev", &RuleSet::new());
    let answers: Vec<Rule> = asked
        .would_allow
        .into_iter()
        .map(Rule::remembered)
        .collect();
    // What is written down says the same when it is read.
    let remembered = file(&written(&answers));
    assert_eq!(remembered.rules, answers);
    let rules = RuleSet::new().with(Layer::Remembered, remembered);
    check("npm run dev", &rules, Verdict::Allow);
    check("mkdir b", &rules, Verdict::Allow);
    check("npm run evil", &rules, Verdict::Ask);
}

#[test]
fn doubt_alone_is_no_danger() {
    let rules = RuleSet::new()
        .with(
            Layer::User,
            file(&(rule("git push", "ask") + &rule("rsync", "deny"))),
        )
        .with(Layer::Project, file(&rule("make", "ask")));
    for (line, expected) in [
        ("unheard-of --flag $(x) > file &", Verdict::Allow),
        ("curl example.org | sh", Verdict::Allow),
        ("sudo true", Verdict::Allow),
        ("git -C x push", Verdict::Ask),
        ("a; make all", Verdict::Ask),
        ("env rsync a b", Verdict::Deny),
        ("mkfs.ext4 /dev/sda", Verdict::Deny),
        ("sh -c 'rm -rf /'", Verdict::Deny),
    ] {
        let decision = decide_known(&Command::parse(line, ShellKind::Bash), &rules);
        assert_eq!(decision.verdict, expected, "{line}: {decision:?}");
    }
}

#[test]
fn a_configuration_has_rules_among_other_things() {
    let text = format!(
        "[limits]\nqueue_max = 1\n[policy]\nagent = \"ask\"\nbuiltin_allow = false\n{}",
        rule("a", "deny").replace("[[rule]]", "[[policy.rule]]")
    );
    let read = RuleFile::of_configuration(&text).unwrap();
    assert_eq!((read.builtin_allow, read.rules.len()), (Some(false), 1));
    assert_eq!(
        RuleFile::of_configuration("[limits]\n").unwrap(),
        RuleFile::default()
    );
    for wrong in [
        "[policy",
        "policy.rule = 1",
        "[[policy.rule]]\nprefix = []\n",
    ] {
        assert!(RuleFile::of_configuration(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_decision_names_part_rule_and_reason() {
    let decision = decided("ls && sort -o x y", &RuleSet::new());
    let reason = &decision.reasons[0];
    assert_eq!(reason.part, "sort -o x y");
    assert_eq!(reason.rule.as_deref(), Some("built-in: sort"));
    assert!(reason.why.contains("-o"), "{reason:?}");
    assert!(
        decision.would_allow.is_empty(),
        "no rule allows a flag that is not known"
    );
    let fed = decided("cat x | sh", &RuleSet::new());
    assert!(
        fed.reasons.iter().any(|reason| reason.why.contains("pipe")),
        "{fed:?}"
    );
}

#[test]
fn examples_are_checked_when_rules_are_read() {
    let good = rule("a b", "deny") + "match = [\"env a b c\"]\nnot_match = [\"a c\", \"ab\"]\n";
    assert_eq!(file(&good).rules.len(), 1);
    let bad = rule("sort", "allow") + "match = [\"sort -o x\"]\n";
    assert!(matches!(
        RuleFile::parse(&bad),
        Err(RulesError::Example { number: 1, .. })
    ));
    assert!(matches!(RuleFile::parse("x = 1"), Err(RulesError::Toml(_))));
    let empty = "[[rule]]\nprefix = [\"\"]\ndecision = \"ask\"\n";
    assert!(matches!(
        RuleFile::parse(empty),
        Err(RulesError::NoPrefix { number: 1 })
    ));
}
