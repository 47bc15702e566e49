//! `filter osc`: the markers in a terminal's output, one JSON object a line.

use super::pieces;
use crate::error::Failure;
use crate::stdout::{self, Reader};
use clap::Args;
use glass_vt::{Body, Confidence, Marker, MarkerScanner, Nonce, Trust};
use serde_json::{Map, Value, json};
use std::process::ExitCode;

/// Finds markers of OSC 133, 633, 7, 9;9, 1337 and 3008, wherever the input is
/// cut, and prints each as one line of JSON with its offset and length.
#[derive(Debug, Args)]
pub(crate) struct Osc {
    /// Trust the markers that carry this nonce; without it, none.
    #[arg(long, value_name = "NONCE", value_parser = nonce)]
    pub nonce: Option<Nonce>,
}

fn nonce(text: &str) -> Result<Nonce, String> {
    Nonce::new(text).ok_or_else(|| {
        let (min, max) = (Nonce::CHARS_MIN, Nonce::CHARS_MAX);
        format!("must have {min} to {max} letters, digits and dashes")
    })
}

/// Filters until the input ends.
pub(super) fn filter(arguments: &Osc) -> Result<ExitCode, Failure> {
    let mut scanner = MarkerScanner::new(arguments.nonce.clone());
    let mut lines = String::new();
    pieces::each(|piece| {
        lines.clear();
        scanner.scan(piece, |marker| {
            lines.push_str(&Value::Object(object(marker)).to_string());
            lines.push('\n');
        });
        match lines.is_empty() {
            true => Ok(Reader::There),
            false => stdout::write(lines.as_bytes()),
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// A marker as JSON: its place and its parts, then what they mean.
fn object(marker: Marker) -> Map<String, Value> {
    let confidence = match marker.confidence {
        Confidence::Low => "low",
        Confidence::Medium => "medium",
        Confidence::High => "high",
    };
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| {
        if !value.is_null() {
            object.insert(key.to_owned(), value);
        }
    };
    put("offset", json!(marker.offset));
    put("length", json!(marker.bytes));
    put("protocol", json!(marker.protocol.name()));
    put("kind", json!(marker.kind));
    put("payload", json!(marker.payload));
    put("trusted", json!(marker.trust == Trust::Trusted));
    put("confidence", json!(confidence));
    match marker.body {
        Body::PromptStart | Body::PromptEnd | Body::Other => {}
        Body::CommandLine { command } => put("command", json!(command)),
        Body::OutputStart { command } => put("command", json!(command)),
        Body::Finished { code } => put("exitCode", json!(code)),
        Body::Cwd { path, host } => {
            put("cwd", json!(path));
            put("host", json!(host));
        }
        Body::Property { name, value } => {
            put("name", json!(name));
            put("value", json!(value));
        }
        Body::ContextStart { id, cwd, command } => {
            put("context", json!(id));
            put("cwd", json!(cwd));
            put("command", json!(command));
        }
        Body::ContextEnd { id, code } => {
            put("context", json!(id));
            put("exitCode", json!(code));
        }
    }
    object
}

#[cfg(test)]
mod tests {
    use super::object;
    use glass_vt::{MarkerScanner, Nonce};
    use serde_json::{Value, json};

    fn check(stream: &str, expected: Value) {
        let mut scanner = MarkerScanner::new(Nonce::new("0123456789abcdef"));
        let mut seen = Vec::new();
        scanner.scan(stream.as_bytes(), |marker| {
            seen.push(Value::Object(object(marker)));
        });
        assert_eq!(seen, [expected], "{stream:?}");
    }

    #[test]
    fn a_marker_is_an_object_with_its_place_parts_and_meaning() {
        check(
            "x\x1b]633;D;3;0123456789abcdef\x07",
            json!({
                "offset": 1, "length": 27, "protocol": "633", "kind": "D",
                "payload": "3;0123456789abcdef", "trusted": true, "confidence": "high",
                "exitCode": 3,
            }),
        );
        check(
            "\x1b]7;file://h/a%20b\x1b\\",
            json!({
                "offset": 0, "length": 20, "protocol": "7", "kind": "cwd",
                "payload": "file://h/a%20b", "trusted": false, "confidence": "low",
                "cwd": "/a b", "host": "h",
            }),
        );
    }
}
