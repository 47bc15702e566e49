//! `wait`: one call that returns at the first of several conditions. The daemon
//! waits; this tells the client how long it has been.

use super::answer::{Answer, Went};
use super::arguments::{self, Wait};
use super::execute::YIELD_MS_MAX;
use super::pages::Look;
use super::progress;
use super::results::Waited;
use super::state::State;
use super::words;
use crate::client::Client;
use crate::error::Failure;
use glass_proto::shellglass::v1::{WaitRequest, WaitResponse};
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use std::time::Instant;
use tonic::Status;

/// How long a call waits, unless asked otherwise, in milliseconds.
const TIMEOUT_MS_DEFAULT: u32 = 30_000;

impl State {
    /// Waits in the daemon.
    pub(super) async fn wait(&self, request: WaitRequest) -> Result<WaitResponse, Status> {
        let wait = |mut client: Client, request| async move { client.wait(request).await };
        self.daemon.call(request, wait).await
    }
}

fn request(arguments: &Wait, shown: u64) -> Result<WaitRequest, Failure> {
    let pattern = arguments.pattern.clone().unwrap_or_default();
    // Refused here, it is refused by its name.
    arguments::regex("pattern", &pattern)?;
    let asked = arguments.timeout_ms.unwrap_or(TIMEOUT_MS_DEFAULT);
    Ok(WaitRequest {
        shell_id: arguments.shell_id,
        exit: arguments.exit == Some(true),
        pattern,
        port: arguments.port.map_or(0, u32::from),
        file: arguments.file.clone().unwrap_or_default(),
        quiet_ms: arguments.quiet_ms.unwrap_or(0),
        // 0 would be as long as the daemon allows.
        timeout_ms: asked.clamp(1, YIELD_MS_MAX),
        offset: Some(shown),
    })
}

/// Waits.
pub(super) async fn wait(
    state: &State,
    arguments: Wait,
    context: &RequestContext<RoleServer>,
) -> Result<Answer, Failure> {
    let id = arguments.shell_id;
    let known = state.known(id);
    let request = request(&arguments, known.shown)?;
    let _turn = state.turn(context).await?;
    let began = Instant::now();
    let reports = async {
        loop {
            tokio::time::sleep(progress::EVERY).await;
            let elapsed = began.elapsed();
            let message = format!("waiting for {}", words::duration(elapsed));
            progress::report(context, elapsed, message).await;
        }
    };
    let answer = tokio::select! {
        biased;
        // The client does not listen any more; the command is not the wait's.
        () = context.ct.cancelled() => timed_out(),
        answer = state.wait(request) => answer?,
        () = reports => timed_out(),
    };
    let shown = state
        .page(id, known.shown, &Look::new(&state.settings.text, None))
        .await?;
    state.note(id, |known| known.shown = shown.next_offset);
    let now = state.piece(id, shown.next_offset, 1, 0).await?;
    let waited = Waited {
        shell_id: id,
        reason: answer.reason,
        matched: Some(answer.matched).filter(|matched| !matched.is_empty()),
        running: now.running,
        exit_code: now.exit_code,
        shown,
    };
    let text = words::with_status(&waited.shown, &status(&waited));
    Ok(Answer::new(text, &waited, Went::Well))
}

fn timed_out() -> WaitResponse {
    WaitResponse {
        reason: "timeout".to_owned(),
        ..WaitResponse::default()
    }
}

fn status(waited: &Waited) -> String {
    let matched = waited.matched.as_deref().unwrap_or_default();
    let what = match waited.reason.as_str() {
        "exit" => match waited.exit_code {
            Some(code) => format!("it ended with exit code {code}"),
            None => "it ended, and its exit code is not known".to_owned(),
        },
        "pattern" => format!("the pattern matched: {matched}"),
        "port" => format!("something listens on port {matched}"),
        "file" => format!("{matched} exists"),
        "quiet" => "it has been quiet as long as asked".to_owned(),
        _ => "none of it yet; call wait again to go on".to_owned(),
    };
    let state = match (waited.reason.as_str(), waited.running) {
        ("exit", _) => "",
        (_, true) => " · still running",
        (_, false) => " · the command itself has ended",
    };
    format!("{what}{state} · shell_id {}", waited.shell_id)
}

#[cfg(test)]
mod tests {
    use super::{Wait, request};

    #[test]
    fn a_wait_begins_after_what_was_shown_and_answers_in_time() {
        let asked = |timeout_ms| {
            let arguments = Wait {
                shell_id: 3,
                timeout_ms,
                ..Wait::default()
            };
            request(&arguments, 17).expect("it makes sense")
        };
        assert_eq!(asked(None).offset, Some(17));
        assert_eq!(asked(None).timeout_ms, 30_000);
        assert_eq!(asked(Some(0)).timeout_ms, 1);
        assert_eq!(asked(Some(u32::MAX)).timeout_ms, 50_000);
        let bad = Wait {
            pattern: Some("(".to_owned()),
            ..Wait::default()
        };
        assert!(request(&bad, 0).is_err());
    }
}
