//! Words: quotes, escapes and patterns.

use super::{Read, Reader, is_metacharacter, is_name};
use crate::line::{Obstacle, Word};
use glass_model::ShellKind;

/// How far a brace is followed before it counts as a list, in bytes.
const BRACE_BYTES_MAX: usize = 256;

/// Longest name before the parenthesis of an array, in bytes.
const NAME_BYTES_MAX: usize = 256;

/// A word that is being read.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) value: Vec<u8>,
    pub(super) quoted: bool,
    pub(super) expands: bool,
    pattern_at: Option<usize>,
    tilde: bool,
}

impl Draft {
    fn pattern(&mut self) {
        self.pattern_at.get_or_insert(self.value.len());
    }
}

impl Reader<'_> {
    /// The word that stands here; empty, where none does.
    pub(super) fn word(&mut self) -> Read<Word> {
        self.peek();
        let start = self.at;
        let mut draft = Draft::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'\'' => self.single(&mut draft)?,
                b'"' => self.double(&mut draft)?,
                b'\\' => self.escape(&mut draft)?,
                b'`' => self.backticks(&mut draft, false)?,
                b'$' => self.dollar(&mut draft, false)?,
                b'<' | b'>' if self.byte(1) == Some(b'(') => self.process(&mut draft, 2)?,
                b'(' => {
                    if !self.open_parenthesis(&mut draft, start)? {
                        break;
                    }
                }
                byte if is_metacharacter(byte) => break,
                byte => self.plain(&mut draft, byte, start),
            }
        }
        let raw = self.raw_since(start);
        // The program of this name is no pattern.
        if raw == "[" {
            draft.pattern_at = None;
        }
        Ok(Word {
            raw,
            value: String::from_utf8_lossy(&draft.value).into_owned(),
            quoted: draft.quoted,
            expands: draft.expands,
            pattern_at: draft.pattern_at,
            tilde: draft.tilde,
        })
    }

    /// A character without quotes.
    fn plain(&mut self, draft: &mut Draft, byte: u8, start: usize) {
        match byte {
            b'*' | b'?' | b'[' => draft.pattern(),
            b'^' | b'#' if self.is_zsh() => draft.pattern(),
            b'~' if self.at == start => self.tilde(draft),
            b'=' if self.at == start && self.is_zsh() => {
                self.obstacle(Obstacle::OwnExpansion, "=");
            }
            b'{' if self.at_brace_list() => {
                self.obstacle(Obstacle::BraceList, "{");
                draft.pattern();
            }
            b'!' => self.history(),
            _ => {}
        }
        draft.value.push(byte);
        self.bump(1);
    }

    /// `~` and `~/…` are the home directory; `~name`, `~+` and the like depend
    /// on more than that.
    fn tilde(&mut self, draft: &mut Draft) {
        draft.tilde = true;
        if !self
            .byte(1)
            .is_none_or(|next| next == b'/' || is_metacharacter(next))
        {
            self.obstacle(Obstacle::OwnExpansion, "~");
        }
    }

    /// An interactive shell replaces `!x`, also in double quotes.
    fn history(&mut self) {
        let next = self.byte(1);
        let plain = next.is_none_or(|next| is_metacharacter(next) || matches!(next, b'=' | b'"'));
        if !plain {
            self.obstacle(Obstacle::History, "!");
        }
    }

    /// Whether `{a,b}` or `{1..3}` stands here. Only braces around plain letters,
    /// as in `{}` and `HEAD@{1}`, surely are none.
    fn at_brace_list(&self) -> bool {
        let rest = &self.source.as_bytes()[self.at + 1..];
        let is_plain = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'_' | b'-');
        let plain = rest
            .iter()
            .take(BRACE_BYTES_MAX)
            .take_while(is_plain)
            .count();
        rest.get(plain) != Some(&b'}')
    }

    fn single(&mut self, draft: &mut Draft) -> Read<()> {
        draft.quoted = true;
        let rest = &self.source[self.at + 1..];
        let Some(length) = rest.find('\'') else {
            return Err("a single quote is not closed");
        };
        draft.value.extend_from_slice(&rest.as_bytes()[..length]);
        self.bump(length + 2);
        Ok(())
    }

    fn escape(&mut self, draft: &mut Draft) -> Read<()> {
        draft.quoted = true;
        self.bump(1);
        let Some(next) = self.source[self.at..].chars().next() else {
            return Err("a backslash escapes nothing");
        };
        let mut buffer = [0; 4];
        draft
            .value
            .extend_from_slice(next.encode_utf8(&mut buffer).as_bytes());
        self.bump(next.len_utf8());
        Ok(())
    }

    pub(super) fn double(&mut self, draft: &mut Draft) -> Read<()> {
        draft.quoted = true;
        self.bump(1);
        loop {
            match self.peek() {
                None => return Err("a double quote is not closed"),
                Some(b'"') => {
                    self.bump(1);
                    return Ok(());
                }
                Some(b'\\') => match self.byte(1) {
                    Some(next @ (b'$' | b'`' | b'"' | b'\\')) => {
                        draft.value.push(next);
                        self.bump(2);
                    }
                    _ => {
                        draft.value.push(b'\\');
                        self.bump(1);
                    }
                },
                Some(b'$') => self.dollar(draft, true)?,
                Some(b'`') => self.backticks(draft, true)?,
                Some(byte) => {
                    if byte == b'!' {
                        self.history();
                    }
                    draft.value.push(byte);
                    self.bump(1);
                }
            }
        }
    }

    /// A `(` inside a word: an array, a process substitution of zsh, or a
    /// pattern. Otherwise the word ends before it.
    fn open_parenthesis(&mut self, draft: &mut Draft, start: usize) -> Read<bool> {
        if self.at == start {
            return Ok(false);
        }
        let last = self.source.as_bytes()[self.at - 1];
        if last == b'=' && self.at - start <= NAME_BYTES_MAX {
            let before = self.raw_since(start);
            if before == "=" && self.is_zsh() {
                self.process(draft, 1)?;
                return Ok(true);
            }
            let name = before.trim_end_matches('=');
            if is_name(name.strip_suffix('+').unwrap_or(name)) {
                self.array(draft)?;
                return Ok(true);
            }
        }
        let opens = matches!(last, b'?' | b'*' | b'+' | b'@' | b'!');
        if self.shell == ShellKind::Bash && opens && self.byte(1) != Some(b')') {
            self.pattern_group(draft)?;
            return Ok(true);
        }
        Ok(false)
    }

    fn array(&mut self, draft: &mut Draft) -> Read<()> {
        self.obstacle(Obstacle::Assignment, "(");
        self.bump(1);
        self.enter()?;
        loop {
            self.skip_lines()?;
            if self.peek() == Some(b')') {
                self.bump(1);
                self.leave();
                draft.expands = true;
                return Ok(());
            }
            let start = self.at;
            self.word()?;
            if self.at == start {
                return Err("an array is not closed");
            }
        }
    }

    fn pattern_group(&mut self, draft: &mut Draft) -> Read<()> {
        self.obstacle(Obstacle::PatternGroup, "(");
        draft.pattern();
        self.bump(1);
        self.enter()?;
        loop {
            self.word()?;
            match self.peek() {
                Some(b')') => break,
                Some(b'|' | b'(' | b' ') => self.bump(1),
                _ => return Err("a pattern is not closed"),
            }
        }
        self.bump(1);
        self.leave();
        Ok(())
    }
}
