//! `/ws/terminal`: one view of one session, or of a new one on a terminal.

mod flow;
mod message;

use super::Glass;
use super::socket::{Gone, Said, Socket, Upgrade, accept};
use crate::{attach, status};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use flow::Flow;
use glass_model::{EventIndex, Mode};
use glass_session::{
    Access, Caller, Clipboard, SessionSpec, Shown, ViewKind, ViewReader, ViewSpec, ViewWriter,
};
use message::{Control, Init, View};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tonic::Status;

/// Time for a client to say what it wants to see.
const INIT_DEADLINE: Duration = Duration::from_secs(10);

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
    let watched = Watched::new(glass, caller, &init).await;
    match watched {
        Ok(watched) => watched.show(socket, init).await,
        Err(refused) => socket.fail(&words(refused)).await,
    }
}

/// What a view is of, and for whom.
struct Watched {
    glass: Arc<Glass>,
    caller: Caller,
    session: String,
    spec: ViewSpec,
}

impl Watched {
    /// What a client asked for; where it names no session, a new one.
    async fn new(glass: Arc<Glass>, caller: Caller, init: &Init) -> Result<Watched, Status> {
        let kind = match &init.view {
            View::Default => None,
            View::Mirror => Some(ViewKind::Mirror),
            View::Terminal => Some(ViewKind::Terminal),
            View::Console => Some(ViewKind::Console),
        };
        let session = match init.session.as_str() {
            "" => {
                let spec = SessionSpec {
                    mode: Some(Mode::Pty),
                    cols: init.columns,
                    rows: init.rows,
                    ..SessionSpec::default()
                };
                let made = glass.engine.create(&caller, spec).await;
                made.map_err(status::create)?.id.to_string()
            }
            named => named.to_owned(),
        };
        let spec = ViewSpec {
            kind,
            access: match init.read_only {
                true => Access::ReadOnly,
                false => Access::Interactive,
            },
            columns: init.columns,
            rows: init.rows,
            from: EventIndex(init.from_index),
            console: init.console.clone(),
            clipboard: match init.clipboard {
                true => Clipboard::Offered,
                false => Clipboard::Guarded,
            },
        };
        Ok(Watched {
            glass,
            caller,
            session,
            spec,
        })
    }

    async fn open(&self) -> Result<(ViewReader, ViewWriter), Status> {
        let engine = &self.glass.engine;
        let opened = engine.open_view(&self.caller, &self.session, self.spec.clone());
        opened.await.map_err(attach::refuse)
    }

    /// Shows until the view is over or nobody looks.
    async fn show(mut self, mut socket: Socket, init: Init) -> Result<(), Gone> {
        let mut flow = Flow::new(init.window_bytes);
        let (mut reader, mut writer) = match self.open().await {
            Ok(opened) => opened,
            Err(refused) => return socket.fail(&words(refused)).await,
        };
        if !init.command.is_empty() {
            writer.announce(init.command);
        }
        loop {
            tokio::select! {
                shown = reader.next(), if flow.has_room() => match shown {
                    Ok(Some(shown)) => {
                        let is_late = flow.is_late(&shown);
                        self.tell(&mut socket, shown, &mut flow).await?;
                        if is_late {
                            // Only the end is worth showing; what was typed is answered.
                            self.spec.from = EventIndex(0);
                            if reader.owes_refusal() {
                                self.tell(&mut socket, Shown::ReadOnlyInput, &mut flow).await?;
                            }
                            (reader, writer) = match self.open().await {
                                Ok(opened) => opened,
                                Err(refused) => return socket.fail(&words(refused)).await,
                            };
                            flow.begin();
                        }
                    }
                    Ok(None) => return Ok(()),
                    Err(error) => return socket.fail(&words(status::lookup(error))).await,
                },
                said = socket.hear() => match said? {
                    Said::Bytes(bytes) => writer.input(bytes).await,
                    Said::Text(text) => match Control::read(&text) {
                        Ok(Control::Ack(bytes)) => flow.acknowledged(bytes),
                        Ok(Control::Refresh(name)) => {
                            self.tell(&mut socket, writer.refresh(&name), &mut flow).await?;
                        }
                        Ok(control) => obey(&mut writer, control).await,
                        Err(why) => {
                            socket.tell(&json!({ "type": "error", "message": why })).await?;
                        }
                    },
                },
            }
        }
    }

    async fn tell(&self, socket: &mut Socket, shown: Shown, flow: &mut Flow) -> Result<(), Gone> {
        let told: Value = match shown {
            Shown::Bytes { bytes, .. } => {
                flow.sent(bytes.len());
                return socket.show(bytes).await;
            }
            Shown::Opened {
                pid,
                cwd,
                name,
                icon,
            } => json!({
                "type": "opened", "pid": pid, "cwd": cwd, "sessionId": self.session,
                "name": name, "icon": icon,
            }),
            Shown::Unsupported { name } => {
                let message = format!("property '{}': not supported", name.escape_debug());
                json!({ "type": "unsupported", "name": name, "message": message })
            }
            Shown::Property { name, value } => {
                json!({ "type": "property", "name": name, "value": value })
            }
            Shown::Ready { next } => {
                flow.replayed();
                match next {
                    Some(next) => json!({ "type": "ready", "nextIndex": next.0.to_string() }),
                    None => json!({ "type": "ready" }),
                }
            }
            Shown::ReadOnlyInput => json!({ "type": "readonly" }),
            Shown::Exited { code } => json!({ "type": "exit", "code": code }),
        };
        socket.tell(&told).await
    }
}

/// Does what a client says to a view.
async fn obey(writer: &mut ViewWriter, control: Control) {
    match control {
        Control::Resize { columns, rows } => writer.resize(columns, rows).await,
        Control::Binary(bytes) => writer.binary(bytes.into()).await,
        Control::Command(command) => writer.announce(command),
        // Answered where they are read.
        Control::Ack(_) | Control::Refresh(_) => {}
        Control::Nothing => {}
    }
}

/// An error as one line.
fn words(status: Status) -> String {
    let hint = status.metadata().get(glass_proto::HINT_KEY);
    match hint.and_then(|hint| hint.to_str().ok()) {
        Some(hint) => format!("{}; hint: {hint}", status.message()),
        None => status.message().to_owned(),
    }
}
