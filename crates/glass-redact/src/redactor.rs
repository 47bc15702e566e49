//! Bytes in, redacted bytes out.

use crate::alphabet::Alphabet;
use crate::automaton::{Found, State};
use crate::candidate::{Address, Block, Candidate, Context, Keyed, Percent, Step, Token};
use crate::cut::Cut;
use crate::detector::{Detector, Trigger, is_apart};
use crate::escapes::{ESC, Escape, Part};
use crate::history::History;
use crate::hold::Hold;
use crate::limits::{CANDIDATES_MAX, HELD_BYTES_MAX, KNOWN_PREFIX_BYTES, PAUSE_BYTES_MAX};
use crate::rules::{RuleId, RuleKind};
use std::sync::Arc;

/// Redacts one stream. The output is the same however the input is cut.
#[derive(Clone, Debug)]
pub struct Redactor {
    detector: Arc<Detector>,
    state: State,
    escape: Escape,
    history: History,
    hold: Hold,
    candidates: Vec<Candidate>,
    /// What follows of a secret that was too long to be judged whole.
    endless: Option<Alphabet>,
}

impl Redactor {
    /// A redactor for a new stream.
    pub fn new(detector: Arc<Detector>) -> Redactor {
        let state = detector.automaton().start();
        Redactor {
            detector,
            state,
            escape: Escape::Ground,
            history: History::default(),
            hold: Hold::default(),
            candidates: Vec::new(),
            endless: None,
        }
    }

    /// A redactor that also notes where it took something out.
    pub fn noting(detector: Arc<Detector>) -> Redactor {
        Redactor {
            hold: Hold::noting(),
            ..Redactor::new(detector)
        }
    }

    /// Redacts a whole text.
    pub fn redact_all(detector: &Arc<Detector>, bytes: &[u8]) -> Vec<u8> {
        let mut redactor = Redactor::new(detector.clone());
        let mut out = Vec::with_capacity(bytes.len());
        redactor.push(bytes, &mut out);
        redactor.finish(&mut out);
        out
    }

    /// How many bytes are held back: at most [`crate::HELD_BYTES_MAX`] visible
    /// ones, and none while nothing may be a secret.
    pub fn held_bytes(&self) -> usize {
        self.hold.len()
    }

    /// How often something was taken out so far.
    pub fn secrets(&self) -> u64 {
        self.hold.taken()
    }

    /// Up to where the stream has been judged: what is before has left or was
    /// taken out, what is behind is held back.
    pub fn judged_bytes(&self) -> u64 {
        self.hold.passed()
    }

    /// What was taken out since this was last asked, in order; always empty
    /// unless the redactor is one that notes it.
    pub fn take_cuts(&mut self) -> Vec<Cut> {
        self.hold.take_cuts()
    }

    /// Takes more of the stream, and appends to `out` what can leave.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut rest = bytes;
        while let Some(first) = rest.first().copied() {
            let taken = if self.escape.is_open() || first == ESC {
                self.step_escape(first, out)
            } else if self.candidates.is_empty() && self.endless.is_none() {
                self.glide(rest, out)
            } else {
                match self.skim(rest) {
                    0 => {
                        self.creep(first, out);
                        1
                    }
                    count => count,
                }
            };
            rest = &rest[taken..];
        }
    }

    /// The stream has paused, perhaps because somebody is to answer. A few bytes
    /// that are held only because a known value could begin with them leave
    /// now; if it was one, the rest of it is still taken out.
    pub fn pause(&mut self, out: &mut Vec<u8>) {
        if self.candidates.is_empty() && self.hold.len() <= PAUSE_BYTES_MAX {
            self.hold.release(u64::MAX, self.detector.names(), out);
        }
    }

    /// The stream has ended: nothing stays behind. The redactor can be used for
    /// a new stream.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.divide();
        self.hold.release(u64::MAX, self.detector.names(), out);
        let hold = self.hold.renewed();
        *self = Redactor {
            hold,
            ..Redactor::new(self.detector.clone())
        };
    }

    /// Copies until a literal begins something, and gives how much it took.
    fn glide(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        let automaton = self.detector.automaton();
        let mut state = self.state;
        let mut start = 0;
        let found = loop {
            match automaton.find(state, &bytes[start..]) {
                Err(state) => {
                    self.state = state;
                    let held = automaton.held(state);
                    self.pass(bytes, held, out);
                    return bytes.len();
                }
                Ok(found) => {
                    let at = start + found.at;
                    if self.detector.may_begin(found.after, &bytes[..=at]) {
                        break Found { at, ..found };
                    }
                    (state, start) = (found.after, at + 1);
                }
            }
        };
        if bytes[found.at] == ESC {
            self.state = found.before;
            let held = automaton.held(found.before);
            self.pass(&bytes[..found.at], held, out);
            return found.at;
        }
        self.state = found.after;
        self.pass(&bytes[..=found.at], KNOWN_PREFIX_BYTES, out);
        self.begin(found.before);
        self.settle(out);
        found.at + 1
    }

    /// Lets bytes through, except the last `keep`.
    fn pass(&mut self, bytes: &[u8], keep: usize, out: &mut Vec<u8>) {
        self.history.extend(bytes);
        if bytes.len() < keep {
            self.hold.push(bytes);
            let limit = self.hold.end().saturating_sub(keep as u64);
            self.hold.release(limit, self.detector.names(), out);
            return;
        }
        self.hold.release(u64::MAX, self.detector.names(), out);
        let (pass, keep) = bytes.split_at(bytes.len() - keep);
        out.extend_from_slice(pass);
        self.hold.skip(pass.len());
        self.hold.push(keep);
    }

    /// Holds bytes that change nothing about any candidate, and gives how many.
    fn skim(&mut self, bytes: &[u8]) -> usize {
        if self.endless.is_some() {
            return 0;
        }
        let context = self.context();
        let room = HELD_BYTES_MAX.saturating_sub(self.hold.len() + 1);
        let bytes = &bytes[..bytes.len().min(room)];
        let counts = self.candidates.iter();
        let counts = counts.map(|candidate| candidate.skim(bytes, &context));
        let count = counts.min().unwrap_or(0);
        let automaton = self.detector.automaton();
        let (count, state) = match automaton.find(self.state, &bytes[..count]) {
            Ok(found) => (found.at, found.before),
            Err(state) => (count, state),
        };
        self.state = state;
        self.hold.push(&bytes[..count]);
        self.history.extend(&bytes[..count]);
        count
    }

    fn context(&self) -> Context<'_> {
        Context {
            detector: &self.detector,
            hold: &self.hold,
            history: &self.history,
            position: self.hold.end(),
        }
    }

    /// One byte, while something may be a secret.
    fn creep(&mut self, byte: u8, out: &mut Vec<u8>) {
        if let Some(alphabet) = self.endless {
            if alphabet.has(byte) {
                self.hold.drop_next(1);
                self.history.push(byte);
                return;
            }
            self.endless = None;
        }
        self.step_candidates(Some(byte));
        if self.endless.is_some_and(|alphabet| alphabet.has(byte)) {
            self.hold.release(u64::MAX, self.detector.names(), out);
            self.creep(byte, out);
            return;
        }
        self.endless = None;
        self.hold.push(&[byte]);
        self.history.push(byte);
        let before = self.state;
        self.state = self.detector.automaton().next(before, byte);
        if self.detector.automaton().is_match(self.state) {
            self.begin(before);
        }
        self.settle(out);
        if self.hold.len() >= HELD_BYTES_MAX {
            self.divide();
            self.settle(out);
        }
    }

    /// One byte of an escape sequence, or the one that ends it.
    fn step_escape(&mut self, byte: u8, out: &mut Vec<u8>) -> usize {
        let part = self.escape.step(byte);
        if part == Part::Text {
            return 0;
        }
        self.hold.push_escape(byte, out);
        if part == Part::Break || self.hold.len() >= HELD_BYTES_MAX {
            self.divide();
            self.history.push(b'\x07');
            self.settle(out);
        }
        1
    }

    /// What stands before here and what follows are not one text.
    fn divide(&mut self) {
        self.step_candidates(None);
        self.candidates.clear();
        self.endless = None;
        self.state = self.detector.automaton().start();
    }

    fn step_candidates(&mut self, byte: Option<u8>) {
        let Redactor {
            detector,
            history,
            hold,
            candidates,
            endless,
            ..
        } = self;
        let mut marks = Vec::new();
        let mut more = Vec::new();
        let context = Context {
            detector,
            position: hold.end(),
            hold,
            history,
        };
        candidates.retain_mut(|candidate| match candidate.step(byte, &context) {
            Step::Open => true,
            Step::Found(mark) => {
                marks.push(mark);
                true
            }
            Step::End(found) => {
                if !found.is_empty() {
                    marks.extend(found);
                }
                false
            }
            Step::Endless(mark, alphabet) => {
                marks.push(mark);
                *endless = Some(alphabet);
                false
            }
            Step::Become(others) => {
                more.extend(others);
                false
            }
        });
        if !more.is_empty() {
            candidates.extend(more);
        }
        if endless.is_some() {
            candidates.clear();
        }
        if !marks.is_empty() {
            marks.into_iter().for_each(|mark| hold.mark(mark));
        }
    }

    /// Begins what the literals that end here begin. `before` is the state
    /// before the last byte.
    fn begin(&mut self, before: State) {
        for at in 0..self.detector.automaton().ends(self.state).len() {
            let number = self.detector.automaton().ends(self.state)[at];
            let is_full = self.candidates.len() >= CANDIDATES_MAX;
            let found = match self.detector.trigger(number) {
                Trigger::Known(_) => {
                    let (recent, end) = (self.history.tail(), self.hold.end());
                    let known = self.detector.known_at(number, recent, end);
                    let room = (4 * CANDIDATES_MAX).saturating_sub(self.candidates.len());
                    let known = known.into_iter().map(Candidate::Known);
                    self.candidates.extend(known.take(room));
                    None
                }
                Trigger::Percent => self.begin_percent(before),
                Trigger::Rule { rule, literal } if !is_full => self.begin_rule(*rule, literal),
                Trigger::Name if !is_full => {
                    let is_there = self.candidates.iter().any(Candidate::is_in_name);
                    (!is_there).then(|| Candidate::Keyed(Keyed::new()))
                }
                Trigger::Escape | Trigger::Rule { .. } | Trigger::Name => None,
            };
            self.candidates.extend(found);
        }
    }

    fn begin_percent(&self, before: State) -> Option<Candidate> {
        let is_there = |candidate: &Candidate| matches!(candidate, Candidate::Percent(_));
        if self.candidates.iter().any(is_there) {
            return None;
        }
        let held = self.detector.automaton().held(before);
        let (_, recent) = self.history.tail().split_last()?;
        let percent = Percent::new(before, self.hold.end() - 1, recent, held);
        Some(Candidate::Percent(percent))
    }

    fn begin_rule(&self, rule: RuleId, literal: &[u8]) -> Option<Candidate> {
        let rules = self.detector.rule(rule);
        let start = self.hold.end();
        let line = self.history.line().strip_suffix(literal)?;
        let is_fit = match &rules.before {
            Some(before) => before.is_match(line),
            None => is_apart(literal, line),
        };
        if !is_fit {
            return None;
        }
        Some(match rules.kind {
            RuleKind::Address => Candidate::Address(Address {
                rule,
                start,
                is_stretched: false,
            }),
            RuleKind::Block => Candidate::Block(Block::new(rule, start)),
            RuleKind::Token | RuleKind::Keyed => Candidate::Token(Token { rule, start }),
        })
    }

    /// Lets go of what no candidate needs.
    fn settle(&mut self, out: &mut Vec<u8>) {
        let held = self.detector.automaton().held(self.state) as u64;
        let limit = self
            .candidates
            .iter()
            .filter_map(Candidate::held_from)
            .min();
        let limit = limit
            .unwrap_or(u64::MAX)
            .min(self.hold.end().saturating_sub(held));
        self.hold.release(limit, self.detector.names(), out);
    }
}

#[cfg(test)]
mod limits;
#[cfg(test)]
mod tests;
