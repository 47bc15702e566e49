//! The value behind a name.

use crate::alphabet::Alphabet;
use crate::candidate::{Context, Step, run};
use crate::hold::Mark;
use crate::likeness::Written;
use crate::limits::VALUE_BYTES_MAX;
use crate::rules::RuleId;

/// A value, from its first byte on.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub rule: RuleId,
    pub start: u64,
    /// What ends it; a backslash stands for a quote that is escaped.
    pub quote: Option<u8>,
    /// Behind `NAME=`.
    pub is_variable: bool,
    /// Whether only a space ends it.
    pub is_whole_line: bool,
    /// Whether `#` ends it.
    pub is_query: bool,
}

/// What a byte did.
pub(super) enum Outcome {
    /// As any machine.
    Step(Step),
    /// It was `Bearer` or the like: the value follows.
    Scheme,
    /// It was a type, perhaps: `=` and the value may follow.
    Type,
}

/// Words between a name and its value.
const SCHEMES: &[&str] = &[
    "bearer",
    "basic",
    "token",
    "apikey",
    "api-key",
    "key",
    "digest",
    "negotiate",
    "oauth",
    "jwt",
    "bot",
    "splunk",
    "snyk",
    "genie",
    "geniekey",
    "client-id",
    "ssws",
    "hoba",
    "privatekey",
];

impl Value {
    pub(super) fn step(&mut self, byte: Option<u8>, context: &Context<'_>) -> Outcome {
        let text = context.hold.slice(self.start, context.position);
        let is_long = text.len() >= VALUE_BYTES_MAX;
        match byte {
            // A prefix such as that of `b"…"` or `$'…'`.
            Some(quote @ (b'"' | b'\''))
                if self.quote.is_none()
                    && matches!(
                        text,
                        b"b" | b"r" | b"f" | b"u" | b"$" | b"@" | b"rb" | b"br"
                    ) =>
            {
                self.quote = Some(quote);
                self.start = context.position + 1;
                Outcome::Step(Step::Open)
            }
            Some(byte) if !self.ends(byte, text) && !is_long => Outcome::Step(Step::Open),
            _ => self.judge(text, byte, is_long, context),
        }
    }

    pub(super) fn skim(&self, bytes: &[u8], context: &Context<'_>) -> usize {
        let length = context.hold.slice(self.start, context.position).len();
        // The first bytes may be the prefix of a quote.
        if length < 3 {
            return 0;
        }
        let room = VALUE_BYTES_MAX.saturating_sub(length);
        let is_special = |byte: u8| self.quote.is_some() && byte == b'\\';
        run(bytes, room, |byte| {
            !is_special(byte) && !self.ends(byte, b"")
        })
    }

    #[inline]
    fn ends(&self, byte: u8, text: &[u8]) -> bool {
        match self.quote {
            Some(quote) => byte == b'\n' || (byte == quote && text.last() != Some(&b'\\')),
            None if byte.is_ascii_whitespace() || byte < b' ' => true,
            None if self.is_whole_line => false,
            None => ends_bare(byte) || (self.is_query && byte == b'#'),
        }
    }

    fn judge(
        &self,
        text: &[u8],
        byte: Option<u8>,
        is_long: bool,
        context: &Context<'_>,
    ) -> Outcome {
        let rule = context.detector.rule(self.rule);
        let scheme = scheme(text);
        let value = trim(&text[scheme..]);
        let written = match self.quote {
            Some(_) => Written::Quoted,
            None if self.is_variable => Written::Variable,
            None => Written::Bare,
        };
        // A quote that nothing closes on its line was no quote, if words follow.
        let is_open = self.quote.is_some() && matches!(byte, None | Some(b'\n'));
        if is_open && value.contains(&b' ') {
            return Outcome::Step(Step::nothing());
        }
        let find = |value: &[u8]| {
            let secret = match &rule.shape {
                Some(shape) => shape.captures(value).and_then(|found| {
                    let found = found.get(1).or_else(|| found.get(0))?;
                    Some(found.range())
                }),
                None => Some(0..value.len()),
            };
            secret.filter(|range| rule.check.accepts(&value[range.clone()], written))
        };
        // All of a line that is no secret may have one before what ends a value
        // elsewhere: `KEY=…\n` where line ends are escaped, `KEY=…</b>`.
        let shorter = || {
            let end = value.iter().position(|byte| ends_bare(*byte));
            end.filter(|_| self.is_whole_line)
                .and_then(|end| find(&value[..end]))
        };
        if let Some(secret) = find(value).or_else(shorter) {
            let mark = Mark {
                from: self.start + (scheme + secret.start) as u64,
                to: self.start + (scheme + secret.end) as u64,
                label: Some(self.rule),
                rank: rule.rank(),
            };
            return Outcome::Step(match byte {
                Some(byte) if is_long && !self.ends(byte, text) && mark.to == context.position => {
                    Step::Endless(mark, Alphabet::Text)
                }
                _ => Step::End(vec![mark]),
            });
        }
        let is_word = |byte: &u8| byte.is_ascii_alphabetic() || b"&'<>[].?-".contains(byte);
        let goes_on = self.quote.is_none() && matches!(byte, Some(b' ' | b'\t'));
        if goes_on && is_scheme(text) {
            Outcome::Scheme
        } else if goes_on && text.len() <= 24 && text.iter().all(is_word) {
            Outcome::Type
        } else {
            Outcome::Step(Step::nothing())
        }
    }
}

/// Whether a byte ends a value that stands neither in quotes nor alone on its line.
fn ends_bare(byte: u8) -> bool {
    b"\"'`,;<>|&\\".contains(&byte)
}

fn is_scheme(text: &[u8]) -> bool {
    let is_one = |scheme: &&str| text.eq_ignore_ascii_case(scheme.as_bytes());
    SCHEMES.iter().any(is_one)
}

/// How many bytes of the text are a scheme and a space.
fn scheme(text: &[u8]) -> usize {
    match text.iter().position(|byte| *byte == b' ') {
        Some(space) if is_scheme(&text[..space]) => space + 1,
        _ => 0,
    }
}

/// Without brackets that were opened before the value.
fn trim(value: &[u8]) -> &[u8] {
    let mut value = value;
    while let Some((last, rest)) = value.split_last() {
        let opening = match last {
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            b'\\' => 0,
            _ => break,
        };
        if rest.contains(&opening) {
            break;
        }
        value = rest;
    }
    value
}
