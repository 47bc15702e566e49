//! Lines to which everything is appended, which are most of them.

use super::sequence::{Edit, Sequence, Step};
use unicode_width::UnicodeWidthChar as _;

/// Puts the text of a whole line into `out`, if nothing in it moves the cursor
/// back and no character shares a column with another; else says that it did
/// not. The line has no more bytes than its row has columns, or an eighth of
/// that if it has tabs.
///
/// It shows what [`Line`](super::Line) would show, and does not take cells
/// apart for it.
pub(in crate::text) fn append(line: &[u8], out: &mut String) -> bool {
    out.clear();
    let mut rest = line;
    loop {
        let escape = memchr::memchr(0x1b, rest);
        let (text, after) = rest.split_at(escape.unwrap_or(rest.len()));
        if !append_text(text, out) {
            return false;
        }
        match skip_sequence(after) {
            Some([]) => return true,
            Some(after) => rest = after,
            None => return false,
        }
    }
}

fn append_text(bytes: &[u8], out: &mut String) -> bool {
    let is_control = |byte: &u8| (*byte < 0x20 && *byte != b'\t') || *byte == 0x7f;
    if bytes.iter().fold(false, |any, byte| any | is_control(byte)) {
        return false;
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    if !text.is_ascii() && !text.chars().all(has_columns) {
        return false;
    }
    out.push_str(text);
    true
}

/// Whether a character has columns of its own.
fn has_columns(character: char) -> bool {
    match character {
        '\t' | ' '..='~' | '\u{a0}'..='\u{ac}' | '\u{ae}'..='\u{2ff}' => true,
        other => other.width().is_some_and(|width| width > 0),
    }
}

/// What follows the sequence at the beginning of `bytes`; nothing, if it edits
/// the line.
fn skip_sequence(bytes: &[u8]) -> Option<&[u8]> {
    let Some((_, mut rest)) = bytes.split_first() else {
        return Some(bytes);
    };
    // Colours, at once.
    if let [b'[', parameters @ ..] = rest {
        let end = parameters
            .iter()
            .position(|byte| !matches!(byte, b'0'..=b';'));
        if let Some(end) = end.filter(|end| parameters[*end] == b'm') {
            return Some(&parameters[end + 1..]);
        }
    }
    let mut sequence = Sequence::begin();
    while !sequence.is_ground() {
        let Some((byte, after)) = rest.split_first() else {
            return Some(rest);
        };
        match sequence.step(*byte) {
            // There is nothing to the right.
            Step::None | Step::Edit(Edit::EraseRight) => rest = after,
            Step::NotMine => {}
            Step::Edit(_) => return None,
        }
    }
    Some(rest)
}
