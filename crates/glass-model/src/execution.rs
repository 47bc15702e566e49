//! One command of a session, from its acceptance to its end.

use crate::{EventIndex, LaunchId, Receipt, Role, SandboxPolicy, Session, SessionId, ShellId};

/// Why an execution was ended from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbortReason {
    /// Somebody cancelled it, or disposed of its session.
    User,
    /// Its time ran out.
    Timeout,
}

/// How a command ended, beyond its code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExitDetails {
    /// The signal that ended it, also where a shell reported 128 + n.
    pub signal: Option<i32>,
    /// The kernel killed it for want of memory.
    pub out_of_memory: bool,
    /// The session's shell was lost with it and begun anew.
    pub shell_replaced: bool,
    /// What the sandbox refused.
    pub sandbox_denials: Vec<String>,
    /// It failed for want of a terminal, as far as can be seen. Part of the event
    /// of its end, and not of the execution that is kept.
    pub wants_terminal: bool,
}

/// How an execution ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The exit code, as a shell would put it in `$?`. Absent where it could
    /// not be learned; never guessed.
    pub code: Option<i32>,
    /// Why it was ended from outside, if it was.
    pub abort: Option<AbortReason>,
    /// More about the end.
    pub details: ExitDetails,
    /// Set when the command never ran: why not, for people.
    pub spawn_error: Option<String>,
    /// Set when it was not allowed to run: why not, for people and models.
    pub rejected: Option<String>,
    /// What it cost and what it left behind, as far as that is known.
    pub receipt: Option<Box<Receipt>>,
}

/// Where an execution stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// In the journal and waiting for those before it; no shell has seen it.
    Queued,
    /// Handed to a shell, or about to be. After a crash only that shell can
    /// tell whether it ran.
    Running,
    /// Over; its outcome is final.
    Ended,
}

/// One command of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Execution {
    /// Its handle.
    pub shell_id: ShellId,
    /// Its session.
    pub session: SessionId,
    /// The command's text.
    pub command: String,
    /// The directory that it started in.
    pub cwd: String,
    /// The idempotency key, or empty.
    pub tool_call_id: String,
    /// Whose call it is, which is what the key is unique in: see [`call_scope`].
    pub tool_call_scope: String,
    /// Variables for this command alone.
    pub env: Vec<(String, String)>,
    /// The directory asked for, or empty.
    pub requested_cwd: String,
    /// Time allowed, in milliseconds; 0 is no limit.
    pub timeout_ms: u32,
    /// The rights in effect.
    pub sandbox: SandboxPolicy,
    /// Who asked for it.
    pub asked_by: Role,
    /// Whether it waits for somebody's word, and not only for its turn.
    pub held: bool,
    /// Where it stands.
    pub phase: Phase,
    /// The keeper's child that runs it, once there is one.
    pub launch: Option<LaunchId>,
    /// Which pair of output pipes of that launch it writes to.
    pub slot: u32,
    /// The index of its `CommandStart` event; absent while queued.
    pub start: Option<EventIndex>,
    /// The index of its `Exit` event; absent until then.
    pub end: Option<EventIndex>,
    /// When it began, in milliseconds since 1970; when accepted, while queued.
    pub started_ms: i64,
    /// When it ended.
    pub ended_ms: Option<i64>,
    /// How it ended; meaningful once ended.
    pub outcome: Outcome,
}

impl Execution {
    /// The task of the one who asked; its session's, where they named none. An
    /// idle session may serve another task than its own.
    pub fn task<'a>(&'a self, session: &'a Session) -> &'a str {
        match self.tool_call_scope.split_once(SCOPE_TASK) {
            Some((_, task)) => task,
            None => &session.task,
        }
    }
}

/// Stands between the role and the task of a [`call_scope`].
const SCOPE_TASK: &str = " task ";

/// Whose call something is: of a task, or else of everybody in this role.
/// Nobody's answer reaches somebody with other rights.
pub fn call_scope(role: Role, task: &str) -> String {
    let role = match role {
        Role::Agent => "agent",
        Role::Person => "person",
    };
    match task {
        "" => role.to_owned(),
        task => format!("{role}{SCOPE_TASK}{task}"),
    }
}
