//! One terminal: a command, the last of its output, and how it ended.

use crate::commands::mcp::follow::{Course, Ending, Execution};
use glass_proto::agent::v1::{ShellApprovalPending, ShellStreamExit};
use serde_json::{Value, json};

/// What a command that is ended gets first, said of one of which nobody knows what
/// ended it: its shell went with it.
const ABORT_SIGNAL: &str = "SIGINT";

/// A terminal of one of the client's sessions.
pub(super) struct Terminal {
    /// The client's session that it belongs to.
    pub session: String,
    pub execution: Execution,
}

impl Terminal {
    /// Why nothing can come of it, where that is known.
    pub(super) fn refusal(&self) -> Option<String> {
        self.execution
            .look(|course| course.ending.as_ref().and_then(refusal))
    }

    /// Whether its command has ended.
    pub(super) fn is_over(&self) -> bool {
        self.execution.look(|course| course.ending.is_some())
    }

    /// What others call the execution, once it has begun.
    pub(super) fn handle(&self) -> Value {
        self.execution.look(|course| match &course.begun {
            None => Value::Null,
            Some(begun) => json!({"shellId": begun.shell_id, "sessionId": begun.session_id}),
        })
    }

    /// The answer to `terminal/output`.
    pub(super) fn output(&self) -> Value {
        self.execution.look(|course| {
            let (output, truncated) = shown(course);
            json!({
                "output": output,
                "truncated": truncated,
                "exitStatus": course.ending.as_ref().map(exit_status),
            })
        })
    }

    /// The answer to `terminal/wait_for_exit`, once it has ended.
    pub(super) fn exit(&self) -> Value {
        let status = |course: &Course| course.ending.as_ref().map(exit_status);
        self.execution.look(status).unwrap_or_default()
    }
}

/// The last of the output, and whether there was more than that. What keeps a
/// command from running is said in its place.
fn shown(course: &Course) -> (String, bool) {
    if course.heard.total == 0 {
        if let Some(why) = course.ending.as_ref().and_then(refusal) {
            return (format!("[{why}]\n"), false);
        }
        if let Some(pending) = &course.approval {
            return (format!("[{}]\n", waits(pending)), false);
        }
    }
    let tail = course.heard.tail();
    let tail = match tail.len() as u64 == course.heard.total {
        true => tail,
        false => from_a_character(tail),
    };
    let is_truncated = !course.heard.is_whole();
    (String::from_utf8_lossy(tail).into_owned(), is_truncated)
}

/// Without the rest of a character whose beginning is gone.
fn from_a_character(bytes: &[u8]) -> &[u8] {
    let rest = |byte: &&u8| **byte & 0xC0 == 0x80;
    // A character has three such bytes at most; more are no character.
    &bytes[bytes.iter().take(3).take_while(rest).count()..]
}

fn waits(pending: &ShellApprovalPending) -> String {
    let (id, reason) = (&pending.approval_id, &pending.reason);
    format!(
        "this command waits for a person's approval: {reason}; a person says yes with `shellglass \
         approvals approve {id}`, or no with `shellglass approvals deny {id}`"
    )
}

/// Why a command did not run.
fn refusal(ending: &Ending) -> Option<String> {
    match ending {
        Ending::Exit(..) => None,
        Ending::Rejected(why) => Some(format!("the command was refused: {why}")),
        Ending::PermissionDenied(why) => Some(format!("it may not run with these rights: {why}")),
        Ending::SpawnError(why) => Some(format!("it could not be begun: {why}")),
        Ending::Failed(status) => Some(status.message().to_owned()),
    }
}

/// What did not run has neither a code nor a signal.
fn exit_status(ending: &Ending) -> Value {
    match ending {
        Ending::Exit(exit, _) => of_exit(exit),
        _ => json!({"exitCode": null, "signal": null}),
    }
}

fn of_exit(exit: &ShellStreamExit) -> Value {
    let details = exit.exit_details.as_ref();
    let signal = details.map(|details| details.signal_name.as_str());
    let signal = signal.filter(|name| !name.is_empty());
    let signal = signal.or(exit.aborted.then_some(ABORT_SIGNAL));
    let code = (!exit.code_unknown && signal.is_none()).then_some(exit.code);
    json!({"exitCode": code, "signal": signal})
}

#[cfg(test)]
mod tests {
    use super::from_a_character;

    proptest::proptest! {
        #[test]
        fn a_text_that_is_cut_anywhere_stays_a_text(text: String, at: proptest::sample::Index) {
            let at = at.index(text.len() + 1);
            let cut = from_a_character(&text.as_bytes()[at..]);
            proptest::prop_assert!(std::str::from_utf8(cut).is_ok());
            proptest::prop_assert!(text.len() - at - cut.len() < 4);
        }
    }
}
