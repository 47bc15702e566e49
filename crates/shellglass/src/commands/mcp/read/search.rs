//! Lines that match, each with the offset that it stands at.

use regex::Regex;
use std::fmt::Write as _;

/// Lines that are shown, unless asked otherwise.
const LINES_DEFAULT: u32 = 100;

/// Bytes of a line that are looked at. The rest of a longer one is passed over.
const LINE_BYTES_MAX: usize = 64 << 10;

/// Characters of a line that are shown.
const LINE_CHARS_MAX: usize = 1000;

/// A search through output that comes in pieces.
pub(super) struct Search {
    regex: Regex,
    /// The line so far.
    line: Vec<u8>,
    /// Where it begins.
    start: u64,
    /// The byte after the last one read.
    at: u64,
    lines_left: u32,
    chars_left: usize,
    found: Found,
}

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// The lines, each after its offset.
    pub text: String,
    /// Lines that matched.
    pub count: u64,
    /// Those of them that are not in the text.
    pub left_out: u64,
    /// Where the first of those stands.
    pub next_offset: u64,
}

impl Search {
    pub(super) fn new(regex: Regex, from: u64, lines: Option<u32>, chars_max: usize) -> Search {
        Search {
            regex,
            line: Vec::new(),
            start: from,
            at: from,
            lines_left: lines.unwrap_or(LINES_DEFAULT),
            chars_left: chars_max,
            found: Found::default(),
        }
    }

    /// What comes next stands at this offset.
    pub(super) fn begin(&mut self, at: u64) {
        if at > self.at {
            // A line does not go on across what was not kept.
            self.end_line();
            self.start = at;
            self.at = at;
        }
    }

    /// The name of a secret of so many bytes.
    pub(super) fn push_for(&mut self, name: &[u8], length: u64) {
        self.append(name);
        self.at += length;
    }

    /// What was written next.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(newline) = rest.iter().position(|byte| *byte == b'\n') {
            self.append(&rest[..newline]);
            self.at += newline as u64 + 1;
            self.end_line();
            self.start = self.at;
            rest = &rest[newline + 1..];
        }
        self.append(rest);
        self.at += rest.len() as u64;
    }

    fn append(&mut self, bytes: &[u8]) {
        let room = LINE_BYTES_MAX.saturating_sub(self.line.len());
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let is_plain = |byte: &u8| *byte >= 0x20 || *byte == b'\t';
        // Most lines are as a terminal shows them already.
        let shown = match std::str::from_utf8(&line) {
            Ok(text) if line.iter().all(is_plain) => text.to_owned(),
            _ => glass_vt::text::clean(&line),
        };
        if !line.is_empty() && self.regex.is_match(&shown) {
            self.take(&shown);
        }
        self.line = line;
        self.line.clear();
    }

    fn take(&mut self, line: &str) {
        self.found.count += 1;
        let line: String = line.chars().take(LINE_CHARS_MAX).collect();
        let row = format!("{}: {line}", self.start);
        let chars = row.chars().count() + 1;
        if self.lines_left == 0 || chars > self.chars_left {
            // In order: what comes after a line that is left out is left out.
            self.lines_left = 0;
            if self.found.left_out == 0 {
                self.found.next_offset = self.start;
            }
            self.found.left_out += 1;
            return;
        }
        self.lines_left -= 1;
        self.chars_left -= chars;
        writeln!(self.found.text, "{row}").expect("a String takes everything");
    }

    /// What was found, the last line included.
    pub(super) fn finish(mut self) -> Found {
        self.end_line();
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::{Found, Search};
    use regex::Regex;

    fn search(pieces: &[(u64, &[u8])], lines: Option<u32>) -> Found {
        let regex = Regex::new("err").expect("a pattern");
        let mut search = Search::new(regex, 0, lines, 1000);
        for (at, bytes) in pieces {
            search.begin(*at);
            search.push(bytes);
        }
        search.finish()
    }

    #[test]
    fn where_the_pieces_are_cut_changes_nothing() {
        let text = b"ok\nerr 1\n\x1b[31merr\x1b[0m 2\nno\nerr 3";
        let whole = search(&[(0, text)], None);
        assert_eq!(whole.text, "3: err 1\n9: err 2\n27: err 3\n");
        for at in 0..text.len() {
            let (left, right) = text.split_at(at);
            assert_eq!(search(&[(0, left), (at as u64, right)], None), whole);
        }
    }

    #[test]
    fn what_is_left_out_is_counted_and_found_again() {
        let found = search(&[(0, b"err\nerr\nerr\n")], Some(1));
        assert_eq!((found.count, found.left_out, found.next_offset), (3, 2, 4));
        assert_eq!(found.text, "0: err\n");
    }

    #[test]
    fn a_line_does_not_go_on_across_a_hole() {
        let found = search(&[(0, b"er"), (10, b"r\nerr\n")], None);
        assert_eq!(found.text, "12: err\n");
    }

    #[test]
    fn a_line_without_end_is_bounded() {
        let long = vec![b'x'; 1 << 20];
        let found = search(&[(0, b"err"), (3, &long)], None);
        assert_eq!(found.count, 1);
        assert!(found.text.len() < 1100);
    }
}
