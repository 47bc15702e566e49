//! A candidate is a machine that follows what may be a secret. It says from
//! where on bytes must be held back, and at the end whether they are one.

mod address;
mod block;
mod keyed;
mod known;
mod percent;
mod token;

use crate::alphabet::Alphabet;
use crate::detector::Detector;
use crate::history::History;
use crate::hold::{Hold, Mark};

pub(crate) use address::Address;
pub(crate) use block::Block;
pub(crate) use keyed::Keyed;
pub(crate) use known::KnownValue;
pub(crate) use percent::Percent;
pub(crate) use token::Token;

/// What a machine may look at. The byte that it is given stands at `position`
/// and is neither in the hold nor in the history yet.
pub(crate) struct Context<'a> {
    pub detector: &'a Detector,
    pub hold: &'a Hold,
    pub history: &'a History,
    pub position: u64,
}

/// How many bytes at the beginning of `bytes` pass the test, of at most `room`.
#[inline]
fn run(bytes: &[u8], room: usize, passes: impl Fn(u8) -> bool) -> usize {
    let bytes = &bytes[..bytes.len().min(room)];
    let end = bytes.iter().position(|byte| !passes(*byte));
    end.unwrap_or(bytes.len())
}

/// What a byte did to a machine.
#[derive(Debug)]
pub(crate) enum Step {
    /// It goes on.
    Open,
    /// It goes on, and this is a secret.
    Found(Mark),
    /// It ends, with whatever it found.
    End(Vec<Mark>),
    /// It ends with a secret that is longer than what is judged: what follows
    /// of the alphabet is part of it.
    Endless(Mark, Alphabet),
    /// It is several others now.
    Become(Vec<Candidate>),
}

impl Step {
    /// It ends, and nothing was there.
    pub(crate) fn nothing() -> Step {
        Step::End(Vec::new())
    }
}

/// One of the machines.
#[derive(Clone, Debug)]
pub(crate) enum Candidate {
    Token(Token),
    Keyed(Keyed),
    Address(Address),
    Block(Block),
    Known(KnownValue),
    Percent(Percent),
}

impl Candidate {
    /// Takes the next byte; none where the text ends.
    #[inline]
    pub(crate) fn step(&mut self, byte: Option<u8>, context: &Context<'_>) -> Step {
        match self {
            Candidate::Token(machine) => machine.step(byte, context),
            Candidate::Keyed(machine) => machine.step(byte, context),
            Candidate::Address(machine) => machine.step(byte, context),
            Candidate::Block(machine) => machine.step(byte, context),
            Candidate::Known(machine) => machine.step(byte, context),
            Candidate::Percent(machine) => machine.step(byte, context),
        }
    }

    /// How many of the next bytes change nothing about it, at least.
    #[inline]
    pub(crate) fn skim(&self, bytes: &[u8], context: &Context<'_>) -> usize {
        match self {
            Candidate::Token(machine) => machine.skim(bytes, context),
            Candidate::Keyed(machine) => machine.skim(bytes, context),
            Candidate::Address(machine) => machine.skim(bytes, context),
            Candidate::Block(_) | Candidate::Known(_) | Candidate::Percent(_) => 0,
        }
    }

    /// From where on bytes are held back, if any.
    #[inline]
    pub(crate) fn held_from(&self) -> Option<u64> {
        match self {
            Candidate::Token(machine) => Some(machine.start),
            Candidate::Keyed(machine) => machine.held_from(),
            Candidate::Address(machine) => Some(machine.start),
            Candidate::Block(machine) => Some(machine.held_from),
            Candidate::Known(machine) => Some(machine.start),
            Candidate::Percent(machine) => Some(machine.held_from()),
        }
    }

    /// Whether it still reads a name.
    pub(crate) fn is_in_name(&self) -> bool {
        matches!(self, Candidate::Keyed(machine) if machine.is_in_name())
    }
}
