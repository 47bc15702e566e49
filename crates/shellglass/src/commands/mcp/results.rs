//! The fields behind each text.

use super::spent::Spent;
use glass_vt::text::{Elision, Reason};
use schemars::JsonSchema;
use serde::Serialize;

/// Elisions that are named in a result; the text names them all.
const ELISIONS_MAX: usize = 64;

/// How far a command came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    /// It ended.
    #[default]
    Exited,
    /// It runs.
    Running,
    /// It waits for other commands of its session.
    Queued,
    /// It waits for a person.
    WaitingForApproval,
    /// It may not run.
    Rejected,
    /// The sandbox that it needs cannot be had.
    PermissionDenied,
    /// It could not be begun.
    SpawnError,
}

/// `execute_command`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(super) struct Executed {
    /// How far the command came.
    pub status: Status,
    /// Whether it still runs or has yet to begin.
    pub running: bool,
    /// Its exit code; null while it runs or where it is not known.
    pub exit_code: Option<i32>,
    /// The signal that ended it, such as SIGKILL.
    pub signal: Option<String>,
    /// Whether it was ended from outside: cancelled or timed out.
    pub aborted: bool,
    /// How long it has run.
    pub duration_ms: u64,
    /// The directory that the session is in now.
    pub cwd: Option<String>,
    /// Whether the command changed it.
    pub cwd_changed: bool,
    /// The session that it ran in.
    pub session_id: Option<String>,
    /// The command's handle for read_output, wait and cancel; null if it has not
    /// begun.
    pub shell_id: Option<u32>,
    /// The rights that it had.
    pub sandbox: Option<SandboxInForce>,
    /// What the sandbox denied, and what to ask for.
    pub denials: Vec<String>,
    /// Why it did not run.
    pub reason: Option<String>,
    /// What to do next.
    pub hint: Option<String>,
    /// What a person approves or denies.
    pub approval_id: Option<String>,
    /// The earlier run of the same command of which the lines that are still the
    /// same are left out; null where all is shown that fits.
    pub same_as: Option<u32>,
    /// What it cost and left behind; null where nothing is known of that.
    pub receipt: Option<Spent>,
    /// The output and what is missing from it.
    #[serde(flatten)]
    pub shown: Shown,
}

/// The rights that a command had.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct SandboxInForce {
    /// What might be written: none (no sandbox), rw (the workspace), ro (nothing).
    pub r#type: &'static str,
    /// Whether the network might be reached.
    pub network: Option<bool>,
}

/// Output as it was shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Shown {
    /// Both streams as they arrived, as a terminal shows them, shortened.
    pub output: String,
    /// Whether something is missing from it.
    pub truncated: bool,
    /// What is missing: read_output gives it back.
    pub elisions: Vec<Missing>,
    /// The byte after the last one that this accounts for.
    pub next_offset: u64,
    /// Bytes that a quota removed.
    pub dropped_bytes: u64,
}

/// A part that is not shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Missing {
    /// Its first byte.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
    /// How many lines begin in it.
    pub lines: u64,
    /// Whether it repeats the line before it.
    pub repeats: bool,
}

impl Shown {
    /// What a page shows, after `dropped` bytes that are gone.
    pub(super) fn new(page: glass_vt::text::Page, dropped: u64) -> Shown {
        let elisions = page.elisions.iter().take(ELISIONS_MAX).map(Missing::from);
        Shown {
            truncated: !page.elisions.is_empty() || dropped > 0,
            elisions: elisions.collect(),
            output: page.text,
            next_offset: page.end,
            dropped_bytes: dropped,
        }
    }
}

impl From<&Elision> for Missing {
    fn from(elision: &Elision) -> Missing {
        Missing {
            offset: elision.offset,
            length: elision.bytes,
            lines: elision.lines,
            repeats: elision.reason == Reason::Repeats,
        }
    }
}

/// `read_output`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct ReadBack {
    /// The command.
    pub shell_id: u32,
    /// Whether it still runs.
    pub running: bool,
    /// Its exit code; null while it runs or where it is not known.
    pub exit_code: Option<i32>,
    /// Lines that matched `search`, shown or not.
    pub matches: Option<u64>,
    /// Whether there is more after `next_offset`.
    pub more: bool,
    /// The output and what is missing from it.
    #[serde(flatten)]
    pub shown: Shown,
}

/// `wait`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Waited {
    /// The command.
    pub shell_id: u32,
    /// What came first: exit, pattern, port, file, quiet or timeout.
    pub reason: String,
    /// What matched, the port or the path.
    pub matched: Option<String>,
    /// Whether it still runs.
    pub running: bool,
    /// Its exit code; null while it runs or where it is not known.
    pub exit_code: Option<i32>,
    /// What was written since it was last shown.
    #[serde(flatten)]
    pub shown: Shown,
}

/// `list_sessions`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Sessions {
    /// The sessions, the newest activity first.
    pub sessions: Vec<SessionLine>,
    /// Sessions that are not in the list.
    pub left_out: usize,
    /// Commands in the background.
    pub background: Vec<BackgroundLine>,
}

/// A command in a shell of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct BackgroundLine {
    /// Its handle.
    pub shell_id: u32,
    /// The command.
    pub command: String,
    /// Whether it still runs.
    pub running: bool,
    /// Its exit code; null while it runs or where it is not known.
    pub exit_code: Option<i32>,
}

/// A session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct SessionLine {
    /// Its id.
    pub session_id: String,
    /// Whether it is this connection's own.
    pub own: bool,
    /// Its name.
    pub name: String,
    /// The directory that it is in.
    pub cwd: String,
    /// Whether a command runs in it.
    pub running: bool,
    /// The command that runs, or that ran last.
    pub command: String,
    /// That command's handle.
    pub shell_id: Option<u32>,
    /// The exit code of the last command that ended.
    pub exit_code: Option<i32>,
}

/// `cancel`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Cancelled {
    /// Whether something ran and was ended.
    pub cancelled: bool,
}

/// `dispose_session`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Disposed {
    /// The session that is no more.
    pub session_id: String,
}

/// `check_command`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Checked {
    /// allow, ask or deny.
    pub decision: String,
    /// Why.
    pub reasons: Vec<String>,
    /// The simple commands that it would run.
    pub commands: Vec<String>,
}
