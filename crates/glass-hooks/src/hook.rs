//! One hook, as its user wants it.

use std::time::Duration;

/// A program of the user's that is asked or told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// What `sh -c` runs.
    pub command: String,
    /// Time until it must have ended.
    pub timeout: Duration,
    /// What its failure means.
    pub failure: FailureMode,
}

/// What the failure of a hook that is asked means. A hook that is told has
/// nothing to refuse, so its failure is reported and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureMode {
    /// The command is refused.
    Closed,
    /// The hook counts as if it had not been there.
    Open,
}
