//! Something that begins with a public prefix.

use super::{Context, Step, run};
use crate::hold::Mark;
use crate::likeness::Written;
use crate::limits::TOKEN_BYTES_MAX;
use crate::rules::RuleId;

/// A token behind its literal.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub rule: RuleId,
    /// Behind the literal.
    pub start: u64,
}

impl Token {
    pub(super) fn step(&mut self, byte: Option<u8>, context: &Context<'_>) -> Step {
        let alphabet = context.detector.rule(self.rule).alphabet;
        let goes_on = byte.is_some_and(|byte| alphabet.has(byte));
        let is_long = context.position - self.start >= TOKEN_BYTES_MAX as u64;
        if goes_on && !is_long {
            return Step::Open;
        }
        let mut marks = self.judge(context);
        match marks.pop() {
            Some(mark) if goes_on && mark.to == context.position => Step::Endless(mark, alphabet),
            Some(mark) => {
                marks.push(mark);
                Step::End(marks)
            }
            None => Step::nothing(),
        }
    }

    pub(super) fn skim(&self, bytes: &[u8], context: &Context<'_>) -> usize {
        let length = usize::try_from(context.position - self.start).unwrap_or(TOKEN_BYTES_MAX);
        let alphabet = context.detector.rule(self.rule).alphabet;
        let room = TOKEN_BYTES_MAX.saturating_sub(length);
        run(bytes, room, |byte| alphabet.has(byte))
    }

    fn judge(&self, context: &Context<'_>) -> Vec<Mark> {
        let rule = context.detector.rule(self.rule);
        let text = context.hold.slice(self.start, context.position);
        let mark = |from: usize, to: usize| Mark {
            from: self.start + from as u64,
            to: self.start + to as u64,
            label: Some(self.rule),
            rank: rule.rank(),
        };
        let Some(shape) = &rule.shape else {
            let is_secret = rule.check.accepts(text, Written::Quoted);
            return is_secret.then(|| mark(0, text.len())).into_iter().collect();
        };
        shape
            .captures_iter(text)
            .take(if rule.many { usize::MAX } else { 1 })
            .filter_map(|found| found.get(1).or_else(|| found.get(0)))
            .filter(|secret| rule.check.accepts(secret.as_bytes(), Written::Quoted))
            .map(|secret| mark(secret.start(), secret.end()))
            .collect()
    }
}
