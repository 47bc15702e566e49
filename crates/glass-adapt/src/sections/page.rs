//! Sections: a heading in brackets, and below it lines that are indented, so
//! that no text can look like a heading.

use super::TEXT_CHARS_MAX;
use serde_json::Value;

/// Text that grows by sections.
#[derive(Debug, Default)]
pub(super) struct Page(String);

impl Page {
    /// A section of one line: `[name] what`.
    pub(super) fn line(&mut self, name: &str, what: &str) {
        self.0.push('[');
        self.put(name, "");
        self.0.push(']');
        if !what.is_empty() {
            self.0.push(' ');
            self.put(&shortened(what), "\n  ");
        }
        self.0.push('\n');
    }

    /// Indented lines, whole.
    pub(super) fn body(&mut self, text: &str) {
        let text = text.trim_end_matches(['\n', '\r']);
        if !text.is_empty() {
            self.0.push_str("  ");
            self.put(text, "\n  ");
            self.0.push('\n');
        }
    }

    /// Indented lines, of a long text the beginning.
    pub(super) fn short_body(&mut self, text: &str) {
        self.body(&shortened(text));
    }

    /// Appends text whose control characters are made visible: JSON can hold
    /// what would command a terminal.
    fn put(&mut self, text: &str, new_line: &str) {
        for c in text.chars() {
            match c {
                '\n' => self.0.push_str(new_line),
                '\t' => self.0.push(c),
                '\r' => {}
                c if c.is_control() => self.0.extend(c.escape_unicode()),
                c => self.0.push(c),
            }
        }
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        None => text.to_owned(),
        Some((at, _)) => {
            let more = text[at..].chars().count();
            format!("{}\n… {more} more characters", &text[..at])
        }
    }
}

/// A string of an object.
pub(super) fn text<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get(key)?.as_str()
}

/// A number of an object; 0 where there is none.
pub(super) fn count(object: &Value, key: &str) -> u64 {
    object.get(key).and_then(Value::as_u64).unwrap_or(0)
}

/// Tokens in and out.
pub(super) fn tokens(input: u64, cached: u64, output: u64) -> String {
    match cached {
        0 => format!("{input} tokens in, {output} out"),
        _ => format!("{input} tokens in ({cached} cached), {output} out"),
    }
}
