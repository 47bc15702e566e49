//! Cutting and quoting texts that others have written.

use crate::limits::NAME_CHARS_MAX;

/// The end of some bytes as text: at most `bytes_max` bytes, whole characters,
/// and what is not UTF-8 replaced.
pub(crate) fn tail(bytes: &[u8], bytes_max: usize) -> String {
    let start = bytes.len().saturating_sub(bytes_max);
    let kept = &bytes[start..];
    // A character that the cut went through is left out.
    let rest = kept.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80);
    let kept = if start > 0 {
        &kept[rest.count()..]
    } else {
        kept
    };
    let text = String::from_utf8_lossy(kept);
    // Replacements are longer than what they replace.
    let start = text.len().saturating_sub(bytes_max);
    let start = (start..=text.len()).find(|at| text.is_char_boundary(*at));
    text[start.unwrap_or(0)..].to_owned()
}

/// The beginning of a text: at most `bytes_max` bytes and whole characters.
pub(crate) fn head(text: &str, bytes_max: usize) -> &str {
    let end = (0..=bytes_max.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// A hook's name in messages: the beginning of its command line, in one line.
pub(crate) fn name(command: &str) -> String {
    let mut shown: String = command.chars().take(NAME_CHARS_MAX).collect();
    if shown.len() < command.len() {
        shown.push('…');
    }
    format!("`{}`", visible(&shown))
}

/// A text in which everything that a terminal would obey, or not show, is
/// written out.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\'' | '"' | '\\' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{head, name, tail};

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(tail("aé".as_bytes(), 2), "é");
        assert_eq!(tail("aé".as_bytes(), 1), "");
        assert_eq!(tail(b"\xff\xff", 4), "\u{fffd}");
        assert_eq!(tail(b"\x80abc", 9), "\u{fffd}abc");
        assert_eq!(head("aé", 2), "a");
        assert_eq!(head("aé", 9), "aé");
    }

    #[test]
    fn a_name_is_one_short_line() {
        assert_eq!(name("a \"b\"\n\u{1b}[2J"), "`a \"b\"\\n\\u{1b}[2J`");
        assert_eq!(name("a\u{202e}b"), "`a\\u{202e}b`");
        assert_eq!(name(&"x".repeat(500)).chars().count(), 83);
    }
}
