//! What can be written: a closed list, so that every write is one of these.

use glass_model::{
    AuditEntry, Event, EventIndex, Execution, LaunchId, Mode, Outcome, Session, SessionId, ShellId,
};

/// One change to the journal. Several are committed together, or not at all.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A session begins.
    InsertSession(Session),
    /// Something is new about a session; `None` leaves a field as it is.
    UpdateSession {
        /// Which.
        id: SessionId,
        /// Its directory.
        cwd: Option<String>,
        /// The environment that its next shell begins with.
        env: Option<Vec<Vec<u8>>>,
        /// How it runs commands.
        mode: Option<Mode>,
        /// When something last happened in it.
        active_ms: i64,
        /// When it was disposed of.
        disposed_ms: Option<i64>,
    },
    /// An execution is accepted.
    InsertExecution(Execution),
    /// An execution is handed to a shell; from here on it is running.
    StartExecution {
        /// Which.
        shell_id: ShellId,
        /// The keeper's child that runs it.
        launch: LaunchId,
        /// Which pair of pipes of that child it writes to.
        slot: u32,
        /// The index of its `CommandStart` event.
        start: EventIndex,
        /// When.
        started_ms: i64,
        /// Where.
        cwd: String,
    },
    /// An execution that was held waits only for its turn from here on.
    ReleaseExecution {
        /// Which.
        shell_id: ShellId,
        /// Where it is to run from here on, where that was left open.
        cwd: Option<String>,
    },
    /// A running execution is handed to another child of the keeper.
    RestartExecution {
        /// Which.
        shell_id: ShellId,
        /// The child that runs it now.
        launch: LaunchId,
        /// Which pair of pipes of that child it writes to.
        slot: u32,
    },
    /// An execution is over.
    EndExecution {
        /// Which.
        shell_id: ShellId,
        /// The index of its `Exit` event; none where it has none.
        end: Option<EventIndex>,
        /// When.
        ended_ms: i64,
        /// How.
        outcome: Outcome,
    },
    /// Something happened in a session. Its index must be the session's next.
    Event {
        /// The session.
        session: SessionId,
        /// What happened.
        event: Event,
    },
    /// An entry of the audit, which joins the chain as its last.
    Audit(AuditEntry),
}
