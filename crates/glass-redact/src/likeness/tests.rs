use super::{Check, Written, entropy, is_placeholder};

#[test]
fn entropy_is_in_bits() {
    assert!((entropy(b"abcd") - 2.0).abs() < 1e-9);
    assert!(entropy(b"aaaa").abs() < 1e-9);
}

#[test]
fn placeholders_are_told() {
    for text in [
        "",
        "$TOKEN",
        "${TOKEN}",
        "$(cat x)",
        "<token>",
        "{{ .Values.x }}",
        "xxxxxxxx",
        "********",
        "your_api_key",
        "YOUR-TOKEN",
        "changeme",
        "null",
        "%PASSWORD%",
        "1234567890abcdefghij",
        "AKIAIOSFODNN7EXAMPLE",
        "[REDACTED]",
        "abc...xyz",
        "0000000000000000",
        "@TOKEN@",
    ] {
        assert!(is_placeholder(text.as_bytes()), "{text}");
    }
    for text in [
        "hunter2",
        "FakexxigC0PmSMEBgP",
        "FAKEHw2tQXRr3TMxerrf",
        "$ecr3t!word",
    ] {
        assert!(!is_placeholder(text.as_bytes()), "{text}");
    }
}

fn check(check: Check, written: Written, yes: &[&str], no: &[&str]) {
    for value in yes {
        assert!(
            check.accepts(value.as_bytes(), written),
            "{check:?} {written:?} {value}"
        );
    }
    for value in no {
        assert!(
            !check.accepts(value.as_bytes(), written),
            "{check:?} {written:?} not {value}"
        );
    }
}

#[test]
fn random_values_are_told_from_code() {
    check(
        Check::Random,
        Written::Bare,
        &[
            "Fakea6j2tBtRrbe89v",
            "ac20f5a61a3a72bd752f",
            "3cdc49b4-d345-2e74-fcb9-faa102c4e50c",
        ],
        &[
            "process.env.API_KEY",
            "getToken()",
            "TokenKind::Ident",
            "v1.2.3-beta.4",
            "sha256:a3f6bba650026fd28f97",
            "AccessTokenProvider",
            "4096",
            "2030-01-01T00:00:00Z",
            "/run/secrets/db_token",
            "https://example.com/a1b2c3d4",
        ],
    );
}

#[test]
fn passwords_are_told_from_words() {
    check(
        Check::Password,
        Written::Bare,
        &["hunter2", "FakezOLqOtDNQnKwWk", "p@ssw0rd!x"],
        &[
            "String",
            "required",
            "get_password()?",
            "self.password",
            "db_password",
            "&password",
            "old",
        ],
    );
    check(
        Check::Password,
        Written::Variable,
        &["hunter2", "letmeinplease", "correct-horse-battery"],
        &["/run/secrets/db", "db_password", "changeme", "$OTHER"],
    );
    check(
        Check::Password,
        Written::Quoted,
        &["hunter2", "tr0ub4dor&3"],
        &[
            "Password is required",
            "password",
            "enter your password",
            "string",
        ],
    );
}
