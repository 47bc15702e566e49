//! A known value, whose first bytes were seen.

use super::{Context, Step};
use crate::hold::Mark;

/// How much a known value's name tells, compared with rules.
pub(crate) const KNOWN_RANK: u8 = 4;

/// A form of a known value, compared byte by byte. A byte may be
/// percent-encoded.
#[derive(Clone, Debug)]
pub(crate) struct KnownValue {
    /// Which form.
    pub form: usize,
    /// How many of its bytes were seen.
    pub matched: usize,
    /// Where it begins.
    pub start: u64,
    /// Digits behind a `%`.
    pub percent: Option<Vec<u8>>,
}

impl KnownValue {
    /// The mark, if all of it was seen before `end`.
    pub(crate) fn complete(&self, context: &Context<'_>, end: u64) -> Option<Mark> {
        let form = context.detector.form(self.form);
        (self.matched >= form.bytes.len()).then_some(Mark {
            from: self.start,
            to: end,
            label: Some(form.label),
            rank: KNOWN_RANK,
        })
    }

    pub(super) fn step(&mut self, byte: Option<u8>, context: &Context<'_>) -> Step {
        if let Some(mark) = self.complete(context, context.position) {
            return Step::End(vec![mark]);
        }
        let Some(byte) = byte else {
            return Step::nothing();
        };
        let expected = context.detector.form(self.form).bytes[self.matched];
        let seen = match &mut self.percent {
            Some(digits) => {
                digits.push(byte);
                if digits.len() < 2 {
                    return Step::Open;
                }
                decode(digits)
            }
            None if byte == expected => Some(byte),
            None if byte == b'%' => {
                self.percent = Some(Vec::new());
                return Step::Open;
            }
            None => None,
        };
        self.percent = None;
        if seen != Some(expected) {
            return Step::nothing();
        }
        self.matched += 1;
        match self.complete(context, context.position + 1) {
            Some(mark) => Step::End(vec![mark]),
            None => Step::Open,
        }
    }
}

/// The byte that two hexadecimal digits stand for.
pub(super) fn decode(digits: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(digits).ok()?;
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    u8::from_str_radix(text, 16).ok().filter(|_| is_hex)
}
