//! A pattern over output that is still being written.

use regex::bytes::{Regex, RegexBuilder};

/// Bytes of a pattern.
const PATTERN_BYTES_MAX: usize = 4 * 1024;

/// Bytes that a compiled pattern may have: the time that it takes grows with
/// them.
const COMPILED_BYTES_MAX: usize = 512 * 1024;

/// Bytes of output that a match can reach over.
const WINDOW_BYTES_MAX: usize = 16 * 1024;

/// Bytes of a match that are told.
const MATCHED_BYTES_MAX: usize = 1024;

/// Looks for a pattern in output that comes in pieces. `^` and `$` are the ends
/// of lines; the end of what has been written counts as one, so that a prompt
/// can be waited for.
#[derive(Debug)]
pub(super) struct Pattern {
    regex: Regex,
    /// What a match may begin in, and one byte before it once that is there.
    window: Vec<u8>,
    /// Where in the window a match may begin.
    from: usize,
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
            from: 0,
        })
    }

    /// Takes the next piece, and gives what matched.
    pub(super) fn push(&mut self, piece: &[u8]) -> Option<String> {
        self.window.extend_from_slice(piece);
        if let Some(found) = self.regex.find_at(&self.window, self.from) {
            let told = found.as_bytes();
            let told = &told[..told.len().min(MATCHED_BYTES_MAX)];
            return Some(String::from_utf8_lossy(told).into_owned());
        }
        let surplus = self.window.len().saturating_sub(WINDOW_BYTES_MAX + 1);
        if surplus > 0 {
            self.window.drain(..surplus);
            // What was before a match decides whether it begins a line.
            self.from = 1;
        }
        None
    }

    /// Something is missing between the last piece and the next.
    pub(super) fn skip(&mut self) {
        self.window.clear();
        self.from = 0;
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
        assert!(pattern.window.len() <= WINDOW_BYTES_MAX + 1);
        assert_eq!(pattern.push(b"b\n"), None);
        assert!(pattern.push(b"ab").is_some());
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
