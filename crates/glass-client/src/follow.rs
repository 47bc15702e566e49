//! A command as it runs.

use crate::ended::Ending;
use crate::error::CallError;
use glass_proto::agent::v1::shell_stream::Event;
use glass_proto::agent::v1::{ShellAbortReason, ShellStream, ShellStreamExit};
use tonic::{Code, Streaming};

/// One thing that a running command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// It began.
    Started {
        /// Its session.
        session_id: String,
        /// Its handle.
        shell_id: u32,
    },
    /// It waits for a person; nothing of it has run.
    Waits {
        /// What the person answers to.
        approval_id: String,
        /// Why.
        reason: String,
    },
    /// It wrote this to its standard output.
    Stdout(Vec<u8>),
    /// It wrote this to its standard error.
    Stderr(Vec<u8>),
    /// It is over. Nothing follows.
    Ended(Ending),
}

/// A command that is followed.
#[derive(Debug)]
pub struct Following {
    stream: Streaming<ShellStream>,
    is_over: bool,
}

impl Following {
    pub(crate) fn new(stream: Streaming<ShellStream>) -> Following {
        Following {
            stream,
            is_over: false,
        }
    }

    /// The next thing that it does; none after its end. A stream that ends
    /// without an end is an error: the command may go on.
    pub async fn next(&mut self) -> Result<Option<Piece>, CallError> {
        while !self.is_over {
            let Some(message) = self.stream.message().await? else {
                return Err(CallError {
                    code: Code::Unavailable,
                    message: "the daemon went away before the command ended".to_owned(),
                    hint: Some("the same key asks for the same execution again".to_owned()),
                });
            };
            // A message without an event is one of a later version.
            if let Some(piece) = message.event.map(piece) {
                self.is_over = matches!(piece, Piece::Ended(_));
                return Ok(Some(piece));
            }
        }
        Ok(None)
    }
}

fn piece(event: Event) -> Piece {
    // What is not text comes as it is beside what can be shown of it.
    let bytes = |data: String, raw: Option<_>| raw.map_or(data.into_bytes(), Vec::from);
    match event {
        Event::Start(it) => Piece::Started {
            session_id: it.session_id,
            shell_id: it.shell_id,
        },
        Event::ApprovalPending(it) => Piece::Waits {
            approval_id: it.approval_id,
            reason: it.reason,
        },
        Event::Stdout(it) => Piece::Stdout(bytes(it.data, it.raw)),
        Event::Stderr(it) => Piece::Stderr(bytes(it.data, it.raw)),
        Event::Exit(it) => Piece::Ended(exit(&it)),
        Event::Rejected(it) => Piece::Ended(Ending::Refused(it.reason)),
        Event::PermissionDenied(it) => Piece::Ended(Ending::Refused(it.error)),
        Event::SpawnError(it) => Piece::Ended(Ending::NotStarted(it.error)),
    }
}

fn exit(exit: &ShellStreamExit) -> Ending {
    if exit.aborted {
        return match exit.abort_reason() {
            ShellAbortReason::Timeout => Ending::TimedOut,
            _ => Ending::Cancelled,
        };
    }
    match exit.code_unknown {
        true => Ending::Unknown,
        false => Ending::Exited(exit.code.cast_signed()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Piece, piece};
    use glass_proto::agent::v1::ShellStreamStdout;
    use glass_proto::agent::v1::shell_stream::Event;

    #[test]
    fn bytes_that_are_no_text_arrive_as_they_are() {
        let raw = vec![0xff, 0x00];
        let event = Event::Stdout(ShellStreamStdout {
            data: "\u{fffd}\0".to_owned(),
            raw: Some(raw.clone().into()),
        });
        assert_eq!(piece(event), Piece::Stdout(raw));
    }
}
