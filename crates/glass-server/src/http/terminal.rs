//! `/ws/terminal`: one view of one session.

mod message;

use super::Glass;
use super::socket::{Gone, Said, Socket, Upgrade, accept};
use crate::mirror::{MirrorView, Shown};
use crate::status;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use glass_model::EventIndex;
use glass_session::{Caller, LookupError};
use message::{Control, Init, View};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Time for a client to say what it wants to see.
const INIT_DEADLINE: Duration = Duration::from_secs(10);

/// What Ctrl+C sends.
const INTERRUPT: u8 = 0x03;

/// The process number of a view that is none.
const NO_PID: i32 = -1;

/// Opens a view.
pub(super) async fn open(
    State(glass): State<Arc<Glass>>,
    headers: HeaderMap,
    upgrade: Upgrade,
) -> Response {
    accept(glass, headers, upgrade, run).await
}

async fn run(glass: Arc<Glass>, caller: Caller, mut socket: Socket) -> Result<(), Gone> {
    let first = match timeout(INIT_DEADLINE, socket.hear()).await {
        Ok(Ok(Said::Text(text))) => Init::read(&text),
        Ok(Ok(Said::Bytes(_))) => Err("the first message is a text frame: init".to_owned()),
        Ok(Err(gone)) => return Err(gone),
        Err(_) => Err("no init came in time".to_owned()),
    };
    let init = match first {
        Ok(init) => init,
        Err(why) => return socket.fail(&why).await,
    };
    if !matches!(init.view, View::Default | View::Mirror) {
        let why = "this view is not part of this version; hint: use mirror";
        return socket.fail(why).await;
    }
    let from = EventIndex(init.from_index);
    let opened = MirrorView::open(glass.engine.clone(), &caller, &init.session, from).await;
    match opened {
        Ok((view, cwd)) => mirror(glass, caller, socket, init.session, view, cwd).await,
        Err(error) => socket.fail(&words(error)).await,
    }
}

/// An error as one line.
fn words(error: LookupError) -> String {
    let status = status::lookup(error);
    let hint = status.metadata().get(glass_proto::HINT_KEY);
    match hint.and_then(|hint| hint.to_str().ok()) {
        Some(hint) => format!("{}; hint: {hint}", status.message()),
        None => status.message().to_owned(),
    }
}

async fn mirror(
    glass: Arc<Glass>,
    caller: Caller,
    mut socket: Socket,
    session: String,
    mut view: MirrorView,
    cwd: String,
) -> Result<(), Gone> {
    let opened = json!({ "type": "opened", "pid": NO_PID, "cwd": cwd, "sessionId": session });
    socket.tell(&opened).await?;
    let initial = json!({ "type": "property", "name": "initialCwd", "value": cwd });
    socket.tell(&initial).await?;
    loop {
        tokio::select! {
            shown = view.next() => match shown {
                Ok(Some(Shown::Bytes(bytes))) => socket.show(bytes).await?,
                Ok(Some(Shown::Cwd(cwd))) => {
                    let told = json!({ "type": "property", "name": "cwd", "value": cwd });
                    socket.tell(&told).await?;
                }
                Ok(Some(Shown::Ready(next))) => {
                    let told = json!({ "type": "ready", "nextIndex": next.0.to_string() });
                    socket.tell(&told).await?;
                }
                Ok(None) => return socket.tell(&json!({ "type": "exit", "code": null })).await,
                Err(error) => return socket.fail(&words(error)).await,
            },
            said = socket.hear() => match said? {
                Said::Bytes(bytes) => {
                    if !interrupt(&glass, &caller, &session, &bytes) {
                        socket.tell(&json!({ "type": "readonly" })).await?;
                    }
                }
                Said::Text(text) => {
                    if let Err(why) = Control::read(&text) {
                        let told = json!({ "type": "error", "message": why });
                        socket.tell(&told).await?;
                    }
                }
            },
        }
    }
}

/// Cancels what runs, if that is what the input means and something does.
fn interrupt(glass: &Arc<Glass>, caller: &Caller, session: &str, input: &[u8]) -> bool {
    let runs = || {
        let view = glass.engine.session(caller, session);
        view.is_ok_and(|view| view.running.is_some())
    };
    if input != [INTERRUPT] || !runs() {
        return false;
    }
    let (glass, caller, session) = (glass.clone(), caller.clone(), session.to_owned());
    // It answers when nothing of the command is left; the view goes on.
    tokio::spawn(async move {
        if let Err(error) = glass.engine.cancel(&caller, &session, None).await {
            tracing::debug!(%error, "nothing was cancelled");
        }
    });
    true
}
