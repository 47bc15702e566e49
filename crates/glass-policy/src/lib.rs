//! Decides what a command line is and whether it may run.
//!
//! Three questions, three pure functions. *What does it run?* A reader of the
//! shell's grammar lists every simple command, nested ones included. *Can it
//! be proved harmless?* Only a small grammar can: words, quotes, connectors,
//! redirects to `/dev/null`; every part must match an *allow* rule, its flags
//! must be known, and a second reader that is not ours must agree. *Is it
//! known to be dangerous?* A looser look at everything that can be seen,
//! through wrappers and scripts in quotes, which never allows.
//!
//! Text is a courtesy to people: the sandbox is the wall, and nothing that is
//! decided here widens it.
#![forbid(unsafe_code)]

mod danger;
mod decide;
mod examples;
mod ignored;
mod knowledge;
pub mod limits;
pub mod line;
mod programs;
mod reader;
mod reading;
mod remember;
mod rules;
mod second;
pub mod text;
mod unwrap;

pub use decide::{Command, decide, decide_known};
pub use examples::failures;
pub use ignored::{IgnoreError, Ignored, IgnoredPath};
pub use remember::prefix_of;
pub use rules::{Layer, Rule, RuleFile, RuleSet, RulesError, written};
