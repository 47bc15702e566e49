//! Lines to which everything is appended, which are most of them.

use super::sequence::{Edit, Sequence, Step};
use crate::control::ESC;
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
    let is_control = |byte: &u8| (*byte < 0x20 && !matches!(*byte, b'\t' | ESC)) || *byte == 0x7f;
    if line.iter().fold(false, |any, byte| any | is_control(byte)) {
        return false;
    }
    let Ok(mut rest) = std::str::from_utf8(line) else {
        return false;
    };
    if !rest.is_ascii() && !rest.chars().all(has_columns) {
        return false;
    }
    while let Some(escape) = memchr::memchr(ESC, rest.as_bytes()) {
        let (text, sequence) = rest.split_at(escape);
        out.push_str(text);
        // A sequence ends before or after an ASCII byte, or with the line.
        let after = skip_sequence(sequence.as_bytes()).map(<[u8]>::len);
        let Some(after) = after.and_then(|length| rest.get(rest.len() - length..)) else {
            return false;
        };
        rest = after;
    }
    out.push_str(rest);
    true
}

/// Whether a character has columns of its own. The ranges are frequent and
/// need no table.
fn has_columns(character: char) -> bool {
    match character {
        '\t' | '\x1b' | ' '..='~' | '\u{a0}'..='\u{ac}' | '\u{ae}'..='\u{2ff}' => true,
        '\u{370}'..='\u{482}' | '\u{2010}'..='\u{2027}' | '\u{2100}'..='\u{2bff}' => true,
        '\u{3041}'..='\u{3096}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => true,
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

#[cfg(test)]
mod tests {
    use super::has_columns;
    use unicode_width::UnicodeWidthChar as _;

    #[test]
    fn characters_without_columns_are_known() {
        for character in (' '..=char::MAX).filter(|character| has_columns(*character)) {
            let width = character.width();
            assert!(width.is_some_and(|width| width > 0), "{character:?}");
        }
    }
}
