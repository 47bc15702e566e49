//! The cases of the corpus: what must never be allowed is not, and what is
//! harmless is.
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use glass_model::{ShellKind, Verdict};
use glass_policy::{Command, Layer, RuleFile, RuleSet, decide};
use serde_json::Value;

const CASES: &str = include_str!("../../../tests/corpus/policy/cases.jsonl");
const RULES: &str = include_str!("../../../tests/corpus/policy/rules.toml");

fn cases() -> Vec<Value> {
    let cases = CASES
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let cases: Vec<Value> = cases.collect();
    assert!(cases.len() > 300, "the corpus is there");
    cases
}

fn command(case: &Value) -> Command {
    let shell = ShellKind::of_program(case["shell"].as_str().unwrap());
    Command::parse(case["command"].as_str().unwrap(), shell)
}

fn shown(case: &Value) -> String {
    let command = case["command"].as_str().unwrap();
    let start: String = command.chars().take(80).collect();
    format!("{} {start:?}", case["id"])
}

#[test]
fn commands_and_redirects_are_those_of_the_corpus() {
    let mut wrong = Vec::new();
    for case in cases() {
        let reading = command(&case).reading();
        let expected = &case["expect"];
        let commands = &expected["simple_commands"];
        let same_commands = commands.is_null()
            || !reading.parsing_failed
                && serde_json::to_value(&reading.simple_commands).unwrap() == *commands;
        let same = |key: &str, is: bool| expected[key].as_bool().is_none_or(|said| said == is);
        if !same_commands
            || !same("has_input_redirect", reading.has_input_redirect)
            || !same("has_output_redirect", reading.has_output_redirect)
        {
            wrong.push(format!("{} read as {reading:?}", shown(&case)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_is_allowed_that_must_not_be_and_everything_harmless_is() {
    let rules = RuleSet::new().with(Layer::User, RuleFile::parse(RULES).unwrap());
    let mut wrong = Vec::new();
    let mut harmless = 0;
    for case in cases() {
        let decision = decide(&command(&case), &rules);
        let expected = case["expect"]["decision"].as_str().unwrap();
        harmless += usize::from(expected == "allow");
        if (expected == "allow") != (decision.verdict == Verdict::Allow) {
            wrong.push(format!("{} {:?}", shown(&case), decision.reasons));
        }
    }
    assert!(harmless > 60, "the corpus has harmless cases");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
