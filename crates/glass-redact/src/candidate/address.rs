//! The password of an address: `scheme://user:password@host`.

use super::{Context, Step, run};
use crate::hold::Mark;
use crate::likeness::{Check, Written};
use crate::limits::USERINFO_BYTES_MAX;
use crate::rules::RuleId;

/// What stands behind `://`.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub rule: RuleId,
    /// Behind the `://`.
    pub start: u64,
    /// Whether a `/` was taken for a part of the password.
    pub is_stretched: bool,
}

/// Shortest user name that may be a token.
const TOKEN_BYTES_MIN: usize = 20;

impl Address {
    pub(super) fn step(&mut self, byte: Option<u8>, context: &Context<'_>) -> Step {
        let text = context.hold.slice(self.start, context.position);
        let is_long = text.len() >= USERINFO_BYTES_MAX;
        match byte {
            Some(b'@') if self.is_stretched => self.end(text, text.len(), Check::Random, context),
            Some(b'/' | b'?' | b'#') if !is_long => {
                if self.is_stretched {
                    Step::Open
                } else if let Some(at) = text.iter().rposition(|byte| *byte == b'@') {
                    self.end(text, at, Check::Password, context)
                } else if may_stretch(text) {
                    self.is_stretched = true;
                    Step::Open
                } else {
                    Step::nothing()
                }
            }
            Some(byte) if !is_long && !ends_address(byte) => Step::Open,
            _ if self.is_stretched => Step::nothing(),
            _ => match text.iter().rposition(|byte| *byte == b'@') {
                Some(at) => self.end(text, at, Check::Password, context),
                None => Step::nothing(),
            },
        }
    }

    pub(super) fn skim(&self, bytes: &[u8], context: &Context<'_>) -> usize {
        let length = context.hold.slice(self.start, context.position).len();
        let room = USERINFO_BYTES_MAX.saturating_sub(length);
        run(bytes, room, |byte| {
            !b"/?#@".contains(&byte) && !ends_address(byte)
        })
    }

    /// Judges what stands before the `@` at `at`.
    fn end(&self, text: &[u8], at: usize, check: Check, context: &Context<'_>) -> Step {
        let user_info = &text[..at];
        let (from, is_secret) = match user_info.iter().position(|byte| *byte == b':') {
            Some(colon) => {
                let (user, password) = (&user_info[..colon], &user_info[colon + 1..]);
                let is_secret = user != password && is_password(password, check);
                (colon + 1, is_secret)
            }
            None => {
                let is_token = user_info.len() >= TOKEN_BYTES_MIN
                    && Check::Random.accepts(user_info, Written::Bare);
                (0, is_token)
            }
        };
        if !is_secret {
            return Step::nothing();
        }
        Step::End(vec![Mark {
            from: self.start + from as u64,
            to: self.start + at as u64,
            label: Some(self.rule),
            rank: context.detector.rule(self.rule).rank(),
        }])
    }
}

/// In an address, a word is a password too, unless it is one of those that
/// stand in every manual.
fn is_password(password: &[u8], check: Check) -> bool {
    match check {
        Check::Random => check.accepts(password, Written::Quoted),
        _ => password.len() >= 4 && Check::Shape.accepts(password, Written::Quoted),
    }
}

/// A port is no password that goes on, and neither is a pattern.
fn may_stretch(text: &[u8]) -> bool {
    match text.iter().position(|byte| *byte == b':') {
        Some(colon) => {
            let rest = &text[colon + 1..];
            !rest.is_empty()
                && !rest.iter().all(u8::is_ascii_digit)
                && !text.contains(&b'[')
                && !rest.contains(&b'$')
                && !rest.contains(&b'{')
        }
        None => false,
    }
}

#[inline]
fn ends_address(byte: u8) -> bool {
    byte <= b' ' || byte == 0x7f || b"\"'`<>|\\,;)".contains(&byte)
}
