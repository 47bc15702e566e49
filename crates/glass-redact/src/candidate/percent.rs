//! Follows percent-encoded text, and finds known values in what it stands for.

use super::known::decode;
use super::{Candidate, Context, KnownValue, Step};
use crate::automaton::State;
use crate::limits::KNOWN_PREFIX_BYTES;

/// Decoded text, for as long as a known value may have begun in it.
#[derive(Clone, Debug)]
pub(crate) struct Percent {
    state: State,
    /// The last decoded bytes, each with its place.
    recent: Vec<(u64, u8)>,
    /// From where on bytes may belong to a known value.
    held_from: u64,
    /// Where the last `%` stands, and its digits.
    pending: Option<(u64, Vec<u8>)>,
}

impl Percent {
    /// Begins with a `%` at `position`, before which the automaton was in
    /// `state`, with the last `held` bytes of `before` on hold.
    pub(crate) fn new(state: State, position: u64, before: &[u8], held: usize) -> Percent {
        let before = &before[before.len().saturating_sub(held)..];
        let first = position - before.len() as u64;
        let places = (first..).zip(before.iter().copied());
        Percent {
            state,
            recent: places.collect(),
            held_from: position - held as u64,
            pending: Some((position, Vec::new())),
        }
    }

    pub(super) fn held_from(&self) -> u64 {
        self.held_from
    }

    pub(super) fn step(&mut self, byte: Option<u8>, context: &Context<'_>) -> Step {
        let Some(byte) = byte else {
            return Step::nothing();
        };
        let Some((place, digits)) = &mut self.pending else {
            if byte == b'%' {
                self.pending = Some((context.position, Vec::new()));
                return Step::Open;
            }
            return self.take(context.position, byte, context);
        };
        digits.push(byte);
        if digits.len() < 2 {
            return Step::Open;
        }
        let (place, decoded) = (*place, decode(digits));
        self.pending = None;
        match decoded {
            Some(decoded) => self.take(place, decoded, context),
            None => Step::nothing(),
        }
    }

    fn take(&mut self, place: u64, byte: u8, context: &Context<'_>) -> Step {
        let automaton = context.detector.automaton();
        self.state = automaton.next(self.state, byte);
        self.recent.push((place, byte));
        if self.recent.len() > KNOWN_PREFIX_BYTES {
            self.recent.remove(0);
        }
        let recent: Vec<u8> = self.recent.iter().map(|(_, byte)| *byte).collect();
        let found: Vec<Candidate> = automaton
            .ends(self.state)
            .iter()
            .flat_map(|literal| context.detector.forms_of(*literal))
            .filter_map(|form| {
                let prefix = context.detector.form(*form).prefix();
                recent.ends_with(prefix).then(|| {
                    let (start, _) = self.recent[self.recent.len() - prefix.len()];
                    Candidate::Known(KnownValue {
                        form: *form,
                        matched: prefix.len(),
                        start,
                        percent: None,
                    })
                })
            })
            .collect();
        if !found.is_empty() {
            return Step::Become(found);
        }
        let held = automaton.held(self.state);
        match self.recent.len().checked_sub(held) {
            Some(at) if held > 0 => {
                self.held_from = self.recent[at].0;
                Step::Open
            }
            _ => Step::nothing(),
        }
    }
}
