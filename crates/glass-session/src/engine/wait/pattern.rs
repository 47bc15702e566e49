//! A pattern over output that is still being written. It sees what a terminal
//! would show: colours and rewritten lines are none of its business.

use regex::{Regex, RegexBuilder};

/// Bytes of a pattern.
const PATTERN_BYTES_MAX: usize = 4 * 1024;

/// Bytes that a compiled pattern may have: the time that it takes grows with
/// them.
const COMPILED_BYTES_MAX: usize = 512 * 1024;

/// Bytes of output that a match can reach over.
const WINDOW_BYTES_MAX: usize = 16 * 1024;

/// Bytes of a match that are told.
const MATCHED_BYTES_MAX: usize = 1024;

/// What stands for the part of a long line that is not looked at any more.
const CUT: &str = "\u{fffd}";

/// Looks for a pattern in output that comes in pieces, as a terminal would show
/// it. `^` and `$` are the ends of lines; the end of what has been written counts
/// as one, so that a prompt can be waited for.
#[derive(Debug)]
pub(super) struct Pattern {
    regex: Regex,
    /// What a match may begin in, as it was written.
    window: Vec<u8>,
    /// Whether the window begins within a line.
    is_cut: bool,
}

impl Pattern {
    pub(super) fn new(pattern: &str) -> Result<Pattern, String> {
        let bytes = pattern.len();
        if bytes > PATTERN_BYTES_MAX {
            return Err(format!(
                "it has {bytes} bytes, and {PATTERN_BYTES_MAX} are the limit"
            ));
        }
        let regex = RegexBuilder::new(pattern)
            .multi_line(true)
            .size_limit(COMPILED_BYTES_MAX)
            .dfa_size_limit(2 * COMPILED_BYTES_MAX)
            .build();
        Ok(Pattern {
            regex: regex.map_err(|error| error.to_string())?,
            window: Vec::new(),
            is_cut: false,
        })
    }

    /// Takes the next piece, and gives what matched.
    pub(super) fn push(&mut self, piece: &[u8]) -> Option<String> {
        self.window.extend_from_slice(piece);
        let shown = glass_vt::text::clean(&self.window);
        let (text, from) = match self.is_cut {
            true => (format!("{CUT}{shown}"), CUT.len()),
            false => (shown, 0),
        };
        if let Some(found) = self.regex.find_at(&text, from) {
            let told = found.as_str();
            return Some(told[..told.floor_char_boundary(MATCHED_BYTES_MAX)].to_owned());
        }
        self.forget();
        None
    }

    /// Something is missing between the last piece and the next.
    pub(super) fn skip(&mut self) {
        self.window.clear();
        self.is_cut = false;
    }

    /// Keeps what a match may still begin in: whole lines, where there are any.
    fn forget(&mut self) {
        let surplus = self.window.len().saturating_sub(WINDOW_BYTES_MAX);
        if surplus == 0 {
            return;
        }
        let newline = self.window[surplus..]
            .iter()
            .position(|byte| *byte == b'\n');
        self.is_cut = newline.is_none();
        self.window
            .drain(..surplus + newline.map_or(0, |at| at + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::{Pattern, WINDOW_BYTES_MAX};
    use proptest::prelude::*;

    fn first_match(pattern: &str, pieces: &[&[u8]]) -> Option<String> {
        let mut pattern = Pattern::new(pattern).expect("a pattern");
        pieces.iter().find_map(|piece| pattern.push(piece))
    }

    #[test]
    fn a_match_may_lie_across_pieces() {
        let pieces: [&[u8]; 3] = [b"star", b"ted on port 80", b"80\n"];
        let found = first_match(r"started on port \d+", &pieces);
        assert_eq!(found.as_deref(), Some("started on port 80"));
        assert_eq!(first_match("^ted", &pieces), None);
    }

    #[test]
    fn lines_have_their_ends_and_a_prompt_is_one() {
        assert_eq!(
            first_match("^ok$", &[b"no\n", b"ok\n"]).as_deref(),
            Some("ok")
        );
        assert_eq!(
            first_match(r">>> $", &[b"Python\n>>> "]).as_deref(),
            Some(">>> ")
        );
        assert_eq!(first_match("^b", &[b"ab"]), None);
    }

    #[test]
    fn what_has_been_looked_at_is_forgotten_and_begins_no_line() {
        let long = vec![b'a'; 3 * WINDOW_BYTES_MAX];
        let mut pattern = Pattern::new("^a+b").expect("a pattern");
        assert_eq!(pattern.push(&long), None);
        assert!(pattern.window.len() <= WINDOW_BYTES_MAX);
        assert_eq!(pattern.push(b"b\n"), None);
        assert!(pattern.push(b"ab").is_some());
    }

    #[test]
    fn colours_and_rewritten_lines_are_seen_as_on_a_terminal() {
        let coloured: [&[u8]; 2] = [b"\x1b[32mready\x1b[0", b"m in \x1b[1m300\x1b[0m ms\n"];
        let found = first_match(r"^ready in \d+ ms$", &coloured);
        assert_eq!(found.as_deref(), Some("ready in 300 ms"));
        assert!(first_match("^100%$", &[b" 10%\r 50%", b"\r100%\n"]).is_some());
    }

    #[test]
    fn a_pattern_that_is_too_much_is_refused() {
        assert!(Pattern::new("(").is_err());
        assert!(Pattern::new(&"x".repeat(5000)).is_err());
        assert!(Pattern::new(r"(\w{1000}){1000}").is_err());
    }

    proptest! {
        #[test]
        fn however_it_is_cut_a_short_text_matches_the_same(
            text in "[ab\\n]{0,40}",
            cuts in prop::collection::vec(0usize..40, 0..4),
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> =
                cuts.windows(2).map(|cut| &text.as_bytes()[cut[0]..cut[1]]).collect();
            let whole = first_match("ab\\nb", &[text.as_bytes()]);
            prop_assert_eq!(first_match("ab\\nb", &pieces), whole);
        }
    }
}
