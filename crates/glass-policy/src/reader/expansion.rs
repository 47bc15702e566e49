//! What expands inside words: substitutions, variables, arithmetic. Each is an
//! obstacle; it is read for the commands that it runs.

use super::word::Draft;
use super::{Read, Reader};
use crate::limits::COMMANDS_MAX;
use crate::line::Obstacle;

/// What a single quote means inside arithmetic: `((…))` is written without
/// quotes around it, `$((…))` is read as if it stood in double quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    /// It quotes.
    Quote,
    /// It is a character.
    Literal,
}

impl Reader<'_> {
    /// A `$`, with or without something that it expands.
    pub(super) fn dollar(&mut self, draft: &mut Draft, in_double: bool) -> Read<()> {
        let start = self.at;
        self.bump(1);
        match self.peek() {
            Some(b'(') => self.dollar_parenthesis()?,
            Some(b'{') => self.parameter(in_double)?,
            Some(b'[') => self.old_arithmetic()?,
            Some(b'\'') if !in_double => return self.escapes(draft),
            Some(b'"') if !in_double => {
                self.obstacle(Obstacle::DollarQuote, "$\"");
                return Ok(());
            }
            // A number: it expands, and can do no harm.
            Some(b'?') => self.bump(1),
            Some(next) if begins_name(next) => self.variable(),
            Some(next) if self.is_zsh() && zsh_begins_name(next) => self.variable(),
            _ => {
                draft.value.push(b'$');
                return Ok(());
            }
        }
        draft.expands = true;
        draft
            .value
            .extend_from_slice(self.raw_since(start).as_bytes());
        Ok(())
    }

    fn variable(&mut self) {
        let start = self.at;
        let first = self.byte(0);
        self.bump(1);
        if first.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_') {
            while self
                .peek()
                .is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            {
                self.bump(1);
            }
        }
        // The name may begin with a character of several bytes.
        while !self.source.is_char_boundary(self.at) {
            self.bump(1);
        }
        let text = format!("${}", self.raw_since(start));
        self.obstacle(Obstacle::Variable, &text);
    }

    /// `$(…)` or `$((…))`; what does not end like arithmetic is not.
    fn dollar_parenthesis(&mut self) -> Read<()> {
        self.enter()?;
        if self.byte(1) == Some(b'(') {
            let mark = self.mark();
            self.bump(2);
            if self.arithmetic(Quotes::Literal).is_ok() {
                self.leave();
                return Ok(());
            }
            self.go_back(&mark);
        }
        self.bump(1);
        self.obstacle(Obstacle::Substitution, "$(");
        self.list()?;
        self.expect(")", "a `$(` is not closed")?;
        self.leave();
        Ok(())
    }

    /// From behind `((` to behind `))`.
    pub(super) fn arithmetic(&mut self, quotes: Quotes) -> Read<()> {
        self.obstacle(Obstacle::Arithmetic, "((");
        self.enter()?;
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                None => return Err("arithmetic is not closed"),
                Some(b'(') => {
                    depth += 1;
                    self.bump(1);
                }
                Some(b')') if depth > 0 => {
                    depth -= 1;
                    self.bump(1);
                }
                Some(b')') if self.byte(1) == Some(b')') => {
                    self.bump(2);
                    self.leave();
                    return Ok(());
                }
                Some(b')') => return Err("arithmetic is not closed"),
                Some(byte) => self.inner(byte, quotes)?,
            }
        }
    }

    fn old_arithmetic(&mut self) -> Read<()> {
        self.obstacle(Obstacle::Arithmetic, "$[");
        self.bump(1);
        self.enter()?;
        loop {
            match self.peek() {
                None => return Err("arithmetic is not closed"),
                Some(b']') => {
                    self.bump(1);
                    self.leave();
                    return Ok(());
                }
                Some(byte) => self.inner(byte, Quotes::Literal)?,
            }
        }
    }

    /// One thing inside arithmetic or a parameter's braces.
    fn inner(&mut self, byte: u8, quotes: Quotes) -> Read<()> {
        let mut ignored = Draft::default();
        match byte {
            b'$' => self.dollar(&mut ignored, quotes == Quotes::Literal),
            b'`' => self.backticks(&mut ignored, quotes == Quotes::Literal),
            b'"' => self.double(&mut ignored),
            b'\'' if quotes == Quotes::Quote => self.skip_single(),
            b'\\' => {
                self.bump(2);
                self.finish_character();
                Ok(())
            }
            _ => {
                self.bump(1);
                Ok(())
            }
        }
    }

    fn skip_single(&mut self) -> Read<()> {
        let Some(length) = self.source[self.at + 1..].find('\'') else {
            return Err("a single quote is not closed");
        };
        self.bump(length + 2);
        Ok(())
    }

    fn finish_character(&mut self) {
        while !self.source.is_char_boundary(self.at) {
            self.bump(1);
        }
    }

    /// `${…}`.
    fn parameter(&mut self, in_double: bool) -> Read<()> {
        self.bump(1);
        self.enter()?;
        if matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'|')) {
            return self.substitution_in_braces();
        }
        self.obstacle(Obstacle::Variable, "${");
        let name = self.source[self.at..].trim_start_matches(['!', '#']);
        let operator = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let operator = operator.and_then(|at| name[at..].chars().next());
        let is_pattern = matches!(operator, Some('#' | '%' | '/' | '^' | ','));
        let quotes = match in_double && !is_pattern {
            true => Quotes::Literal,
            false => Quotes::Quote,
        };
        loop {
            match self.peek() {
                None => return Err("a `${` is not closed"),
                Some(b'}') => {
                    self.bump(1);
                    self.leave();
                    return Ok(());
                }
                Some(b'<' | b'>') if !in_double && self.byte(1) == Some(b'(') => {
                    self.process(&mut Draft::default(), 2)?;
                }
                Some(byte) => self.inner(byte, quotes)?,
            }
        }
    }

    /// `${ command; }`, as bash has it since 5.3.
    fn substitution_in_braces(&mut self) -> Read<()> {
        self.obstacle(Obstacle::Substitution, "${ ");
        if self.byte(0) == Some(b'|') {
            self.bump(1);
        }
        self.list()?;
        self.skip_blanks();
        if self.peek() != Some(b'}') {
            return Err("a `${` is not closed");
        }
        self.bump(1);
        self.leave();
        Ok(())
    }

    /// Backticks: what stands between them is unescaped and read on its own.
    pub(super) fn backticks(&mut self, draft: &mut Draft, in_double: bool) -> Read<()> {
        let start = self.at;
        self.obstacle(Obstacle::Substitution, "`");
        self.bump(1);
        let mut inner = Vec::new();
        loop {
            match (self.byte(0), self.byte(1)) {
                (None, _) => return Err("a backtick is not closed"),
                (Some(b'`'), _) => break,
                (Some(b'\\'), Some(next @ (b'`' | b'\\' | b'$'))) => {
                    inner.push(next);
                    self.bump(2);
                }
                (Some(b'\\'), Some(b'"')) if in_double => {
                    inner.push(b'"');
                    self.bump(2);
                }
                (Some(byte), _) => {
                    inner.push(byte);
                    self.bump(1);
                }
            }
        }
        self.bump(1);
        draft.expands = true;
        draft
            .value
            .extend_from_slice(self.raw_since(start).as_bytes());
        let inner = String::from_utf8_lossy(&inner).into_owned();
        self.nested(&inner, |reader| reader.whole())
    }

    /// `<(…)`, `>(…)` and, in zsh, `=(…)`.
    pub(super) fn process(&mut self, draft: &mut Draft, opening: usize) -> Read<()> {
        let start = self.at;
        self.obstacle(Obstacle::ProcessSubstitution, "<(");
        self.bump(opening);
        self.enter()?;
        self.list()?;
        self.expect(")", "a process substitution is not closed")?;
        self.leave();
        draft.expands = true;
        draft
            .value
            .extend_from_slice(self.raw_since(start).as_bytes());
        Ok(())
    }

    /// Text in which only `$`, backticks and backslashes mean something.
    pub(super) fn expanding_text(&mut self) -> Read<()> {
        let mut ignored = Draft::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'$' => self.dollar(&mut ignored, true)?,
                b'`' => self.backticks(&mut ignored, false)?,
                b'\\' => {
                    self.bump(2);
                    self.finish_character();
                }
                _ => self.bump(1),
            }
        }
        Ok(())
    }

    /// Reads another text one level deeper and takes over what is in it.
    pub(super) fn nested(
        &mut self,
        text: &str,
        read: impl FnOnce(&mut Reader<'_>) -> Read<()>,
    ) -> Read<()> {
        self.enter()?;
        let mut reader = Reader::new(text, self.shell, self.depth, self.steps);
        reader.piped = self.piped;
        let result = read(&mut reader);
        self.steps = reader.steps;
        self.line.commands.append(&mut reader.line.commands);
        self.line.redirects.append(&mut reader.line.redirects);
        self.line.obstacles.append(&mut reader.line.obstacles);
        self.leave();
        if self.line.commands.len() > COMMANDS_MAX {
            self.line.commands.truncate(COMMANDS_MAX);
            return Err("it has too many commands");
        }
        result
    }

    /// `$'…'`.
    fn escapes(&mut self, draft: &mut Draft) -> Read<()> {
        self.obstacle(Obstacle::DollarQuote, "$'");
        draft.quoted = true;
        let body = &self.source[self.at + 1..];
        let (value, length) = unescape(body).ok_or("a single quote is not closed")?;
        draft.value.extend_from_slice(&value);
        self.bump(length + 1);
        Ok(())
    }
}

/// The value of what follows `$'`, and its length with the closing quote.
fn unescape(body: &str) -> Option<(Vec<u8>, usize)> {
    let bytes = body.as_bytes();
    let mut value = Vec::new();
    let mut at = 0;
    loop {
        match *bytes.get(at)? {
            b'\'' => return Some((value, at + 1)),
            b'\\' => {
                let letter = *bytes.get(at + 1)?;
                at += 2 + escaped(letter, &bytes[at + 2..], &mut value);
            }
            byte => {
                value.push(byte);
                at += 1;
            }
        }
    }
}

/// Adds the value of an escape and says how many bytes follow its letter.
fn escaped(letter: u8, rest: &[u8], value: &mut Vec<u8>) -> usize {
    let digits = |radix: u32, most: usize| {
        let is_digit = |byte: &&u8| char::from(**byte).is_digit(radix);
        let count = rest.iter().take(most).take_while(is_digit).count();
        let fold = |sum: u32, byte: &u8| {
            sum.wrapping_mul(radix) + char::from(*byte).to_digit(radix).unwrap_or(0)
        };
        (rest[..count].iter().fold(0, fold), count)
    };
    let mut push_char = |code: u32| {
        let mut buffer = [0; 4];
        let c = char::from_u32(code).unwrap_or('\u{fffd}');
        value.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
    };
    match letter {
        b'x' => {
            let (code, count) = digits(16, 2);
            value.push(code.to_le_bytes()[0]);
            count
        }
        b'u' | b'U' => {
            let (code, count) = digits(16, if letter == b'u' { 4 } else { 8 });
            push_char(code);
            count
        }
        b'0'..=b'7' => {
            let (code, count) = digits(8, 2);
            let code = u32::from(letter - b'0') << (3 * count) | code;
            value.push(code.to_le_bytes()[0]);
            count
        }
        b'c' => {
            value.push(rest.first().map_or(b'c', |byte| byte & 0x1f));
            usize::from(!rest.is_empty())
        }
        letter => {
            value.push(match letter {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'a' => 7,
                b'b' => 8,
                b'f' => 12,
                b'v' => 11,
                b'e' | b'E' => 27,
                other => other,
            });
            0
        }
    }
}

fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@' | b'*' | b'#' | b'-' | b'$' | b'!')
}

fn zsh_begins_name(byte: u8) -> bool {
    !byte.is_ascii() || matches!(byte, b'=' | b'^' | b'~' | b'+' | b':')
}
