//! Why the engine refuses something, for the edge to turn into words and hints.

use crate::gate::CannotRemember;
use crate::shells::NoShell;
use glass_model::{ApprovalId, SessionId, ShellId};
use glass_sandbox::Refusal;
use glass_spawn::{HeldError, KeeperGone};
use glass_store::{ReadError, WriteError};
use std::io;

/// Why a session was not found.
#[derive(Debug, thiserror::Error)]
pub enum LookupError {
    /// There is none.
    #[error("there is no session '{given}'")]
    Unknown {
        /// What was asked for.
        given: String,
    },
    /// It is over.
    #[error("session {0} was disposed of")]
    Disposed(SessionId),
    /// There is no such execution.
    #[error("there is no execution {0}")]
    UnknownExecution(ShellId),
    /// No call with this key has begun anything.
    #[error("there is no tool call '{0}'")]
    UnknownToolCall(String),
    /// It belongs to a person, and the caller is an agent.
    #[error("session {0} belongs to a person")]
    NotYours(SessionId),
    /// The journal cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The daemon is stopping.
    #[error("the daemon is stopping")]
    Stopping,
}

/// Rights that a command does not get; nothing ran.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct NoWalls {
    /// Why.
    pub why: String,
    /// What to do next.
    pub hint: String,
}

impl From<Refusal> for NoWalls {
    fn from(refusal: Refusal) -> NoWalls {
        NoWalls {
            why: refusal.to_string(),
            hint: refusal.hint(),
        }
    }
}

/// A host that a session cannot be on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct NoHost {
    /// Why.
    pub why: String,
    /// What to do next.
    pub hint: String,
    /// Whether somebody else might be on it.
    pub forbidden: bool,
}

/// Why a session was not made.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// Its directory is not there, or not usable.
    #[error("the directory '{path}' cannot be used: {why}")]
    Directory {
        /// The directory.
        path: String,
        /// What is wrong with it.
        why: &'static str,
        /// Whether it is there and closed to us.
        forbidden: bool,
    },
    /// Its shell is not there.
    #[error(transparent)]
    Shell(#[from] NoShell),
    /// A variable's name is not one.
    #[error("'{name}' cannot be a variable's name")]
    Variable {
        /// What was given.
        name: String,
    },
    /// There are too many.
    #[error("there are {max} sessions already")]
    TooMany {
        /// The limit.
        max: u32,
    },
    /// It asks for walls that cannot be had.
    #[error(transparent)]
    Sandbox(#[from] NoWalls),
    /// It cannot be on this host.
    #[error(transparent)]
    Host(#[from] NoHost),
    /// It asks for something that is not there.
    #[error("{0}")]
    Unsupported(String),
    /// Its terminal or its shell cannot be had.
    #[error("the session's shell could not be started: {0}")]
    Start(String),
    /// What is typed into a terminal cannot be judged, and the caller's commands
    /// must be.
    #[error("an agent whose commands are judged cannot have a terminal")]
    Unjudged,
    /// The journal cannot be written.
    #[error("the session could not be recorded")]
    Write(#[from] WriteError),
    /// The journal cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Its runtime directory cannot be made.
    #[error("the session's directory could not be made")]
    Io(#[from] io::Error),
}

/// Why a command was not accepted. None of it ran.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// The session is not to be had.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// A session for it could not be made.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// There is nothing to run.
    #[error("the command is empty")]
    Empty,
    /// No shell can be given this text.
    #[error("the command has a NUL byte at offset {offset}")]
    Nul {
        /// Where.
        offset: usize,
    },
    /// It is too long.
    #[error("the command has {bytes} bytes, and {max} are the limit")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        max: u64,
    },
    /// A value that makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// The idempotency key belongs to another command.
    #[error("tool call '{tool_call_id}' was execution {shell_id}, with another command")]
    OtherCommand {
        /// The key.
        tool_call_id: String,
        /// The execution that has it.
        shell_id: ShellId,
    },
    /// Too many wait.
    #[error("{max} commands wait in session {session} already")]
    QueueFull {
        /// The session.
        session: SessionId,
        /// The limit.
        max: u32,
    },
    /// The session is a terminal that somebody types into.
    #[error("session {0} is a terminal: commands are typed into it, and not executed")]
    Interactive(SessionId),
    /// The caller cannot decide that nobody is asked.
    #[error("this caller cannot leave out approvals")]
    MayNotSkip,
    /// It asks for walls that cannot be had.
    #[error(transparent)]
    Sandbox(#[from] NoWalls),
    /// The journal cannot be written, so nothing may run.
    #[error("the command could not be recorded, so it was not run")]
    Write(#[from] WriteError),
}

/// Why a person's answer does not count. Nothing ran because of it.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// Only persons answer.
    #[error("an agent cannot answer approvals")]
    NotAPerson,
    /// There is no such question.
    #[error("there is no approval '{given}'")]
    Unknown {
        /// What was given.
        given: String,
    },
    /// It was answered, cancelled, or nobody answered in time.
    #[error("approval {0} does not wait any more")]
    NotWaiting(ApprovalId),
    /// It cannot hold for as long as it should; it still waits.
    #[error(transparent)]
    CannotRemember(#[from] CannotRemember),
    /// The journal cannot be read.
    #[error(transparent)]
    Lookup(#[from] LookupError),
}

/// Why a command was not given what was typed, or not all of it.
#[derive(Debug, thiserror::Error)]
pub enum StdinError {
    /// It is not to be had.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// More than goes at once.
    #[error("{bytes} bytes are too many at once: {max} are the limit")]
    TooLong {
        /// How many were given.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// It waits for its turn, or for somebody's word.
    #[error("execution {0} has not begun")]
    NotBegun(ShellId),
    /// It has ended.
    #[error("execution {0} is over")]
    Over(ShellId),
    /// It was started without.
    #[error("execution {0} was started without standard input")]
    Refused(ShellId),
    /// Its standard input has ended.
    #[error("the standard input of execution {id} has ended; {taken} of {bytes} bytes were taken")]
    Ended {
        /// Which.
        id: ShellId,
        /// What it was given of these.
        taken: usize,
        /// How many there are.
        bytes: usize,
    },
    /// It does not read.
    #[error("execution {id} does not read: {taken} of {bytes} bytes were taken")]
    Full {
        /// Which.
        id: ShellId,
        /// What it was given of these.
        taken: usize,
        /// How many there are.
        bytes: usize,
    },
    /// It could not be ended.
    #[error("the standard input of execution {0} could not be closed")]
    Kept(ShellId),
}

impl StdinError {
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            StdinError::Lookup(_) => "'shellglass session list' shows what runs in the background",
            StdinError::TooLong { .. } => "write it in parts, or put it in a file",
            StdinError::NotBegun(_) => {
                "write when it runs; 'shellglass approvals' shows what waits for a person"
            }
            StdinError::Over(_) => "start it again; 'shellglass output' has what it wrote",
            StdinError::Refused(_) => {
                "start it in the background with enable_write_shell_stdin_tool, \
                 or with 'shellglass run --background'"
            }
            StdinError::Ended { .. } => "start it again; what has ended cannot be opened",
            StdinError::Full { .. } => "write the rest when it reads again, or cancel it",
            StdinError::Kept(_) => "see the daemon's log",
        }
    }
}

/// Why something cannot be waited for.
#[derive(Debug, thiserror::Error)]
pub enum WaitError {
    /// The execution is not to be had.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The pattern is none.
    #[error("the pattern cannot be used: {0}")]
    Pattern(String),
    /// A value that makes no sense.
    #[error("{0}")]
    Invalid(String),
}

/// Why the engine could not begin.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The journal cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The keeper is gone.
    #[error(transparent)]
    Keeper(#[from] KeeperGone),
    /// The keeper does not give back what it holds.
    #[error(transparent)]
    Held(#[from] HeldError),
    /// A directory cannot be made.
    #[error("the runtime directory could not be made")]
    Io(#[from] io::Error),
}
