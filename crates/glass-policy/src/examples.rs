//! Rules against their examples.

use crate::decide::{Command, decide};
use crate::rules::{Layer, Rule, RuleFile, RuleSet, RulesError};
use glass_model::{ShellKind, Verdict};

/// Every example of a file that its rule does not bear out.
pub fn failures(file: &RuleFile) -> Vec<RulesError> {
    let mut failures = Vec::new();
    for (index, rule) in file.rules.iter().enumerate() {
        let mut fail = |line: &str, how: &str| {
            failures.push(RulesError::Example {
                number: index + 1,
                prefix: rule.prefix.join(" "),
                what: format!("{how}: {line}"),
            });
        };
        let has_effect = |line: &str| takes_effect(rule, &file.rules, line);
        for line in rule.matches.iter().filter(|line| !has_effect(line)) {
            fail(line, "does not match");
        }
        for line in rule.not_matches.iter().filter(|line| has_effect(line)) {
            fail(line, "matches, and should not");
        }
    }
    failures
}

/// Whether a rule decides about a line: an *allow* lets it run, together with
/// its neighbours in a pipeline; any other finds its command in it.
fn takes_effect(rule: &Rule, all: &[Rule], line: &str) -> bool {
    let command = Command::parse(line, ShellKind::Bash);
    match rule.verdict {
        Verdict::Allow => {
            let covered = command
                .line()
                .commands
                .iter()
                .any(|simple| rule.covers(&simple.words));
            let allows = all.iter().filter(|rule| rule.verdict == Verdict::Allow);
            let rules = RuleFile {
                builtin_allow: Some(false),
                rules: allows.cloned().collect(),
            };
            let rules = RuleSet::new().with(Layer::User, rules);
            covered && decide(&command, &rules).verdict == Verdict::Allow
        }
        _ => {
            let mut found = false;
            command.look(&mut |words, _| found |= rule.covers_loosely(words));
            found
        }
    }
}
