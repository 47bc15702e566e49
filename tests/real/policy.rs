//! `policy check` and `policy test`, as programs and people use them.

use serde_json::{Value, json};
use shellglass_tests::program::Home;

const CASES: &str = include_str!("../corpus/policy/cases.jsonl");
const RULES: &str = include_str!("../corpus/policy/rules.toml");

fn checked(home: &Home, arguments: &[&str]) -> Value {
    let mut line = vec!["policy", "check", "--json"];
    line.extend(arguments);
    let text = home.cli(&line).quiet();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn every_case_of_the_corpus_is_read_and_decided_as_it_says() {
    let home = Home::default();
    let rules = home.path().join("rules.toml");
    std::fs::write(&rules, RULES).unwrap();
    let rules = rules.to_str().unwrap();
    let mut wrong = Vec::new();
    for case in CASES.lines() {
        let case: Value = serde_json::from_str(case).unwrap();
        let (command, shell) = (
            case["command"].as_str().unwrap(),
            case["shell"].as_str().unwrap(),
        );
        let answer = checked(&home, &["--shell", shell, "--rules", rules, command]);
        let expected = &case["expect"];
        let allowed = (expected["decision"] == "allow") == (answer["decision"] == "allow");
        let same = |key: &str, is: &str| expected[key].is_null() || expected[key] == answer[is];
        if !allowed
            || !same("simple_commands", "simpleCommands")
            || !same("has_input_redirect", "hasInputRedirect")
            || !same("has_output_redirect", "hasOutputRedirect")
        {
            wrong.push(format!("{}: {answer:#}", case["id"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_answer_has_typed_arguments_and_says_which_part_and_which_rule() {
    let home = Home::default();
    let answer = checked(&home, &["ls 'a b' *.rs $x | git push"]);
    assert_eq!(answer["decision"], json!("ask"));
    assert_eq!(
        answer["simpleCommands"],
        json!(["ls 'a b' *.rs $x", "git push"])
    );
    let parsing = &answer["parsingResult"];
    assert_eq!(parsing["parsingFailed"], json!(false));
    assert_eq!(parsing["executableCommands"][0]["name"], json!("ls"));
    let arguments = &parsing["executableCommands"][0]["args"];
    assert_eq!(arguments[0], json!({"type": "string", "value": "a b"}));
    assert_eq!(arguments[1], json!({"type": "glob", "value": "*.rs"}));
    assert_eq!(arguments[2], json!({"type": "expansion", "value": "$x"}));
    let reasons = answer["reasons"].to_string();
    assert!(
        reasons.contains("`git push`: no rule allows it"),
        "{reasons}"
    );

    let failed = checked(&home, &["ls 'open"]);
    assert_eq!(failed["parsingResult"]["parsingFailed"], json!(true));
    assert_eq!(failed["decision"], json!("ask"));

    let denied = checked(&home, &["sudo sh -c 'rm -rf /'"]);
    assert_eq!(denied["decision"], json!("deny"));
    let allowed = checked(&home, &["git status | head -5"]);
    assert_eq!(allowed["decision"], json!("allow"));
    let reasons = allowed["reasons"].to_string();
    assert!(reasons.contains("built-in: git status"), "{reasons}");
    assert_eq!(
        checked(&home, &["--shell", "fish", "ls"])["decision"],
        json!("ask")
    );
    assert_eq!(
        checked(&home, &["--shell", "pwsh", "ls"])["decision"],
        json!("ask")
    );
}

#[test]
fn people_are_told_what_rule_would_allow_a_command_and_see_what_is_hidden() {
    let home = Home::default();
    let text = home.cli(&["policy", "check", "npm run dev"]).quiet();
    assert!(text.starts_with("ask\n"), "{text}");
    assert!(
        text.contains("prefix = [\"npm\", \"run\", \"dev\"]"),
        "{text}"
    );
    let text = home
        .cli(&["policy", "check", "ls \u{202e}x\u{1b}[2J"])
        .quiet();
    assert!(text.contains("ls <U+202E>x<U+001B>[2J"), "{text}");
    assert!(
        !text.contains('\u{1b}') && !text.contains('\u{202e}'),
        "{text:?}"
    );
}

#[test]
fn rules_are_tested_against_their_examples() {
    let home = Home::default();
    let path = home.path().join("rules.toml");
    let name = path.to_str().unwrap();
    let rule = "[[rule]]\nprefix = [\"git\", \"status\"]\ndecision = \"allow\"\n";
    let good = "match = [\"git status --short\"]\nnot_match = [\"git stash\"]\n";
    std::fs::write(&path, format!("builtin_allow = false\n{rule}{good}")).unwrap();
    let said = home.cli(&["policy", "test", name]).quiet();
    assert_eq!(said, "1 rules, 2 examples, all as they should be\n");

    let bad = "match = [\"git stash\"]\nnot_match = [\"git status\"]\n";
    std::fs::write(&path, format!("{rule}{bad}")).unwrap();
    let ran = home.cli(&["policy", "test", name]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.out().contains("does not match: git stash"), "{ran:?}");
    assert!(
        ran.out().contains("matches, and should not: git status"),
        "{ran:?}"
    );
    home.cli(&["policy", "check", "--rules", name, "ls"])
        .failed_with(1);

    std::fs::write(&path, "[[rule]]\nprefix = []\ndecision = \"allow\"\n").unwrap();
    home.cli(&["policy", "test", name]).failed_with(1);
    std::fs::write(&path, "[[rule]]\nprefix = [\"a\"]\ndecision = \"maybe\"\n").unwrap();
    home.cli(&["policy", "test", name]).failed_with(1);
    home.cli(&["policy", "test", "/nonexistent"]).failed_with(1);
}
