//! A private key: lines of Base64 behind a first line that says so.
//!
//! Nothing is held but the word that is being read. Once one word is a body,
//! the next ones are taken out until something else comes.

use super::{Context, Step};
use crate::hold::Mark;
use crate::limits::{BLOCK_HEADER_WORDS_MAX, TOKEN_BYTES_MAX};
use crate::rules::RuleId;

/// Shortest word that is the body, right behind the first line.
const FIRST_BODY_BYTES_MIN: usize = 16;

/// Shortest word that is the body, behind headers.
const LATER_BODY_BYTES_MIN: usize = 40;

/// Most words that a program puts before each line: a container's name and a
/// bar, a time, a level.
const PREFIX_WORDS_MAX: usize = 6;

/// A block behind its first line.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub rule: RuleId,
    /// Behind the last word that was taken out.
    pub held_from: u64,
    /// Where the current word begins.
    word: Option<u64>,
    words: usize,
    /// Words of the current line before the current one.
    line_words: usize,
    /// Words before the body on its first line.
    prefix: usize,
    /// The length of the body's first word.
    width: Option<usize>,
    /// Whether the body's last line was seen.
    is_last: bool,
    /// Whether the last byte was a backslash.
    is_escape: bool,
}

impl Block {
    /// Begins behind the first line.
    pub(crate) fn new(rule: RuleId, position: u64) -> Block {
        Block {
            rule,
            held_from: position,
            word: None,
            words: 0,
            line_words: 0,
            prefix: 0,
            width: None,
            is_last: false,
            is_escape: false,
        }
    }

    pub(super) fn step(&mut self, byte: Option<u8>, context: &Context<'_>) -> Step {
        let is_escaped = std::mem::replace(&mut self.is_escape, byte == Some(b'\\'));
        let is_line_end = match byte {
            Some(b'n' | b'r') => is_escaped,
            byte => matches!(byte, Some(b'\n' | b'\r')),
        };
        let step = self.step_word(byte, is_escaped, context);
        if is_line_end {
            self.line_words = 0;
        }
        step
    }

    fn step_word(&mut self, byte: Option<u8>, is_escaped: bool, context: &Context<'_>) -> Step {
        let is_space = match byte {
            None => true,
            Some(b'n' | b'r' | b't') if is_escaped => true,
            Some(byte) => byte.is_ascii_whitespace() || b"\\\"',`".contains(&byte),
        };
        match (self.word, is_space) {
            (None, false) => {
                self.word = Some(context.position);
                Step::Open
            }
            (None, true) if byte.is_none() => Step::nothing(),
            (None, true) => {
                if self.width.is_none() {
                    self.held_from = context.position + 1;
                }
                Step::Open
            }
            (Some(start), _) => {
                let is_long = context.position - start >= TOKEN_BYTES_MAX as u64;
                if is_space || is_long {
                    self.take_word(start, byte, context)
                } else {
                    Step::Open
                }
            }
        }
    }

    fn take_word(&mut self, start: u64, byte: Option<u8>, context: &Context<'_>) -> Step {
        let word = context.hold.slice(start, context.position);
        self.words += 1;
        let before = self.line_words;
        self.line_words += 1;
        self.word = None;
        let body = strip(word);
        let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=-_".contains(byte);
        let is_body = !body.is_empty() && body.iter().all(is_base64) && !body.starts_with(b"-");
        let Some(width) = self.width else {
            let least = match self.words {
                1 => FIRST_BODY_BYTES_MIN,
                _ => LATER_BODY_BYTES_MIN,
            };
            if is_body && body.len() >= least {
                self.width = Some(body.len());
                if before <= PREFIX_WORDS_MAX {
                    self.prefix = before;
                }
                return self.found(start, Some(self.rule), byte, context);
            }
            if self.words > BLOCK_HEADER_WORDS_MAX || word.starts_with(b"-----") {
                return Step::nothing();
            }
            self.held_from = context.position;
            return Step::Open;
        };
        if before < self.prefix && !body.starts_with(b"-----") {
            return Step::Open;
        }
        let is_check = body.starts_with(b"=") && body.len() <= 6;
        if is_body && (!self.is_last || is_check) {
            self.is_last |= body.len() < width;
            return self.found(self.held_from, None, byte, context);
        }
        // A line's number, or a sign before it.
        if word.len() <= 6 && word.iter().all(|byte| b"0123456789:|>+#*-".contains(byte)) {
            return Step::Open;
        }
        Step::nothing()
    }

    fn found(
        &mut self,
        from: u64,
        label: Option<RuleId>,
        byte: Option<u8>,
        context: &Context<'_>,
    ) -> Step {
        self.held_from = context.position;
        let mark = Mark {
            from,
            to: context.position,
            label,
            rank: context.detector.rule(self.rule).rank(),
        };
        match byte {
            Some(_) => Step::Found(mark),
            None => Step::End(vec![mark]),
        }
    }
}

/// Without what a program puts before each line: a sign, a number, a file's name
/// with a number.
fn strip(word: &[u8]) -> &[u8] {
    // None of these is a letter of Base64.
    let sign = |byte: &u8| b":|>#*".contains(byte);
    if let Some(at) = word.iter().rposition(sign) {
        return &word[at + 1..];
    }
    if let Some(rest) = behind_number(word) {
        return rest;
    }
    match word.split_first() {
        Some((b'-', rest)) if !rest.starts_with(b"-") => rest,
        _ => word,
    }
}

/// What stands behind `12-` at the beginning, or behind the last `-12-`.
fn behind_number(word: &[u8]) -> Option<&[u8]> {
    let dashes = word.iter().enumerate().filter(|(_, byte)| **byte == b'-');
    let mut ends = dashes.map(|(at, _)| at).rev();
    ends.find_map(|end| {
        let digits = word[..end].iter().rev();
        let digits = digits.take_while(|byte| byte.is_ascii_digit()).count();
        let start = end - digits;
        let is_alone = start == 0 || word[start - 1] == b'-';
        ((1..=6).contains(&digits) && is_alone).then(|| &word[end + 1..])
    })
}
