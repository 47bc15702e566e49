//! `/ws/terminal`: one view of one session.

mod flow;
mod message;
mod pty;

use super::Glass;
use super::socket::{Gone, Said, Socket, Upgrade, accept};
use crate::mirror::{self, Piece, Pieces};
use crate::status;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use flow::Flow;
use glass_model::{EventIndex, Mode};
use glass_session::{Caller, LookupError};
use message::{Control, Init, View};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tonic::Status;

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
    let watched = Watched {
        glass,
        caller,
        session: init.session.clone(),
    };
    match (&init.view, watched.is_on_terminal()) {
        (View::Console, _) => {
            let why = "the console view is not part of this version; hint: use mirror";
            socket.fail(why).await
        }
        (View::Terminal, _) | (_, true) => pty::run(watched, socket, &init).await,
        (View::Mirror | View::Default, false) => {
            match watched.open(EventIndex(init.from_index)).await {
                Ok((pieces, cwd)) => {
                    let flow = Flow::new(init.window_bytes);
                    mirror(watched, socket, pieces, cwd, flow).await
                }
                Err(error) => socket.fail(&words(status::lookup(error))).await,
            }
        }
    }
}

/// What a view is of, and for whom.
struct Watched {
    glass: Arc<Glass>,
    caller: Caller,
    session: String,
}

/// An error as one line.
fn words(status: Status) -> String {
    let hint = status.metadata().get(glass_proto::HINT_KEY);
    match hint.and_then(|hint| hint.to_str().ok()) {
        Some(hint) => format!("{}; hint: {hint}", status.message()),
        None => status.message().to_owned(),
    }
}

async fn mirror(
    watched: Watched,
    mut socket: Socket,
    mut pieces: Pieces,
    cwd: String,
    mut flow: Flow,
) -> Result<(), Gone> {
    announce(&mut socket, &watched, &cwd).await?;
    loop {
        tokio::select! {
            piece = pieces.recv(), if flow.has_room() => match piece {
                Some(Ok(piece)) => {
                    let late = flow.is_late(&piece);
                    show(&mut socket, piece, &mut flow).await?;
                    if late {
                        // Only the end is worth showing.
                        match watched.open(EventIndex(0)).await {
                            Ok((newer, cwd)) => {
                                pieces = newer;
                                flow.begin();
                                announce(&mut socket, &watched, &cwd).await?;
                            }
                            Err(error) => return socket.fail(&words(status::lookup(error))).await,
                        }
                    }
                }
                Some(Err(error)) => return socket.fail(&words(status::lookup(error))).await,
                None => return socket.tell(&json!({ "type": "exit", "code": null })).await,
            },
            said = socket.hear() => hear(&watched, &mut socket, &mut flow, said?).await?,
        }
    }
}

async fn announce(socket: &mut Socket, watched: &Watched, cwd: &str) -> Result<(), Gone> {
    let session = &watched.session;
    let opened = json!({ "type": "opened", "pid": NO_PID, "cwd": cwd, "sessionId": session });
    socket.tell(&opened).await?;
    let initial = json!({ "type": "property", "name": "initialCwd", "value": cwd });
    socket.tell(&initial).await
}

async fn show(socket: &mut Socket, piece: Piece, flow: &mut Flow) -> Result<(), Gone> {
    match piece {
        Piece::Bytes(bytes, _) => {
            flow.sent(bytes.len());
            socket.show(bytes).await
        }
        Piece::Cwd(cwd) => {
            let told = json!({ "type": "property", "name": "cwd", "value": cwd });
            socket.tell(&told).await
        }
        Piece::Ready(next) => {
            flow.replayed();
            let told = json!({ "type": "ready", "nextIndex": next.0.to_string() });
            socket.tell(&told).await
        }
    }
}

async fn hear(
    watched: &Watched,
    socket: &mut Socket,
    flow: &mut Flow,
    said: Said,
) -> Result<(), Gone> {
    match said {
        Said::Bytes(bytes) if watched.interrupt(&bytes) => Ok(()),
        Said::Bytes(_) => socket.tell(&json!({ "type": "readonly" })).await,
        Said::Text(text) => match Control::read(&text) {
            Ok(Control::Resize { .. }) => Ok(()),
            Ok(Control::Ack(bytes)) => {
                flow.acknowledged(bytes);
                Ok(())
            }
            Err(why) => {
                let told = json!({ "type": "error", "message": why });
                socket.tell(&told).await
            }
        },
    }
}

impl Watched {
    /// Whether it is of a terminal, or is to be.
    fn is_on_terminal(&self) -> bool {
        let view = self.glass.engine.session(&self.caller, &self.session);
        self.session.is_empty() || view.is_ok_and(|view| view.session.mode == Mode::Pty)
    }

    /// A view from an event on, as far as a replay goes back.
    async fn open(&self, from: EventIndex) -> Result<(Pieces, String), LookupError> {
        mirror::open(&self.glass.engine, &self.caller, &self.session, from).await
    }

    /// Cancels what runs, if that is what the input means and something does.
    fn interrupt(&self, input: &[u8]) -> bool {
        let runs = || {
            let view = self.glass.engine.session(&self.caller, &self.session);
            view.is_ok_and(|view| view.running.is_some())
        };
        if input != [INTERRUPT] || !runs() {
            return false;
        }
        let (engine, caller) = (self.glass.engine.clone(), self.caller.clone());
        let session = self.session.clone();
        // It answers when nothing of the command is left; the view goes on.
        tokio::spawn(async move {
            if let Err(error) = engine.cancel(&caller, &session, None).await {
                tracing::debug!(%error, "nothing was cancelled");
            }
        });
        true
    }
}
