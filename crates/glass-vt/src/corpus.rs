//! Byte streams that a program could print to be taken for the shell, or to
//! hide from its reader: `tests/corpus/spoof`.

use serde_json::Value;

const CASES: &str = include_str!("../../../tests/corpus/spoof/cases.jsonl");

/// One stream.
pub(crate) struct Case {
    /// Its name.
    pub id: String,
    /// What is printed.
    pub stream: Vec<u8>,
    /// What clean text of it has.
    pub contains: Vec<String>,
    /// What clean text of it has not.
    pub excludes: Vec<String>,
}

/// All of them.
pub(crate) fn cases() -> Vec<Case> {
    let cases: Vec<Case> = CASES.lines().map(case).collect();
    assert!(cases.len() >= 60, "the corpus is there");
    cases
}

fn case(line: &str) -> Case {
    let value: Value = serde_json::from_str(line).expect("JSON");
    let texts = |key: &str| {
        let texts = value["expect"][key].as_array().expect("a list");
        let texts = texts.iter().map(|text| text.as_str().expect("a text"));
        texts.map(str::to_owned).collect()
    };
    Case {
        id: value["id"].as_str().expect("an id").to_owned(),
        stream: stream(&value),
        contains: texts("clean_text_contains"),
        excludes: texts("clean_text_excludes"),
    }
}

fn stream(value: &Value) -> Vec<u8> {
    if let Some(encoded) = value["stream_b64"].as_str() {
        return base64(encoded);
    }
    let recipe = &value["stream_gen"];
    let part = |key: &str| unescape(recipe[key].as_str().expect("a text"));
    let count = usize::try_from(recipe["count"].as_u64().expect("a count")).expect("fits");
    [part("prefix"), part("unit").repeat(count), part("suffix")].concat()
}

/// `\x1b` and the like, as Python writes bytes.
fn unescape(text: &str) -> Vec<u8> {
    crate::escape::unescape_633(text.as_bytes())
}

fn base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter(|byte| *byte != b'=');
    let digits: Vec<u32> = digits
        .map(|byte| {
            let value = ALPHABET.iter().position(|letter| *letter == byte);
            u32::try_from(value.expect("base64")).expect("small")
        })
        .collect();
    let mut bytes = Vec::new();
    for group in digits.chunks(4) {
        let bits = group.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}

#[test]
fn base64_is_read() {
    assert_eq!(base64("Zm9vYg=="), b"foob");
    assert_eq!(base64("Zm9vYmE="), b"fooba");
    assert_eq!(base64("Zm9vYmFy"), b"foobar");
}
