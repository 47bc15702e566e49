//! What happens in a session, in order.

use crate::{ApprovalId, EventIndex, Outcome, ShellId};

/// One of a command's two outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Output that was there and is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// How many bytes.
    pub bytes: u64,
    /// How many events this one stands for.
    pub events: u64,
    /// Which limit removed them.
    pub reason: String,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum EventBody {
    /// Bytes `offset .. offset + bytes` of the execution's stream; the bytes
    /// themselves are in its output file.
    Output {
        /// Which of the two.
        stream: Stream,
        /// Where they begin in that stream.
        offset: u64,
        /// How many.
        bytes: u64,
        /// Where they begin in the execution's whole output, in the order in
        /// which both streams arrived.
        position: u64,
    },
    /// A command began.
    CommandStart {
        /// Its text.
        command: String,
        /// Where.
        cwd: String,
        /// The shell's process, or 0.
        pid: u32,
    },
    /// A command ended.
    Exit {
        /// Its text.
        command: String,
        /// How.
        outcome: Outcome,
    },
    /// The session's directory changed.
    Cwd {
        /// To this.
        cwd: String,
    },
    /// The session is over.
    Disposed,
    /// Output that is not kept. `position` continues the execution's whole
    /// output as in `Output`.
    Dropped {
        /// Where it was in the execution's whole output.
        position: u64,
        /// What was lost.
        dropped: Dropped,
    },
    /// A command waits for a person.
    ApprovalPending {
        /// What the person answers to.
        approval_id: ApprovalId,
        /// The command's text.
        command: String,
        /// Why it is asked about.
        reason: String,
    },
    /// A remark on the session's state: `fallback`, `timeout` and so on. With
    /// `integration` the detail is how much the shell tells, and why: `rich: why`.
    Status {
        /// One word.
        status: String,
        /// What a person should know.
        detail: String,
    },
}

/// An event with its place in the session.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its place.
    pub index: EventIndex,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// The execution that it belongs to, if any.
    pub shell_id: Option<ShellId>,
    /// What happened.
    pub body: EventBody,
}
