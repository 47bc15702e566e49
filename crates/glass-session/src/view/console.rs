//! The console of a pipe or line session: its events as a mirror shows them, and a
//! line that is edited here and run as any other command of whoever types.
//!
//! A task of its own has the line. It is never behind with its keys: while a client
//! does not read, they are still taken, and refused once too much waits.

mod hearing;
mod task;

use super::{Shown, ViewSpec};
use crate::engine::{Caller, Engine};
use crate::errors::LookupError;
use bytes::Bytes;
use glass_model::Session;
use glass_vt::mirror::{COLUMNS_DEFAULT, ROWS_DEFAULT};
use glass_vt::screen::ScreenSize;
use hearing::Hearing;
use task::Task;
use tokio::sync::mpsc;

/// What is typed waits here until the task takes it, which is soon.
const TYPED_MAX: usize = 16;

/// What waits for a slow reader: more would only be older when it is read.
const SHOWN_MAX: usize = 1;

/// What comes from the person.
pub(super) enum Typed {
    Keys(Bytes),
    Size(ScreenSize),
}

pub(super) struct ConsoleReader {
    shown: mpsc::Receiver<Result<Shown, LookupError>>,
}

pub(super) struct ConsoleWriter {
    typed: mpsc::Sender<Typed>,
}

/// Opens a console from an event on.
pub(super) async fn open(
    engine: &Engine,
    caller: &Caller,
    session: &Session,
    spec: ViewSpec,
) -> Result<(ConsoleReader, ConsoleWriter), LookupError> {
    let hearing = Hearing::begin(engine, caller, session, spec.from).await?;
    let size = size(spec.columns, spec.rows).unwrap_or(ScreenSize {
        columns: COLUMNS_DEFAULT,
        rows: ROWS_DEFAULT,
    });
    let (typed, keys) = mpsc::channel(TYPED_MAX);
    let (sender, shown) = mpsc::channel(SHOWN_MAX);
    let manner = engine.console_manner().wished(spec.console);
    let task = Task::new(engine, caller, session, (manner, size), &hearing);
    tokio::spawn(task.run(hearing, keys, sender));
    Ok((ConsoleReader { shown }, ConsoleWriter { typed }))
}

/// A size that was measured; none where it was not.
fn size(columns: u32, rows: u32) -> Option<ScreenSize> {
    let narrow = |value: u32| u16::try_from(value).unwrap_or(u16::MAX);
    (columns > 0 && rows > 0).then(|| ScreenSize {
        columns: narrow(columns),
        rows: narrow(rows),
    })
}

impl ConsoleReader {
    pub(super) async fn next(&mut self) -> Result<Option<Shown>, LookupError> {
        self.shown.recv().await.transpose()
    }
}

impl ConsoleWriter {
    pub(super) async fn input(&self, bytes: Bytes) {
        // A console that is over takes nothing.
        let _ = self.typed.send(Typed::Keys(bytes)).await;
    }

    pub(super) async fn resize(&self, columns: u32, rows: u32) {
        if let Some(size) = size(columns, rows) {
            let _ = self.typed.send(Typed::Size(size)).await;
        }
    }
}
