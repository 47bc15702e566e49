//! A view of a session on a terminal: what it shows, and what is typed into it.

use super::flow::Flow;
use super::message::{Control, Init};
use super::{Watched, words};
use crate::http::socket::{Gone, Said, Socket};
use crate::{attach, status};
use glass_model::Mode;
use glass_session::{
    Access, LookupError, SessionSpec, Shown, ViewKind, ViewReader, ViewSpec, ViewWriter,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tonic::Status;

/// Messages that wait for a slow client. What it does not take is not queued:
/// it gets what is new when it reads on.
const MESSAGES_MAX: usize = 1;

/// Shows a terminal until it is over or nobody looks.
pub(super) async fn run(mut watched: Watched, mut socket: Socket, init: &Init) -> Result<(), Gone> {
    let (reader, mut writer) = match open(&mut watched, init).await {
        Ok(opened) => opened,
        Err(refused) => return socket.fail(&words(refused)).await,
    };
    let (sender, mut shown) = mpsc::channel(MESSAGES_MAX);
    tokio::spawn(read(reader, sender));
    let mut flow = Flow::new(init.window_bytes);
    loop {
        tokio::select! {
            shown = shown.recv(), if flow.has_room() => match shown {
                Some(Ok(shown)) => show(&watched, &mut socket, &mut flow, shown).await?,
                Some(Err(error)) => return socket.fail(&words(status::lookup(error))).await,
                None => return Ok(()),
            },
            said = socket.hear() => match said? {
                Said::Bytes(bytes) => writer.input(bytes).await,
                Said::Text(text) => match Control::read(&text) {
                    Ok(Control::Resize { columns, rows }) => writer.resize(columns, rows).await,
                    Ok(Control::Ack(bytes)) => flow.acknowledged(bytes),
                    Err(why) => {
                        socket.tell(&json!({ "type": "error", "message": why })).await?;
                    }
                },
            },
        }
    }
}

/// Opens the view, of a new session where none is named.
async fn open(watched: &mut Watched, init: &Init) -> Result<(ViewReader, ViewWriter), Status> {
    let engine = &watched.glass.engine;
    if watched.session.is_empty() {
        let spec = SessionSpec {
            mode: Some(Mode::Pty),
            cols: init.columns,
            rows: init.rows,
            ..SessionSpec::default()
        };
        let made = engine.create(&watched.caller, spec).await;
        watched.session = made.map_err(status::create)?.id.to_string();
    }
    let spec = ViewSpec {
        kind: Some(ViewKind::Terminal),
        access: match init.read_only {
            true => Access::ReadOnly,
            false => Access::Interactive,
        },
        columns: init.columns,
        rows: init.rows,
    };
    let opened = engine
        .open_view(&watched.caller, &watched.session, spec)
        .await;
    opened.map_err(attach::refuse)
}

async fn read(mut reader: ViewReader, sender: mpsc::Sender<Result<Shown, LookupError>>) {
    loop {
        let next = tokio::select! {
            next = reader.next() => next,
            () = sender.closed() => return,
        };
        let Some(shown) = next.transpose() else {
            return;
        };
        let is_last = shown.is_err();
        if sender.send(shown).await.is_err() || is_last {
            return;
        }
    }
}

async fn show(
    watched: &Watched,
    socket: &mut Socket,
    flow: &mut Flow,
    shown: Shown,
) -> Result<(), Gone> {
    let told: Value = match shown {
        Shown::Bytes(bytes) => {
            flow.sent(bytes.len());
            return socket.show(bytes).await;
        }
        Shown::Opened { pid, cwd } => {
            json!({ "type": "opened", "pid": pid, "cwd": cwd, "sessionId": watched.session })
        }
        Shown::Property { name, value } => {
            json!({ "type": "property", "name": name, "value": value })
        }
        Shown::Ready => json!({ "type": "ready" }),
        Shown::ReadOnlyInput => json!({ "type": "readonly" }),
        Shown::Exited { code } => json!({ "type": "exit", "code": code }),
    };
    socket.tell(&told).await
}
