//! Takes secrets out of a stream of bytes. Nothing here reads a file, a clock
//! or the environment: known values and rules are passed in.
//!
//! # How it works
//!
//! One automaton looks for *triggers*: the public prefixes of tokens, the names
//! that stand before secrets, `://`, the first bytes of known values. Between
//! triggers, bytes are copied. A trigger begins a *candidate*, a small machine
//! that says where a secret would begin and, at its last byte, whether it is
//! one. Only bytes from that beginning on are held back, so that ordinary output
//! and prompts leave at once. The prefix or name that began it stays visible: it
//! is no secret, and says what was there.
//!
//! Invariants: what comes out does not depend on how the input was cut; a byte
//! that turns out to be part of a secret has not been emitted; what is held back
//! is bounded; escape sequences are never lost.
#![forbid(unsafe_code)]

mod alphabet;
mod automaton;
mod candidate;
mod cut;
mod detector;
mod encodings;
mod escapes;
mod history;
mod hold;
mod known;
mod likeness;
mod limits;
mod redactor;
mod rules;
mod words;

pub use cut::Cut;
pub use detector::Detector;
pub use known::{Known, name_looks_secret};
pub use limits::HELD_BYTES_MAX;
pub use redactor::Redactor;
pub use rules::{RuleError, RuleText, RuleTexts, Rules};
