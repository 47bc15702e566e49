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

/// A command as lines of at most so many columns, so that it can be read on a
/// terminal exactly as it is: every odd character is made visible, and so is a
/// letter of another script among Latin ones, which may only look like one of
/// them. Nothing is left out: a line that goes on ends with `⏎`.
pub fn shown(command: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in command.split('\n') {
        let mut shown = String::new();
        let mut width = 0;
        for word in line.split_inclusive(' ') {
            let is_latin = word.chars().any(|c| c.is_ascii_alphabetic());
            for (at, c) in word.char_indices() {
                let is_escape = word[at..].starts_with("<U+");
                let looks_alike =
                    is_latin && !c.is_ascii() && c.is_alphabetic() && !is_latin_letter(c);
                let piece = match c {
                    '\t' => "<U+0009>".to_owned(),
                    c if is_escape || looks_alike || oddity(c).is_some() => {
                        format!("<U+{:04X}>", u32::from(c))
                    }
                    c => c.to_string(),
                };
                // Many characters beyond ASCII take two columns.
                let more: usize = piece
                    .chars()
                    .map(|c| if c.is_ascii() { 1 } else { 2 })
                    .sum();
                if width + more > columns.max(LINE_COLUMNS_MIN) {
                    shown.push(FOLD);
                    lines.push(std::mem::take(&mut shown));
                    width = 0;
                }
                width += more;
                shown.push_str(&piece);
            }
        }
        lines.push(shown);
    }
    lines
}

/// Room for every character that is made visible.
const LINE_COLUMNS_MIN: usize = 16;

/// Latin letters beyond ASCII that no ASCII letter can be taken for.
fn is_latin_letter(c: char) -> bool {
    matches!(c, '\u{c0}'..='\u{24f}') && !matches!(c, '\u{131}' | '\u{1c0}'..='\u{1c3}')
}

/// Stands at the end of a line that goes on; so it stands for nothing else.
const FOLD: char = '\u{23ce}';

/// Whether a character is not seen, or changes what others look like.
pub fn hides(c: char) -> bool {
    matches!(oddity(c), Some(Oddity::Control | Oddity::Invisible))
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
        | FOLD
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
    use super::{Oddity, first_oddity, shown, visible};

    #[test]
    fn oddities_are_made_visible() {
        assert_eq!(visible("a\nb\u{202e}\r é"), "a\\nb<U+202E><U+000D> é");
    }

    #[test]
    fn a_command_is_shown_whole_and_as_it_is() {
        assert_eq!(shown("ls -l", 80), ["ls -l"]);
        assert_eq!(shown("ls\nrm x", 80), ["ls", "rm x"]);
        // The Cyrillic letter for the Latin one.
        assert_eq!(shown("cat sеcret", 80), ["cat s<U+0435>cret"]);
        assert_eq!(shown("echo привет naïve", 80), ["echo привет naïve"]);
        assert_eq!(
            shown("a <U+200B>\u{200b}", 80),
            ["a <U+003C>U+200B><U+200B>"]
        );
        let long = "x".repeat(50);
        assert_eq!(
            shown(&long, 20),
            ["x".repeat(20) + "⏎", "x".repeat(20) + "⏎", "x".repeat(10)]
        );
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
