//! Looks at what goes into the engine: keeps strings short, and remembers what
//! is not finished.

use super::STRING_BYTES_MAX;
use crate::control::{BEL, CAN, ESC, SUB};
use crate::text::incomplete_suffix;

/// Most bytes of a control sequence that are looked at.
const CONTROL_BYTES_MAX: usize = 256;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    Control,
    /// In a string that BEL ends too.
    OsString,
    /// In any other string.
    String,
    /// In a string of the first kind that was aborted.
    SkippingOs,
    /// In any other string that was aborted.
    Skipping,
    /// In a control sequence that was aborted, which ends with a letter.
    SkippingControl,
}

/// The beginning of a control sequence that means nothing, whatever its end.
const NO_CONTROL: &[u8] = b"\x1b[<";

/// What begins a string of which nothing is shown, whatever follows: a command
/// that no terminal has.
const NO_COMMAND: &[u8] = b"\x1b]7777;";

/// What the gate knows.
#[derive(Debug, Default)]
pub(super) struct Gate {
    state: State,
    /// The unfinished sequence, from its ESC on.
    held: Vec<u8>,
    /// The last bytes of text, which may be the beginning of a character.
    last: Vec<u8>,
}

impl Gate {
    /// Takes bytes; `feed` gets what the engine may see.
    pub(super) fn push(&mut self, bytes: &[u8], mut feed: impl FnMut(&[u8])) {
        let mut start = 0;
        let mut at = 0;
        while at < bytes.len() {
            if self.state == State::Ground {
                let escape = memchr::memchr(ESC, &bytes[at..]);
                let end = escape.map_or(bytes.len(), |escape| at + escape);
                self.remember(&bytes[at..end]);
                at = end;
                if escape.is_some() {
                    self.begin();
                    at += 1;
                }
                continue;
            }
            let was_skipping = self.is_skipping();
            self.step(bytes[at]);
            match (was_skipping, self.is_skipping()) {
                (false, true) => {
                    feed(&bytes[start..at]);
                    feed(&[CAN]);
                }
                // An ESC belongs to what it begins, a terminator to the string.
                (true, false) => start = at + usize::from(bytes[at] != ESC),
                _ => {}
            }
            at += 1;
        }
        if !self.is_skipping() && start < bytes.len() {
            feed(&bytes[start..]);
        }
    }

    pub(super) fn is_within_sequence(&self) -> bool {
        self.state != State::Ground
    }

    /// Whether neither a sequence nor a character is unfinished.
    pub(super) fn is_between(&self) -> bool {
        self.state == State::Ground && incomplete_suffix(&self.last) == 0
    }

    fn is_skipping(&self) -> bool {
        matches!(
            self.state,
            State::SkippingOs | State::Skipping | State::SkippingControl
        )
    }

    /// Appends the sequence or character that is not finished.
    pub(super) fn unfinished(&self, out: &mut Vec<u8>) {
        match self.state {
            State::Ground => {
                let held = incomplete_suffix(&self.last);
                out.extend_from_slice(&self.last[self.last.len() - held..]);
            }
            // Nothing of it will be shown, but it ends where it would have.
            State::SkippingOs => out.extend_from_slice(NO_COMMAND),
            State::Skipping => out.extend_from_slice(b"\x1bX"),
            State::SkippingControl => out.extend_from_slice(NO_CONTROL),
            _ => out.extend_from_slice(&self.held),
        }
    }

    fn remember(&mut self, text: &[u8]) {
        const CHARACTER_BYTES_MAX: usize = 4;
        self.last
            .extend_from_slice(&text[text.len().saturating_sub(CHARACTER_BYTES_MAX)..]);
        let excess = self.last.len().saturating_sub(CHARACTER_BYTES_MAX);
        self.last.drain(..excess);
    }

    fn begin(&mut self) {
        self.state = State::Escape;
        self.last.clear();
        self.held.clear();
        self.held.push(ESC);
    }

    fn step(&mut self, byte: u8) {
        match (self.state, byte) {
            (_, CAN | SUB) => self.end(),
            (_, ESC) => self.begin(),
            (State::OsString | State::SkippingOs, BEL) => self.end(),
            (State::SkippingControl, 0x40..=0x7e) => self.end(),
            (State::SkippingOs | State::Skipping | State::SkippingControl, _) => {}
            (State::Escape, b'[') => self.hold(byte, State::Control),
            (State::Escape, b']') => self.hold(byte, State::OsString),
            (State::Escape, b'P' | b'X' | b'^' | b'_') => self.hold(byte, State::String),
            (State::Escape, 0x00..=0x2f) => self.hold(byte, State::Escape),
            (State::Escape, _) => self.end(),
            (State::Control, 0x40..=0x7e) => self.end(),
            (state, _) => self.hold(byte, state),
        }
    }

    fn hold(&mut self, byte: u8, next: State) {
        self.state = next;
        self.held.push(byte);
        let limit = match next {
            State::OsString | State::String => STRING_BYTES_MAX,
            _ => CONTROL_BYTES_MAX,
        };
        if self.held.len() > limit {
            self.held.clear();
            self.state = match next {
                State::OsString => State::SkippingOs,
                State::String => State::Skipping,
                _ => State::SkippingControl,
            };
        }
    }

    fn end(&mut self) {
        self.state = State::Ground;
        self.held.clear();
    }
}
