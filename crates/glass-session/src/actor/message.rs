//! What the task of a session is sent, and what it answers.

use super::{CutOrder, Finished, Typed};
use crate::gate::{CannotRemember, Judged};
use glass_model::{Answer, EventIndex, Execution, LaunchId, ShellId};
use glass_spawn::Launched;
use glass_store::WriteError;
use glass_vt::screen::ScreenSize;
use tokio::sync::oneshot;

/// What callers ask of a session.
pub(crate) enum Message {
    /// Run a command, if its gate lets it pass. Answers when it is in the
    /// journal.
    Execute {
        execution: Box<Execution>,
        /// What was added to its command, and why.
        adapted: Option<String>,
        /// None where its gate is not known yet; `Judge` will tell.
        judged: Option<Judged>,
        reply: oneshot::Sender<Result<Accepted, Refusal>>,
        done: Option<oneshot::Sender<Finished>>,
    },
    /// What the gate of an accepted command is.
    Judge { shell_id: ShellId, judged: Judged },
    /// Note something about an execution in the history.
    Remark { shell_id: ShellId, detail: String },
    /// What a person says. Answers with whether it was asked.
    Answer {
        shell_id: ShellId,
        answer: Answer,
        reply: oneshot::Sender<Result<bool, CannotRemember>>,
    },
    /// Tell when this execution is over; at once if it is.
    Watch {
        shell_id: ShellId,
        done: oneshot::Sender<Finished>,
    },
    /// Stop one execution, or whatever runs now. Answers when nothing of it is
    /// left, with whether it was stopped.
    Cancel {
        shell_id: Option<ShellId>,
        reply: oneshot::Sender<bool>,
    },
    /// Give a background command what somebody typed.
    Type(Typed),
    /// The terminal of what runs has another size.
    Resize(ScreenSize),
    /// Say what a background command takes along.
    Cut(Box<CutOrder>),
    /// Say which process a child is.
    Find {
        launch: LaunchId,
        reply: oneshot::Sender<Option<Launched>>,
    },
    /// End the session. Answers when nothing of it is left.
    Dispose { reply: oneshot::Sender<()> },
}

/// Why a command is not in the journal. None of it ran.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Too many wait.
    QueueFull,
    /// It cannot be written.
    Write(WriteError),
}

/// A command that is in the journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accepted {
    pub(crate) shell_id: ShellId,
    /// No event of it comes before this.
    pub(crate) from: EventIndex,
}
