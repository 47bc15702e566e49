//! How much a value looks like a secret, and how much like code or a
//! placeholder. Over-redaction corrupts what people and models read, so doubt
//! keeps the value.

use crate::automaton::{Automaton, Literal};
use crate::words::is_words;
use serde::Deserialize;
use std::sync::LazyLock;

/// What a value must look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// Anything but a placeholder: the shape says the rest.
    #[default]
    Shape,
    /// Drawn by a generator.
    Random,
    /// Chosen by a person.
    Password,
}

/// How a value was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// In quotes.
    Quoted,
    /// Behind `NAME=`, as in a list of variables.
    Variable,
    /// Otherwise.
    Bare,
}

impl Check {
    /// Whether the value looks like a secret.
    pub(crate) fn accepts(self, value: &[u8], written: Written) -> bool {
        // What costs least comes first: most values are words or code.
        match self {
            Check::Shape => !is_placeholder(value),
            Check::Random => is_random(value) && !is_code(value, written) && !is_placeholder(value),
            Check::Password => is_password(value, written) && !is_placeholder(value),
        }
    }
}

/// Words that stand for a value that somebody else has.
const PLACEHOLDER_PARTS: &[&str] = &[
    "example",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "change-this",
    "redacted",
    "replace",
    "insert",
    "your_",
    "your-",
    "yourtoken",
    "yourkey",
    "yourpass",
    "yoursecret",
    "yourapikey",
    "dummy",
    "notasecret",
    "not-a-secret",
    "not_a_secret",
    "notreal",
    "xxxxx",
    "...",
    "***",
    "\u{2022}\u{2022}",
    "\u{2026}",
    "{{",
    "}}",
    "${",
    "$(",
    "<%",
    "%(",
    "#{",
    "todo_",
];

/// Values that are words of a language or of a form, not of a person.
const COMMON_WORDS: &[&str] = &[
    "null",
    "none",
    "nil",
    "undefined",
    "true",
    "false",
    "yes",
    "no",
    "empty",
    "unset",
    "default",
    "password",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "string",
    "optional",
    "required",
    "bearer",
    "basic",
    "hidden",
    "masked",
    "test",
    "admin",
    "root",
    "user",
    "username",
    "guest",
    "postgres",
    "mysql",
    "redis",
    "rabbitmq",
    "changeit",
    "value",
    "key",
    "foo",
    "bar",
    "baz",
    "foobar",
    "production",
    "development",
    "staging",
    "local",
    "localhost",
    "enabled",
    "disabled",
    "prompt",
    "invalid",
    "missing",
    "incorrect",
    "expired",
    "unknown",
    "mypassword",
    "mysecret",
    "mytoken",
    "secretkey",
    "access_token",
    "refresh_token",
    "id_token",
    "client_secret",
    "public",
    "private",
    "always",
    "never",
    "auto",
    "inherit",
];

/// Whether it is a word that any text may have.
pub(crate) fn is_common(value: &[u8]) -> bool {
    let is_one = |word: &&str| word.as_bytes().eq_ignore_ascii_case(value);
    COMMON_WORDS.iter().any(is_one) || has_few_bytes(value)
}

static PARTS: LazyLock<Automaton> = LazyLock::new(|| {
    let literals: Vec<Literal> = PLACEHOLDER_PARTS
        .iter()
        .map(|part| Literal {
            bytes: part.as_bytes().to_vec(),
            is_held: false,
        })
        .collect();
    Automaton::new(&literals)
});

fn has_placeholder_part(value: &[u8]) -> bool {
    let mut state = PARTS.start();
    value.iter().any(|byte| {
        state = PARTS.next(state, *byte);
        PARTS.is_match(state)
    })
}

/// Whether it stands for a value that is elsewhere, or hides one.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    let (first, last) = match (value.first(), value.last()) {
        (Some(first), Some(last)) => (*first, *last),
        _ => return true,
    };
    let is_variable = match first {
        b'$' | b'%' => value[1..]
            .iter()
            .all(|byte| is_name(*byte) || byte == &b'%'),
        b'@' => last == b'@',
        b'_' => value.starts_with(b"__") && value.ends_with(b"__"),
        b'<' => true,
        b'[' => last == b']',
        _ => false,
    };
    is_variable
        || is_common(value)
        || has_placeholder_part(value)
        || matches!(value, [b'm' | b'M', b'y' | b'Y', b'_' | b'-', ..])
        || has_few_bytes(value)
        || is_sequence(value)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'{' || byte == b'}'
}

/// `xxxxxxxx`, `********`, `0000000`.
fn has_few_bytes(value: &[u8]) -> bool {
    let mut is_there = [false; 256];
    for byte in value {
        is_there[usize::from(*byte)] = true;
    }
    let kinds = is_there.iter().filter(|is_there| **is_there).count();
    match value.len() {
        0..=3 => kinds <= 1,
        4..=15 => kinds <= 2,
        _ => kinds <= 5,
    }
}

/// `1234567890abcdefghij`.
fn is_sequence(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let steps = lower
        .windows(2)
        .filter(|pair| pair[1].wrapping_sub(pair[0]) <= 1)
        .count();
    value.len() >= 6 && steps * 10 >= (value.len() - 1) * 7
}

/// Bits a byte, if every byte were drawn as often as it is here.
pub(crate) fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value {
        counts[usize::from(*byte)] += 1;
    }
    let total = value.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / total)
        .map(|share| -share * share.log2())
        .sum()
}

/// Shortest value that can be told from a name.
const RANDOM_BYTES_MIN: usize = 10;

/// Least entropy of a random value. One of ten hexadecimal digits has about 2.9.
const RANDOM_ENTROPY_MIN: f64 = 2.6;

fn is_random(value: &[u8]) -> bool {
    let is_there = |test: fn(&u8) -> bool| value.iter().any(test);
    let has_letter = is_there(u8::is_ascii_alphabetic);
    let has_digit = is_there(u8::is_ascii_digit);
    let has_both_cases = is_there(u8::is_ascii_lowercase) && is_there(u8::is_ascii_uppercase);
    value.len() >= RANDOM_BYTES_MIN
        && has_letter
        && (has_digit || has_both_cases)
        && entropy(value) >= RANDOM_ENTROPY_MIN
        && !value.windows(3).any(|part| part == b"://")
        && !value.iter().any(|byte| b"[](){}^|\\<> \"'`".contains(byte))
        && !is_version(value)
        && !is_digest(value)
        && !is_constant(value)
        && !is_words(value)
}

/// `v1.2.3-beta.4`, `10.0.0.2`, `2030-01-01T12:34:56Z`.
fn is_version(value: &[u8]) -> bool {
    let value = value.strip_prefix(b"v").unwrap_or(value);
    let digits = value
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let numbers = value
        .split(|byte| !byte.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .count();
    let letters = value
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    (1..=4).contains(&digits)
        && matches!(value.get(digits), Some(b'.' | b'-' | b':'))
        && numbers >= 2
        && letters * 2 <= value.len()
        && value.len() < 40
        && letters < 12
}

/// `WM_KEY_2`, `-2147205110i32`, `0x7fff1234`.
fn is_constant(value: &[u8]) -> bool {
    let is_upper = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    let number = value.strip_prefix(b"-").unwrap_or(value);
    let digits = number
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let rest = &number[digits..];
    (value.contains(&b'_') && value.iter().all(is_upper))
        || (digits > 0 && rest.len() <= 3 && rest.first().is_none_or(u8::is_ascii_alphabetic))
        || (number.starts_with(b"0x") && number.len() <= 18)
}

/// `sha256:…` and their kind say what they are.
fn is_digest(value: &[u8]) -> bool {
    [
        &b"sha1"[..],
        b"sha224",
        b"sha256",
        b"sha384",
        b"sha512",
        b"md5",
        b"h1",
        b"blake",
    ]
    .iter()
    .any(|name| {
        value
            .strip_prefix(*name)
            .is_some_and(|rest| matches!(rest.first(), Some(b':' | b'-' | b'=')))
    })
}

/// A call, a path, a member, a reference: an expression rather than a value.
fn is_code(value: &[u8], written: Written) -> bool {
    if written == Written::Variable {
        return is_path(value);
    }
    if written == Written::Quoted {
        let spaces = value.iter().filter(|byte| **byte == b' ').count();
        return spaces >= 2 || is_path(value);
    }
    value.iter().any(|byte| b"()[]{}\"'`".contains(byte))
        || value
            .windows(2)
            .any(|pair| pair == b"::" || pair == b"->" || pair == b"=>")
        || is_member(value)
        || is_path(value)
}

/// `self.token`, `process.env.API_KEY`, `&config.password`.
fn is_member(value: &[u8]) -> bool {
    let value = value.strip_prefix(b"&").unwrap_or(value);
    let value = value.strip_prefix(b"*").unwrap_or(value);
    let mut parts = value.split(|byte| *byte == b'.');
    let is_part = |part: &[u8]| {
        part.iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_?!".contains(byte))
            && part.first().is_some_and(|byte| !byte.is_ascii_digit())
            && is_words(part)
    };
    value.contains(&b'.') && parts.all(is_part)
}

fn is_path(value: &[u8]) -> bool {
    let begins = [&b"/"[..], b"./", b"../", b"~/"];
    let is_drive = value.get(1..3) == Some(b":\\");
    is_drive
        || (begins.iter().any(|begin| value.starts_with(begin)) && {
            let last = value
                .split(|byte| *byte == b'/')
                .next_back()
                .unwrap_or_default();
            is_words(last) || value.iter().filter(|byte| **byte == b'/').count() >= 3
        })
}

/// Shortest password. A shorter one is not told from a word.
const PASSWORD_BYTES_MIN: usize = 6;

fn is_password(value: &[u8], written: Written) -> bool {
    if value.len() < PASSWORD_BYTES_MIN
        || is_code(value, written)
        || is_digest(value)
        || is_constant(value)
    {
        return false;
    }
    let lower = value.to_ascii_lowercase();
    let names_itself = [&b"passw"[..], b"secret", b"token", b"_pass", b"passphrase"]
        .iter()
        .any(|word| lower.windows(word.len()).any(|window| window == *word));
    let has_digit = value.iter().any(u8::is_ascii_digit);
    let has_letter = value.iter().any(u8::is_ascii_alphabetic);
    let has_both_cases =
        value.iter().any(u8::is_ascii_lowercase) && value.iter().any(u8::is_ascii_uppercase);
    // `&password` and `*password` are references.
    let has_sign = value[1..]
        .iter()
        .any(|byte| !byte.is_ascii_alphanumeric() && !b" -_./:".contains(byte));
    let spaces = value.iter().filter(|byte| **byte == b' ').count();
    if spaces >= 2 || value.windows(3).any(|part| part == b"://") || is_version(value) {
        return false;
    }
    let is_strong = has_letter && (has_digit || has_sign) || has_both_cases && !is_words(value);
    match written {
        Written::Variable => is_strong || (!names_itself && !has_digit),
        Written::Quoted => is_strong && !(names_itself && is_words(value)),
        // `user.password2`, `db_pass1` are names.
        Written::Bare => {
            is_strong && !(is_words(value) && value.iter().any(|byte| b"._-".contains(byte)))
        }
    }
}

#[cfg(test)]
mod tests;
