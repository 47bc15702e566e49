//! Asks the user's own programs before a command runs, and tells them after.
//!
//! # How it works
//!
//! A *hook* is a command line in the user's configuration. It gets one JSON
//! object on its standard input. One that is asked *before* a command answers
//! with one JSON object on its standard output; what one that is told *after*
//! prints is ignored.
//!
//! Hooks run one after the other, each in a process tree of its own
//! ([`glass_spawn::Aside`]), which is ended with the hook: whatever a hook does,
//! nothing of it is left when its answer is known, when its time is up, or when
//! nobody waits for the answer any more.
//!
//! A hook that does not answer properly has *failed*. Whether that refuses the
//! command or counts as if the hook had not been there is the hook's
//! [`FailureMode`]; the failure is reported in both cases.
#![forbid(unsafe_code)]

mod answer;
mod hook;
mod hooks;
mod limits;
mod payload;
mod run;
mod text;
mod verdict;

pub use answer::{Answer, AnswerError, Permission, parse_answer};
pub use hook::{FailureMode, Hook};
pub use hooks::Hooks;
pub use limits::{ANSWER_BYTES_MAX, HOOKS_MAX, MESSAGE_BYTES_MAX, OUTPUT_BYTES_MAX};
pub use payload::{AfterShellExecution, BeforeShellExecution, output_text};
pub use verdict::Verdicts;
