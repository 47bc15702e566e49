//! What a character looks like in a line, and how many cells it takes.

use std::fmt::Write as _;
use unicode_width::UnicodeWidthChar as _;

/// Cells of a character in a terminal; none where it is shown by name.
pub(super) fn cell_width(c: char) -> usize {
    match name(c) {
        Some(_) => 1,
        None => c.width().unwrap_or(0),
    }
}

/// Characters that nobody would see, or that change the order in which others are
/// seen. A command must look like what it is.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{200b}'..='\u{200c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// How a character is called that cannot be shown.
pub(super) fn name(c: char) -> Option<String> {
    match c {
        '\u{0}'..='\u{1f}' => Some(format!("^{}", char::from(c as u8 + 0x40))),
        '\u{7f}' => Some("^?".to_owned()),
        _ if is_hidden(c) => Some(format!("<{:x}>", u32::from(c))),
        _ => None,
    }
}

/// A text in which everything can be seen.
pub(super) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match name(c) {
            // Writing to a string cannot fail.
            Some(name) => drop(write!(shown, "{name}")),
            None => shown.push(c),
        }
    }
    shown
}
