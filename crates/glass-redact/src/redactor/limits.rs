//! Every bound is one: no part of a secret gets out because it is long, and what
//! is held stays little.

use super::Redactor;
use crate::limits::{
    ADDED_RULES_MAX, BLOCK_HEADER_WORDS_MAX, CANDIDATES_MAX, KNOWN_BYTES_MAX, KNOWN_BYTES_MIN,
    KNOWN_VALUES_MAX, NAME_BYTES_MAX, PAUSE_BYTES_MAX, TOKEN_BYTES_MAX, USERINFO_BYTES_MAX,
    VALUE_BYTES_MAX,
};
use crate::{Detector, HELD_BYTES_MAX, Known, RuleError, RuleText, Rules};
use std::sync::Arc;

/// So many bytes that look like nothing but a secret.
fn noise(bytes: usize) -> String {
    let letters = b"aB3dE6gH9kLm2pQr5tUv8xYz";
    let mut state = 0x2545_f491_u32;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        char::from(letters[state as usize % letters.len()])
    };
    (0..bytes).map(next).collect()
}

/// What is left of a text that comes in pieces; what is held stays bounded.
fn left(detector: &Arc<Detector>, text: &str) -> String {
    let mut redactor = Redactor::new(detector.clone());
    let mut out = Vec::new();
    for piece in text.as_bytes().chunks(1000) {
        redactor.push(piece, &mut out);
        assert!(redactor.held_bytes() <= HELD_BYTES_MAX);
    }
    redactor.finish(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Whether any sixteen bytes of a secret are still there.
fn survives(secret: &str, out: &str) -> bool {
    let windows = secret.as_bytes().windows(16);
    windows
        .step_by(7)
        .any(|part| out.contains(std::str::from_utf8(part).unwrap_or_default()))
}

#[test]
fn a_secret_of_any_length_is_gone_to_its_end() {
    let builtin = Arc::new(Detector::builtin());
    for bytes in [
        VALUE_BYTES_MAX - 1,
        VALUE_BYTES_MAX + 1,
        TOKEN_BYTES_MAX - 1,
        TOKEN_BYTES_MAX + 1,
        HELD_BYTES_MAX + 1,
        3 * HELD_BYTES_MAX,
    ] {
        let secret = noise(bytes);
        for text in [
            format!("a github_pat_{secret} b"),
            format!("DB_PASSWORD={secret}\nb"),
            format!("{{\"api_key\": \"{secret}\"}} b"),
            format!("-----BEGIN RSA PRIVATE KEY-----\n{secret}\n"),
        ] {
            let out = left(&builtin, &text);
            let start: String = text.chars().take(40).collect();
            assert!(out.contains("[REDACTED"), "{bytes} {start}");
            assert!(!survives(&secret, &out), "{bytes} {start}");
        }
    }
}

#[test]
fn a_password_of_an_address_is_looked_for_so_far() {
    let builtin = Arc::new(Detector::builtin());
    let url = |secret: &str| format!("https://me:{secret}@host/x");
    let secret = noise(USERINFO_BYTES_MAX - 100);
    assert_eq!(
        left(&builtin, &url(&secret)),
        "https://me:[REDACTED:address-password]@host/x"
    );
    // Beyond, nothing is held back for it.
    let mut redactor = Redactor::new(builtin);
    let mut out = Vec::new();
    redactor.push(url(&noise(4 * USERINFO_BYTES_MAX)).as_bytes(), &mut out);
    assert!(redactor.held_bytes() <= USERINFO_BYTES_MAX);
}

#[test]
fn a_value_may_be_so_far_from_its_name() {
    let builtin = Arc::new(Detector::builtin());
    let text = |gap: usize| format!("DB_PASSWORD ={}{}\n", " ".repeat(gap), "hunter2-Z9x-Q");
    assert!(left(&builtin, &text(NAME_BYTES_MAX / 2)).contains("[REDACTED"));
    let far = text(2 * NAME_BYTES_MAX);
    assert_eq!(left(&builtin, &far), far);
}

#[test]
fn so_many_secrets_may_begin_at_once_and_none_of_the_first_is_lost() {
    let builtin = Arc::new(Detector::builtin());
    let token = format!("ghp_{}", noise(36));
    let names = "token=".repeat(10 * CANDIDATES_MAX);
    let out = left(&builtin, &format!("{names}{token} {token}\n"));
    assert!(!survives(&token[4..], &out), "{out}");
}

#[test]
fn known_values_have_a_least_and_a_most() {
    let mut known = Known::new();
    let value = noise(KNOWN_BYTES_MIN);
    assert!(!known.add("SHORT", &value.as_bytes()[1..]));
    assert!(known.add("LEAST", value.as_bytes()));
    let long = noise(KNOWN_BYTES_MAX + 100);
    assert!(known.add("LONG", long.as_bytes()));
    let detector = Arc::new(Detector::new(Rules::builtin(), &known));
    assert_eq!(
        left(&detector, &format!("a {value} b")),
        "a [REDACTED:LEAST] b"
    );
    // Of one that is longer, its head goes.
    let out = left(&detector, &format!("a {long} b"));
    assert!(out.starts_with("a [REDACTED:LONG]"), "{out}");
    assert!(!survives(&long[..KNOWN_BYTES_MAX], &out), "{out}");
}

#[test]
fn there_are_only_so_many_known_values() {
    let mut known = Known::new();
    for number in 0..KNOWN_VALUES_MAX {
        assert!(known.add("V", format!("q{number:07}-zX").as_bytes()));
    }
    assert!(!known.add("V", b"one-More-77x"));
    let detector = Arc::new(Detector::new(Rules::builtin(), &known));
    let last = format!("q{:07}-zX", KNOWN_VALUES_MAX - 1);
    assert_eq!(left(&detector, &last), "[REDACTED:V]");
}

#[test]
fn a_configuration_has_only_so_many_rules_of_such_a_size() {
    let rule = |number: usize, shape: &str| RuleText {
        name: format!("own-{number}"),
        reason: "Ours.".to_owned(),
        literals: vec![format!("own{number}_")],
        shape: shape.to_owned(),
        matches: vec![format!("own{number}_a1b2c3d4e5")],
        ..RuleText::default()
    };
    let rules = |count: usize| {
        (0..count)
            .map(|number| rule(number, "[a-z0-9]{10}"))
            .collect()
    };
    let most: Vec<RuleText> = rules(ADDED_RULES_MAX);
    assert!(Rules::with(&most, &[]).is_ok());
    let more: Vec<RuleText> = rules(ADDED_RULES_MAX + 1);
    assert!(matches!(Rules::with(&more, &[]), Err(RuleError::TooMany)));
    let huge = Rules::with(&[rule(0, "[a-z]{9}{99}{999}")], &[]);
    let why = huge.expect_err("refused").to_string();
    assert!(why.contains("bad pattern"), "{why}");
}

#[test]
fn between_the_first_line_of_a_key_and_its_body_are_so_many_words() {
    let builtin = Arc::new(Detector::builtin());
    let body = noise(64);
    let text = |words: usize| {
        let header = "Proc-Type: ".repeat(words / 2);
        format!("-----BEGIN RSA PRIVATE KEY-----\n{header}\n{body}\n{body}\n")
    };
    assert!(!survives(
        &body,
        &left(&builtin, &text(BLOCK_HEADER_WORDS_MAX - 2))
    ));
    let prose = text(4 * BLOCK_HEADER_WORDS_MAX);
    assert!(left(&builtin, &prose).contains("Proc-Type"));
}

#[test]
fn a_pause_lets_so_few_bytes_of_a_known_value_go() {
    let mut known = Known::new();
    assert!(known.add("V", b"kiwi-Banane-77"));
    let detector = Arc::new(Detector::new(Rules::builtin(), &known));
    for (start, leaves) in [("kiw", true), ("kiwi", false)] {
        assert_eq!(start.len() <= PAUSE_BYTES_MAX, leaves);
        let mut redactor = Redactor::new(detector.clone());
        let mut out = Vec::new();
        redactor.push(start.as_bytes(), &mut out);
        redactor.pause(&mut out);
        assert_eq!(!out.is_empty(), leaves, "{start}");
    }
}
