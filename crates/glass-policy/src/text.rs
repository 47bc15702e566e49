//! Characters that make a line look like another one, or that a line editor
//! would obey.

/// What is wrong with a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oddity {
    /// A control character: a terminal or a line editor would act on it.
    Control,
    /// It cannot be seen, or turns the text around it.
    Invisible,
    /// It looks like a blank and is none.
    Blank,
}

impl Oddity {
    /// What it is, for people.
    pub fn name(self) -> &'static str {
        match self {
            Oddity::Control => "a control character",
            Oddity::Invisible => "a character that cannot be seen",
            Oddity::Blank => "a character that looks like a blank and is none",
        }
    }
}

/// The first character that is not what it seems.
pub fn first_oddity(text: &str) -> Option<(char, Oddity)> {
    // Most lines have nothing but printable ASCII.
    if text
        .bytes()
        .all(|byte| matches!(byte, b' '..=b'~' | b'\t' | b'\n'))
    {
        return None;
    }
    text.chars().find_map(|c| Some((c, oddity(c)?)))
}

/// The text with every such character made visible, newlines and tabs too.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            c if oddity(c).is_some() => shown.push_str(&format!("<U+{:04X}>", u32::from(c))),
            c => shown.push(c),
        }
    }
    shown
}

fn oddity(c: char) -> Option<Oddity> {
    match c {
        '\t' | '\n' => None,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => Some(Oddity::Control),
        '\u{a0}'
        | '\u{1680}'
        | '\u{2000}'..='\u{200a}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{202f}'
        | '\u{205f}'
        | '\u{2800}'
        | '\u{3000}' => Some(Oddity::Blank),
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{e000}'..='\u{f8ff}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{ffff}'
        | '\u{13430}'..='\u{1345f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{10ffff}' => Some(Oddity::Invisible),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Oddity, first_oddity, visible};

    #[test]
    fn oddities_are_made_visible() {
        assert_eq!(visible("a\nb\u{202e}\r é"), "a\\nb<U+202E><U+000D> é");
    }

    #[test]
    fn letters_of_any_script_are_no_oddity() {
        for text in ["ls -la\t\n", "grep 'naïve' ü.txt", "echo 你好 ✓ ελληνικά"] {
            assert_eq!(first_oddity(text), None, "{text}");
        }
    }

    #[test]
    fn controls_blanks_and_invisible_characters_are_found() {
        for (text, expected) in [
            ("ls\r", Oddity::Control),
            ("ls\u{1b}", Oddity::Control),
            ("ls\u{7f}", Oddity::Control),
            ("ls\u{9b}", Oddity::Control),
            ("git\u{3000}status", Oddity::Blank),
            ("ls\u{a0}-l", Oddity::Blank),
            ("\u{feff}ls", Oddity::Invisible),
            ("ls \u{202e}x", Oddity::Invisible),
            ("ls \u{e0069}", Oddity::Invisible),
            ("l\u{200b}s", Oddity::Invisible),
        ] {
            assert_eq!(first_oddity(text).map(|(_, oddity)| oddity), Some(expected));
        }
    }
}
