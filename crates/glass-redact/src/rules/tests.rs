use super::{RuleError, RuleText, Rules, builtin_texts, check_examples};
use crate::{Detector, Known, Redactor};
use std::sync::Arc;

/// Puts made-up characters in the place of `<<alphabet:length>>`. What looks
/// like a secret would otherwise alarm whoever scans this repository.
fn expand(text: &str, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut draw = |alphabet: &[u8]| -> char {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let at = (state >> 33) as usize % alphabet.len();
        char::from(alphabet[at])
    };
    let mut expanded = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("<<") {
        let end = start + rest[start..].find(">>").expect("an alphabet is closed");
        let (name, length) = rest[start + 2..end]
            .split_once(':')
            .expect("name and length");
        let lower = "abcdefghijklmnopqrstuvwxyz";
        let alnum = format!("{lower}{}0123456789", lower.to_uppercase());
        let alphabet = match name {
            "alnum" => alnum,
            "url" => format!("{alnum}_-"),
            "base64" => format!("{alnum}+/"),
            "hex" => "0123456789abcdef".to_owned(),
            "HEX" => "0123456789ABCDEF".to_owned(),
            "digit" => "0123456789".to_owned(),
            _ => panic!("no alphabet {name}"),
        };
        expanded.push_str(&rest[..start]);
        let length: usize = length.parse().expect("a length");
        expanded.extend((0..length).map(|_| draw(alphabet.as_bytes())));
        rest = &rest[end + 2..];
    }
    expanded.push_str(rest);
    expanded
}

fn expanded(text: &RuleText, seed: u64) -> RuleText {
    let all = |examples: &[String]| examples.iter().map(|one| expand(one, seed)).collect();
    RuleText {
        matches: all(&text.matches),
        not_match: all(&text.not_match),
        ..text.clone()
    }
}

#[test]
fn every_builtin_rule_does_justice_to_its_examples() {
    let detector = Arc::new(Detector::builtin());
    let mut failures = Vec::new();
    for text in builtin_texts() {
        assert!(!text.matches.is_empty(), "{} has no example", text.name);
        for seed in 1..=20 {
            if let Err(error) = check_examples(&detector, &expanded(&text, seed)) {
                failures.push(format!("seed {seed}: {error}"));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn no_part_of_an_example_survives_being_cut_anywhere() {
    let detector = Arc::new(Detector::builtin());
    for text in builtin_texts() {
        for example in expanded(&text, 7).matches {
            let bytes = example.as_bytes();
            let whole = Redactor::redact_all(&detector, bytes);
            for cut in 0..=bytes.len() {
                let mut redactor = Redactor::new(detector.clone());
                let mut out = Vec::new();
                redactor.push(&bytes[..cut], &mut out);
                redactor.push(&bytes[cut..], &mut out);
                redactor.finish(&mut out);
                assert_eq!(out, whole, "{} cut at {cut}: {example}", text.name);
            }
        }
    }
}

fn own_rule() -> RuleText {
    RuleText {
        name: "corp".to_owned(),
        reason: "ours".to_owned(),
        literals: vec!["corp_".to_owned()],
        shape: "[a-z0-9]{10}".to_owned(),
        matches: vec!["x corp_a1b2c3d4e5".to_owned()],
        not_match: vec!["corp_short".to_owned()],
        ..RuleText::default()
    }
}

#[test]
fn a_configuration_adds_rules_and_switches_them_off() {
    let rules = Rules::with(&[own_rule()], &["github-token".to_owned()]).expect("rules");
    let detector = Arc::new(Detector::new(rules, &Known::new()));
    let github = expand("ghp_<<alnum:36>>", 1);
    let text = format!("corp_a1b2c3d4e5 {github}");
    let out = Redactor::redact_all(&detector, text.as_bytes());
    let expected = format!("corp_[REDACTED:corp] {github}");
    assert_eq!(String::from_utf8_lossy(&out), expected);
}

#[test]
fn bad_rules_are_refused_with_their_reason() {
    let refused = |change: fn(&mut RuleText)| {
        let mut rule = own_rule();
        change(&mut rule);
        Rules::with(&[rule], &[]).expect_err("refused").to_string()
    };
    assert!(refused(|rule| rule.shape = "(".to_owned()).contains("bad pattern"));
    assert!(refused(|rule| rule.name = "a]b".to_owned()).contains("needs a name"));
    assert!(refused(|rule| rule.literals.clear()).contains("needs literals"));
    assert!(refused(|rule| rule.reason.clear()).contains("needs a reason"));
    assert!(
        refused(|rule| rule.matches = vec!["nothing".to_owned()]).contains("fails its own example")
    );
    assert_eq!(
        Rules::with(&[], &["nope".to_owned()]).expect_err("refused"),
        RuleError::NoSuchRule("nope".to_owned())
    );
}
