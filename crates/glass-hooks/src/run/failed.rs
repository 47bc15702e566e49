//! What can go wrong with a hook.

use crate::answer::AnswerError;
use crate::limits::{ANSWER_BYTES_MAX, COMPLAINT_BYTES_MAX};
use crate::text::{tail, visible};
use std::io;
use std::time::Duration;

/// A hook that failed, and what it said meanwhile.
#[derive(Debug)]
pub(crate) struct Failed {
    pub why: Why,
    /// The end of its standard error.
    pub complaint: Vec<u8>,
}

/// Why a hook failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Why {
    #[error("it cannot be started: {0}")]
    Start(io::Error),
    #[error("it exited with code {0}")]
    Code(i32),
    #[error("signal {0} ended it")]
    Signal(i32),
    #[error("it took longer than {} ms and was killed", .0.as_millis())]
    TimedOut(Duration),
    #[error("it printed more than {ANSWER_BYTES_MAX} bytes and was killed")]
    TooMuch,
    #[error("nobody waits for it any more")]
    Forgotten,
    #[error("it cannot be watched: {0}")]
    Watch(io::Error),
    #[error("processes that it started cannot be ended")]
    Unkillable,
    #[error("it was lost")]
    Lost,
    #[error("{0}")]
    Answer(#[from] AnswerError),
}

impl From<Why> for Failed {
    fn from(why: Why) -> Failed {
        Failed {
            why,
            complaint: Vec::new(),
        }
    }
}

impl Failed {
    /// What the hook said, as the end of a report: without anything that a
    /// terminal would obey.
    pub(crate) fn complaint(&self) -> String {
        let text = tail(&self.complaint, COMPLAINT_BYTES_MAX);
        let lines: Vec<String> = text.trim().lines().map(visible).collect();
        if lines.is_empty() {
            return String::new();
        }
        format!("\nIt said: {}", lines.join("\n"))
    }
}
