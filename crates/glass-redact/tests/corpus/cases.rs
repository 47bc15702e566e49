//! Reads the corpus. Its lines are in Base64, so that what only looks like a
//! secret alarms nobody.

use serde_json::Value;
use std::path::Path;

/// One text, and what must become of it.
pub(crate) struct Case {
    pub id: String,
    pub text: String,
    pub redact: bool,
    pub secrets: Vec<String>,
    pub must_keep: Vec<String>,
    pub known: Vec<String>,
}

/// Every case of every file.
pub(crate) fn corpus() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/redaction");
    let mut cases = Vec::new();
    for entry in folder.read_dir().expect("the corpus is there") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "b64") {
            let text = std::fs::read_to_string(&path).expect("a readable file");
            cases.extend(text.lines().filter(|line| !line.is_empty()).map(case));
        }
    }
    cases
}

fn case(line: &str) -> Case {
    let value: Value = serde_json::from_slice(&decode(line)).expect("a JSON object");
    let text = |name: &str| value[name].as_str().expect("a text").to_owned();
    let texts = |name: &str| -> Vec<String> {
        let list = value[name]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        list.iter()
            .map(|one| one.as_str().expect("a text").to_owned())
            .collect()
    };
    Case {
        id: text("id"),
        text: text("text"),
        redact: value["redact"].as_bool().expect("redact or not"),
        secrets: texts("secrets"),
        must_keep: texts("must_keep"),
        known: texts("known_secrets"),
    }
}

fn decode(line: &str) -> Vec<u8> {
    let mut bits = 0_u32;
    let mut count = 0;
    let mut bytes = Vec::new();
    for digit in line.trim_end_matches('=').bytes() {
        let six = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => panic!("not Base64: {line}"),
        };
        bits = (bits << 6) | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    bytes
}
