//! A text that is looked for in lines, as a terminal would show them. Pure.

use regex::{Regex, RegexBuilder};
use std::borrow::Cow;
use std::time::Instant;

/// Bytes of a text that can be looked for.
const TEXT_BYTES_MAX: usize = 1024;

/// Bytes that a compiled expression may have: the time that it takes grows with
/// them.
const COMPILED_BYTES_MAX: usize = 512 * 1024;

/// Bytes of a line that are looked at; the rest of a longer one is a line of its
/// own.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// Matches of nothing in a line after which the clock is looked at again: each of
/// them may have looked at all of the line.
const EMPTY_MATCHES: usize = 64;

/// Characters that are told around a match, on each side, and of it.
const AROUND_CHARS_MAX: usize = 80;
const MATCH_CHARS_MAX: usize = 200;

/// A match in its line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    /// What stands before it.
    pub before: String,
    /// What matched.
    pub text: String,
    /// What stands behind it.
    pub after: String,
}

/// Looking took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Late;

/// What is looked for.
#[derive(Debug)]
pub(super) struct Needle(Regex);

impl Needle {
    pub(super) fn new(text: &str, is_regex: bool) -> Result<Needle, String> {
        let bytes = text.len();
        if bytes == 0 {
            return Err("it is empty".to_owned());
        }
        if bytes > TEXT_BYTES_MAX {
            return Err(format!(
                "it has {bytes} bytes, and {TEXT_BYTES_MAX} are the limit"
            ));
        }
        let pattern = match is_regex {
            true => Cow::Borrowed(text),
            false => Cow::Owned(regex::escape(text)),
        };
        RegexBuilder::new(&pattern)
            .case_insensitive(true)
            .size_limit(COMPILED_BYTES_MAX)
            .dfa_size_limit(2 * COMPILED_BYTES_MAX)
            .build()
            .map(Needle)
            .map_err(|error| error.to_string())
    }

    /// Where a line has it. A match of nothing is none.
    pub(super) fn find(&self, line: &str, deadline: Instant) -> Result<Option<Spot>, Late> {
        for (count, found) in self.0.find_iter(line).enumerate() {
            if !found.is_empty() {
                return Ok(Some(spot(line, &found)));
            }
            if count % EMPTY_MATCHES == EMPTY_MATCHES - 1 && Instant::now() > deadline {
                return Err(Late);
            }
        }
        Ok(None)
    }

    /// Looks through output that comes in pieces, until the deadline.
    pub(super) fn lines(&self, deadline: Instant) -> Lines<'_> {
        Lines {
            needle: self,
            deadline,
            is_late: false,
            rest: Vec::new(),
            spots: Vec::new(),
        }
    }
}

/// A match, and what stands around it.
fn spot(line: &str, found: &regex::Match<'_>) -> Spot {
    let before = &line[..found.start()];
    let skipped = before.chars().count().saturating_sub(AROUND_CHARS_MAX);
    let first = |text: &str, max| text.chars().take(max).collect();
    Spot {
        before: before.chars().skip(skipped).collect(),
        text: first(found.as_str(), MATCH_CHARS_MAX),
        after: first(&line[found.end()..], AROUND_CHARS_MAX),
    }
}

/// Output, line by line.
pub(super) struct Lines<'a> {
    needle: &'a Needle,
    deadline: Instant,
    /// Whether the rest was not looked at.
    is_late: bool,
    /// The beginning of a line whose end has not come.
    rest: Vec<u8>,
    spots: Vec<Spot>,
}

impl Lines<'_> {
    /// Takes the next piece, and looks until there are `max` matches.
    pub(super) fn push(&mut self, mut piece: &[u8], max: usize) {
        while self.spots.len() < max && !self.is_late && !piece.is_empty() {
            let room = LINE_BYTES_MAX - self.rest.len();
            let within = &piece[..piece.len().min(room)];
            match within.iter().position(|byte| *byte == b'\n') {
                Some(end) if self.rest.is_empty() => {
                    self.look(&piece[..end]);
                    piece = &piece[end + 1..];
                }
                Some(end) => {
                    self.rest.extend_from_slice(&piece[..end]);
                    piece = &piece[end + 1..];
                    self.flush();
                }
                None => {
                    self.rest.extend_from_slice(within);
                    piece = &piece[within.len()..];
                    if self.rest.len() >= LINE_BYTES_MAX {
                        self.flush();
                    }
                }
            }
        }
    }

    /// Something is not looked at: what comes is on another line.
    pub(super) fn leave_out(&mut self) {
        self.flush();
    }

    /// How many there are so far.
    pub(super) fn found(&self) -> usize {
        self.spots.len()
    }

    /// Whether it took too long.
    pub(super) fn is_late(&self) -> bool {
        self.is_late
    }

    /// All of them, and whether it took too long; the last line need not be ended.
    pub(super) fn finish(mut self, max: usize) -> (Vec<Spot>, bool) {
        if self.spots.len() < max {
            self.flush();
        }
        (self.spots, self.is_late)
    }

    fn flush(&mut self) {
        let line = std::mem::take(&mut self.rest);
        self.look(&line);
    }

    fn look(&mut self, line: &[u8]) {
        if self.is_late || Instant::now() > self.deadline {
            self.is_late = true;
            return;
        }
        let is_plain = |byte: &u8| *byte >= b' ' && *byte != 0x7f;
        let shown = match line.iter().all(is_plain) {
            true => String::from_utf8_lossy(line),
            false => Cow::Owned(glass_vt::text::clean(line)),
        };
        match self.needle.find(&shown, self.deadline) {
            Ok(found) => self.spots.extend(found),
            Err(Late) => self.is_late = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LINE_BYTES_MAX, Late, Needle, Spot, TEXT_BYTES_MAX};
    use proptest::prelude::*;
    use std::time::{Duration, Instant};

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(1000)
    }

    fn find(needle: &Needle, line: &str) -> Option<Spot> {
        needle.find(line, later()).expect("there is time")
    }

    fn found(needle: &Needle, output: &[u8], chunk: usize) -> Vec<Spot> {
        let mut lines = needle.lines(later());
        for piece in output.chunks(chunk.max(1)) {
            lines.push(piece, 3);
        }
        lines.finish(3).0
    }

    fn spot(before: &str, text: &str, after: &str) -> Spot {
        Spot {
            before: before.to_owned(),
            text: text.to_owned(),
            after: after.to_owned(),
        }
    }

    #[test]
    fn a_text_is_found_in_any_case_and_stands_for_itself() {
        let needle = Needle::new("Err.r", false).expect("a text");
        assert_eq!(
            find(&needle, "an ERR.R here"),
            Some(spot("an ", "ERR.R", " here"))
        );
        assert_eq!(find(&needle, "an error here"), None);
        let regex = Needle::new("err.r$", true).expect("a pattern");
        assert_eq!(find(&regex, "an error"), Some(spot("an ", "error", "")));
        let nothing = Needle::new("x*", true).expect("a pattern");
        assert_eq!(find(&nothing, "abc"), None);
    }

    #[test]
    fn what_takes_too_long_is_left() {
        let nothing = Needle::new("(.*x)?", true).expect("a pattern");
        let line = "a".repeat(1000);
        let deadline = Instant::now();
        std::thread::sleep(Duration::from_millis(1));
        assert_eq!(nothing.find(&line, deadline), Err(Late));
        let mut lines = nothing.lines(deadline);
        lines.push(b"a\nx\n", 3);
        assert!(lines.is_late());
        assert_eq!(lines.finish(3), (Vec::new(), true));
    }

    #[test]
    fn lines_are_looked_at_as_a_terminal_shows_them() {
        let needle = Needle::new("50% done", false).expect("a text");
        let output = b"10% done\r50% \x1b[1mdone\x1b[0m\nother\n50% done";
        for chunk in [1, 7, 100] {
            let all = found(&needle, output, chunk);
            assert_eq!(all, [spot("", "50% done", ""), spot("", "50% done", "")]);
        }
    }

    #[test]
    fn what_cannot_be_looked_for_is_said() {
        for (text, is_regex) in [("", false), ("(", true), ("\\w{9}{9}{9}{9}", true)] {
            assert!(Needle::new(text, is_regex).is_err(), "{text}");
        }
        assert!(Needle::new(&"x".repeat(TEXT_BYTES_MAX + 1), false).is_err());
    }

    #[test]
    fn what_is_told_of_a_long_line_is_short() {
        let needle = Needle::new("needle", false).expect("a text");
        let long = format!("{}needle{}", "ä".repeat(4000), "ö".repeat(4000));
        let spot = find(&needle, &long).expect("it is there");
        assert_eq!(spot.before, "ä".repeat(80));
        assert_eq!(spot.after, "ö".repeat(80));
        let endless = vec![b'x'; 3 * LINE_BYTES_MAX + 5];
        assert!(found(&needle, &endless, 1 << 20).is_empty());
    }

    proptest! {
        #[test]
        fn any_output_in_any_pieces_has_the_same_spots(
            output in proptest::collection::vec(
                prop_oneof![Just(b'a'), Just(b'b'), Just(b'\n'), any::<u8>()], 0..300),
            chunk in 1_usize..40,
        ) {
            let needle = Needle::new("ab", false).expect("a text");
            let whole = found(&needle, &output, output.len());
            prop_assert_eq!(found(&needle, &output, chunk), whole);
        }
    }
}
