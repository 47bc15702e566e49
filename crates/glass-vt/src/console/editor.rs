//! One line that is being written, and those that were written before it.

use super::keys::Key;
use super::width::cell_width;
use std::collections::VecDeque;

/// Longest line, in bytes. What is typed beyond is refused with a bell.
pub const LINE_BYTES_MAX: usize = 64 * 1024;

/// Lines that are remembered.
pub const HISTORY_LINES_MAX: usize = 500;

/// Bytes of remembered lines.
pub const HISTORY_BYTES_MAX: usize = 256 * 1024;

/// Joins two characters into one.
const JOINER: char = '\u{200d}';

/// What a key has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edited {
    /// The line or its cursor is another.
    Changed,
    /// Nothing, and there was something to do.
    Refused,
}

/// A line, its cursor and the lines before it.
#[derive(Debug, Default)]
pub(super) struct Editor {
    text: String,
    /// Where in the text, in bytes; always between two characters as people see
    /// them.
    cursor: usize,
    history: VecDeque<String>,
    history_bytes: usize,
    /// Which remembered line is looked at.
    recalled: Option<usize>,
    /// What was written before one was.
    draft: String,
    killed: String,
}

impl Editor {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(super) fn go_to_end(&mut self) {
        self.cursor = self.text.len();
    }

    /// Takes the line away.
    pub(super) fn take(&mut self) -> String {
        self.cursor = 0;
        self.recalled = None;
        self.draft.clear();
        std::mem::take(&mut self.text)
    }

    /// Remembers a line; one that repeats the last is the same.
    pub(super) fn remember(&mut self, line: &str) {
        let is_new = self.history.back().is_none_or(|last| last != line);
        if line.trim().is_empty() || line.len() > LINE_BYTES_MAX || !is_new {
            return;
        }
        self.history.push_back(line.to_owned());
        self.history_bytes += line.len();
        while self.history.len() > HISTORY_LINES_MAX || self.history_bytes > HISTORY_BYTES_MAX {
            let oldest = self.history.pop_front().unwrap_or_default();
            self.history_bytes -= oldest.len();
            self.recalled = self.recalled.and_then(|at| at.checked_sub(1));
        }
    }

    /// Does what a key of the line means; those of the console mean nothing here.
    pub(super) fn press(&mut self, key: Key) -> Edited {
        let (text, at) = (&self.text, self.cursor);
        match key {
            Key::Char(c) => return self.insert(c.encode_utf8(&mut [0; 4])),
            Key::Yank => {
                let killed = self.killed.clone();
                return self.insert(&killed);
            }
            Key::Left => return self.move_to(before(text, at)),
            Key::Right => return self.move_to(after(text, at)),
            Key::WordLeft => return self.move_to(word_before(text, at, is_word)),
            Key::WordRight => return self.move_to(word_after(text, at)),
            Key::Home => self.cursor = start_of_row(text, at),
            Key::End => self.cursor = end_of_row(text, at),
            Key::Backspace => return self.remove(before(text, at)..at),
            Key::Delete => return self.remove(at..after(text, at)),
            Key::KillWordLeft => return self.kill(word_before(text, at, is_word)..at),
            Key::KillBlank => return self.kill(word_before(text, at, |c| !c.is_whitespace())..at),
            Key::KillWordRight => return self.kill(at..word_after(text, at)),
            Key::KillToStart => return self.kill(start_of_row(text, at)..at),
            Key::KillToEnd => return self.kill(at..end_of_row(text, at)),
            Key::Up => return self.recall_older(),
            Key::Down => return self.recall_newer(),
            Key::Enter | Key::Interrupt | Key::EndOfInput | Key::Clear => return Edited::Refused,
        }
        Edited::Changed
    }

    fn insert(&mut self, piece: &str) -> Edited {
        if piece.is_empty() || self.text.len() + piece.len() > LINE_BYTES_MAX {
            return Edited::Refused;
        }
        self.text.insert_str(self.cursor, piece);
        self.cursor += piece.len();
        // A mark joins the character before it; one that is written before a mark
        // takes it over.
        while self.cursor < self.text.len() && !is_boundary(&self.text, self.cursor) {
            self.cursor += char_bytes(&self.text, self.cursor);
        }
        Edited::Changed
    }

    fn move_to(&mut self, cursor: usize) -> Edited {
        if cursor == self.cursor {
            return Edited::Refused;
        }
        self.cursor = cursor;
        Edited::Changed
    }

    fn remove(&mut self, range: std::ops::Range<usize>) -> Edited {
        if range.is_empty() {
            return Edited::Refused;
        }
        self.cursor = range.start;
        self.text.replace_range(range, "");
        while !is_boundary(&self.text, self.cursor) {
            self.cursor = before(&self.text, self.cursor);
        }
        Edited::Changed
    }

    fn kill(&mut self, range: std::ops::Range<usize>) -> Edited {
        let killed = self.text[range.clone()].to_owned();
        let edited = self.remove(range);
        if edited == Edited::Changed {
            self.killed = killed;
        }
        edited
    }

    fn recall_older(&mut self) -> Edited {
        let newest = self.history.len();
        let Some(older) = self.recalled.unwrap_or(newest).checked_sub(1) else {
            return Edited::Refused;
        };
        if self.recalled.is_none() {
            self.draft = std::mem::take(&mut self.text);
        }
        self.recalled = Some(older);
        self.put(self.history[older].clone())
    }

    fn recall_newer(&mut self) -> Edited {
        let Some(at) = self.recalled else {
            return Edited::Refused;
        };
        match self.history.get(at + 1) {
            Some(newer) => {
                let newer = newer.clone();
                self.recalled = Some(at + 1);
                self.put(newer)
            }
            None => {
                self.recalled = None;
                let draft = std::mem::take(&mut self.draft);
                self.put(draft)
            }
        }
    }

    fn put(&mut self, line: String) -> Edited {
        self.cursor = line.len();
        self.text = line;
        Edited::Changed
    }
}

fn char_bytes(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(0, char::len_utf8)
}

/// Whether people see one character end and another begin here.
fn is_boundary(text: &str, at: usize) -> bool {
    let (Some(last), Some(next)) = (text[..at].chars().next_back(), text[at..].chars().next())
    else {
        return true;
    };
    last == '\n' || next == '\n' || (cell_width(next) > 0 && last != JOINER)
}

fn before(text: &str, at: usize) -> usize {
    let starts = text[..at].char_indices().rev().map(|(start, _)| start);
    starts
        .into_iter()
        .find(|start| is_boundary(text, *start))
        .unwrap_or(0)
}

fn after(text: &str, at: usize) -> usize {
    let mut end = at + char_bytes(text, at);
    while !is_boundary(text, end) {
        end += char_bytes(text, end);
    }
    end
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn word_before(text: &str, at: usize, is_part: fn(char) -> bool) -> usize {
    let end = text[..at].trim_end_matches(|c| !is_part(c)).len();
    let mut start = text[..end].trim_end_matches(is_part).len();
    while !is_boundary(text, start) {
        start = before(text, start);
    }
    start
}

fn word_after(text: &str, at: usize) -> usize {
    let rest = text[at..].trim_start_matches(|c| !is_word(c));
    let rest = rest.trim_start_matches(is_word);
    let mut end = text.len() - rest.len();
    while !is_boundary(text, end) {
        end += char_bytes(text, end);
    }
    end
}

fn start_of_row(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

fn end_of_row(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end)
}
