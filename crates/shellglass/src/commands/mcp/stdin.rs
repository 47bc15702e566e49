//! `write_stdin`: writes to a background command, and shows what it makes of it.

use super::answer::Answer;
use super::arguments::{Read, WriteStdin};
use super::read;
use super::state::State;
use crate::error::{Failure, Kind};
use glass_proto::agent::v1::WriteShellStdinArgs;
use glass_proto::agent::v1::write_shell_stdin_result::Result as Written;
use glass_proto::shellglass::v1::WaitRequest;
use rmcp::RoleServer;
use rmcp::service::RequestContext;

/// A command that has been quiet for this long has said what it has to say.
const QUIET_MS: u32 = 150;

/// How long its answer is waited for.
const ANSWER_MS: u32 = 1_000;

/// Writes.
pub(super) async fn write(
    state: &State,
    arguments: WriteStdin,
    context: &RequestContext<RoleServer>,
) -> Result<Answer, Failure> {
    let _turn = state.turn(context).await?;
    let shell_id = arguments.shell_id;
    let chars = arguments.chars;
    let message = WriteShellStdinArgs { shell_id, chars };
    // Not asked again where the daemon is lost: it may have been written.
    let connection = state.daemon.connection(0).await?;
    let request = connection.request(message);
    let answer = connection.client.clone().write_stdin(request).await;
    match answer?.into_inner().result {
        Some(Written::Success(_)) => {}
        Some(Written::Error(error)) => return Err(failure(&error.error)),
        None => return Err(Failure::new(Kind::Broken, "the daemon did not answer")),
    }
    let settled = WaitRequest {
        shell_id,
        exit: true,
        quiet_ms: QUIET_MS,
        timeout_ms: ANSWER_MS,
        ..WaitRequest::default()
    };
    state.wait(settled).await?;
    let read = Read {
        shell_id,
        ..Read::default()
    };
    read::fresh(state, &read).await
}

/// The hint has a line of its own.
fn failure(error: &str) -> Failure {
    let (message, hint) = error.split_once("\nhint: ").unwrap_or((error, ""));
    let failure = Failure::new(Kind::Failed, format!("write_stdin: {message}"));
    match (message.contains("started without"), hint) {
        (true, _) => failure.hint("only commands with background: true have standard input"),
        (false, "") => failure,
        (false, hint) => failure.hint(hint),
    }
}

#[cfg(test)]
mod tests {
    use super::failure;

    #[test]
    fn what_is_refused_says_what_to_do() {
        let refused = failure("execution 3 was started without standard input\nhint: x");
        assert!(
            refused
                .hint
                .is_some_and(|hint| hint.contains("background: true"))
        );
        let over = failure("execution 3 is over\nhint: start it again");
        assert_eq!(over.message, "write_stdin: execution 3 is over");
        assert_eq!(over.hint.as_deref(), Some("start it again"));
    }
}
