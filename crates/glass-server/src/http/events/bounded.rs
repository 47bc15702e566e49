//! Messages that every client can take, whatever somebody was asked about.
//!
//! One command may have megabytes. A message that no socket takes would end the stream, and
//! with it everything else that waits for a person.

use crate::shorten::shorten;
use serde_json::Value;

/// What one message may have, in bytes of JSON; a socket's buffer takes twice as much.
const MESSAGE_BYTES_MAX: usize = 512 * 1024;

/// A byte of text has at most so many in JSON.
const ESCAPED_BYTES_MAX: usize = 6;

/// What is kept of each text, in bytes: the first of these with which the message fits.
const TEXT_BYTES_MAX: [usize; 4] = [64 * 1024, 16 * 1024, 4 * 1024, 256];

/// Cuts texts that are too long. Says whether there were any.
pub(super) fn bound(message: &mut Value) -> bool {
    let mut is_cut = false;
    for bytes_max in TEXT_BYTES_MAX {
        if weight(message) <= MESSAGE_BYTES_MAX {
            break;
        }
        is_cut |= cut(message, bytes_max);
    }
    is_cut
}

/// The bytes that the texts of a message may have, escaped.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len().saturating_mul(ESCAPED_BYTES_MAX),
        Value::Array(values) => values.iter().map(weight).sum(),
        Value::Object(fields) => fields.values().map(weight).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn cut(value: &mut Value, bytes_max: usize) -> bool {
    let all = |values: &mut dyn Iterator<Item = &mut Value>| {
        values.fold(false, |any, value| cut(value, bytes_max) | any)
    };
    match value {
        Value::String(text) => {
            let is_cut = shorten(text, bytes_max);
            if is_cut {
                text.push('…');
            }
            is_cut
        }
        Value::Array(values) => all(&mut values.iter_mut()),
        Value::Object(fields) => all(&mut fields.values_mut()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{MESSAGE_BYTES_MAX, bound};
    use serde_json::json;

    #[test]
    fn what_fits_stays_as_it_is() {
        let mut message = json!({ "command": "x".repeat(80_000), "parts": ["a", 1, null, true] });
        let before = message.clone();
        assert!(!bound(&mut message));
        assert_eq!(message, before);
    }

    #[test]
    fn whatever_is_too_long_is_cut_between_characters() {
        let mut message = json!({ "command": "ü".repeat(2_000_000), "reason": "short" });
        assert!(bound(&mut message));
        let command = message["command"].as_str().expect("it is text");
        assert!(command.starts_with("üüü") && command.ends_with("ü…"));
        assert_eq!(message["reason"], "short");
    }

    #[test]
    fn no_message_is_larger_than_a_socket_takes() {
        let hostile = "\u{1}".repeat(300_000);
        let mut message = json!({ "command": &hostile, "prefixes": vec![hostile; 30] });
        assert!(bound(&mut message));
        assert!(message.to_string().len() <= MESSAGE_BYTES_MAX);
    }
}
