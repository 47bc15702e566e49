//! Errors at the edge: a kind, a message, and what to do next.

use glass_proto::HINT_KEY;
use glass_session::WriteError;
use glass_session::{
    AnswerError, CannotRemember, CreateError, ExecuteError, LookupError, NoWalls, SearchError,
    WaitError,
};
use std::error::Error;
use tonic::metadata::MetadataMap;
use tonic::{Code, Status};

/// A status with a hint. The hint travels beside the message, so that programs
/// can show it apart.
pub(crate) fn with_hint(code: Code, message: impl Into<String>, hint: &str) -> Status {
    let mut metadata = MetadataMap::new();
    if let Ok(hint) = hint.parse() {
        metadata.insert(HINT_KEY, hint);
    }
    Status::with_metadata(code, message, metadata)
}

pub(crate) fn lookup(error: LookupError) -> Status {
    let message = describe(&error);
    match error {
        LookupError::Unknown { .. } => with_hint(
            Code::NotFound,
            message,
            "'shellglass session list' shows the sessions",
        ),
        LookupError::UnknownExecution(_) => with_hint(
            Code::NotFound,
            message,
            "'shellglass history SESSION' shows the executions of a session",
        ),
        LookupError::UnknownToolCall(_) => with_hint(
            Code::NotFound,
            message,
            "the key is unique in its task: give the task_id of the call, too",
        ),
        LookupError::Disposed(_) => with_hint(
            Code::FailedPrecondition,
            message,
            "its history can still be read; 'shellglass session create' makes a new one",
        ),
        LookupError::NotYours(_) => with_hint(
            Code::PermissionDenied,
            message,
            "an agent sees the sessions that agents made; make one with CreateSession",
        ),
        LookupError::Read(_) => with_hint(Code::Internal, message, "see the daemon's log"),
        LookupError::Stopping => with_hint(
            Code::Unavailable,
            message,
            "try again; commands go on meanwhile",
        ),
    }
}

pub(crate) fn search(error: SearchError) -> Status {
    match error {
        SearchError::Lookup(error) => lookup(error),
        SearchError::Text(_) => with_hint(
            Code::InvalidArgument,
            describe(&error),
            "give some text, or a regular expression that is whole and short",
        ),
    }
}

pub(crate) fn create(error: CreateError) -> Status {
    let message = describe(&error);
    match error {
        CreateError::Directory { forbidden, .. } => with_hint(
            if forbidden {
                Code::PermissionDenied
            } else {
                Code::InvalidArgument
            },
            message,
            "give the absolute path of a directory that you may enter",
        ),
        CreateError::Shell(_) => with_hint(
            Code::InvalidArgument,
            message,
            "install it, or name another; `shellglass doctor` shows which are here",
        ),
        CreateError::Variable { .. } => with_hint(
            Code::InvalidArgument,
            message,
            "a name is not empty and has neither '=' nor NUL, a value has no NUL",
        ),
        CreateError::TooMany { .. } => with_hint(
            Code::ResourceExhausted,
            message,
            "dispose of some with 'shellglass session dispose', or raise limits.sessions_max",
        ),
        CreateError::Sandbox(refused) => sandbox(&refused),
        CreateError::Host(refused) => {
            let code = match refused.forbidden {
                true => Code::PermissionDenied,
                false => Code::InvalidArgument,
            };
            with_hint(code, message, &refused.hint)
        }
        CreateError::Unsupported(_) => with_hint(
            Code::InvalidArgument,
            message,
            "leave it out, or choose another value",
        ),
        CreateError::Start(_) => with_hint(
            Code::FailedPrecondition,
            message,
            "'shellglass doctor' tries what works here",
        ),
        CreateError::Unjudged => with_hint(
            Code::PermissionDenied,
            message,
            "use mode pipe or line, or let a person set policy.agent to \"off\"",
        ),
        CreateError::Write(error) => write(&error, message),
        CreateError::Read(_) => with_hint(Code::Internal, message, "see the daemon's log"),
        CreateError::Io(_) => with_hint(
            Code::Internal,
            message,
            "is the runtime directory writable?",
        ),
    }
}

fn sandbox(refused: &NoWalls) -> Status {
    with_hint(Code::FailedPrecondition, &refused.why, &refused.hint)
}

pub(crate) fn execute(error: ExecuteError) -> Status {
    let message = describe(&error);
    match error {
        ExecuteError::Lookup(error) => lookup(error),
        ExecuteError::Create(error) => create(error),
        ExecuteError::Empty => with_hint(
            Code::InvalidArgument,
            message,
            "give a command, such as 'true'",
        ),
        ExecuteError::Nul { .. } => with_hint(
            Code::InvalidArgument,
            message,
            "no shell can be given that; write \\0 with printf inside the command",
        ),
        ExecuteError::TooLong { .. } => with_hint(
            Code::InvalidArgument,
            message,
            "put it in a file and run that, or raise limits.command_bytes_max",
        ),
        ExecuteError::Invalid(_) => with_hint(
            Code::InvalidArgument,
            message,
            "leave it out, or correct it",
        ),
        ExecuteError::OtherCommand { .. } => with_hint(
            Code::AlreadyExists,
            message,
            "use a new tool_call_id for every command; the same one finds its execution again",
        ),
        ExecuteError::QueueFull { .. } => with_hint(
            Code::ResourceExhausted,
            message,
            "wait for some, cancel some, or use another session",
        ),
        ExecuteError::Interactive(_) => with_hint(
            Code::FailedPrecondition,
            message,
            "type into it with 'shellglass attach ID --write', or execute in another session",
        ),
        ExecuteError::MayNotSkip => with_hint(
            Code::PermissionDenied,
            message,
            "leave out skip_approval; a person answers with 'shellglass approvals'",
        ),
        ExecuteError::Sandbox(refused) => sandbox(&refused),
        ExecuteError::Write(error) => write(&error, message),
    }
}

pub(crate) fn wait(error: WaitError) -> Status {
    let message = describe(&error);
    match error {
        WaitError::Lookup(error) => lookup(error),
        WaitError::Pattern(_) => with_hint(
            Code::InvalidArgument,
            message,
            "give a regular expression such as 'listening on .*:[0-9]+'; look-around does not exist",
        ),
        WaitError::Invalid(_) => with_hint(
            Code::InvalidArgument,
            message,
            "leave it out, or correct it",
        ),
    }
}

pub(crate) fn answer(error: AnswerError) -> Status {
    let message = describe(&error);
    match error {
        AnswerError::NotAPerson => with_hint(
            Code::PermissionDenied,
            message,
            "a person answers, on the Unix socket or with the person's token",
        ),
        AnswerError::Unknown { .. } => with_hint(
            Code::NotFound,
            message,
            "'shellglass approvals' shows what waits",
        ),
        AnswerError::NotWaiting(_) => with_hint(
            Code::FailedPrecondition,
            message,
            "'shellglass approvals' shows what waits; 'shellglass history' what became of it",
        ),
        AnswerError::CannotRemember(CannotRemember::File { .. }) => with_hint(
            Code::Internal,
            message,
            "it still waits; allow it once, or for the session",
        ),
        AnswerError::CannotRemember(_) => with_hint(
            Code::FailedPrecondition,
            message,
            "it still waits; allow it once, or for the session",
        ),
        AnswerError::Lookup(error) => lookup(error),
    }
}

fn write(error: &WriteError, message: String) -> Status {
    match error {
        WriteError::DiskFull => with_hint(
            Code::ResourceExhausted,
            message,
            "free space on the disk of the data directory ('shellglass config path')",
        ),
        _ => with_hint(Code::Internal, message, "see the daemon's log"),
    }
}

/// An error with all of its causes.
pub(crate) fn describe(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = error.source();
    }
    text
}
