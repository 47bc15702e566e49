//! `acp`: the terminals of the Agent Client Protocol, in the place of a client's
//! own (`terminal/create`, `output`, `wait_for_exit`, `kill`, `release`).
//!
//! A client hands on what its agent asks for, and each terminal is one execution
//! of the daemon's, in the role of an agent: judged, walled in and journaled as
//! any other. Nothing here outlives the client.

mod launch;
mod message;
mod table;
mod terminal;

use super::lines::{LineReader, Read};
use super::mcp::asked_to_stop;
use super::run::directory;
use crate::cli::Acp;
use crate::client::Context;
use crate::error::Failure;
use message::{Asked, Said};
use rmcp::model::ErrorData;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use table::Table;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinSet;

/// Longest message, in bytes. A command has at most 4 MiB, and JSON can write each
/// of its bytes in six.
const LINE_BYTES_MAX: usize = 32 << 20;

/// Requests that are answered at once; more are told so.
const REQUESTS_MAX: usize = 256;

/// Refusals that wait to be written; beyond, nothing more is read.
const REFUSALS_MAX: usize = 64;

/// Longest wait, when the client has gone, for what runs to end.
const PARTING_WAIT: Duration = Duration::from_secs(10);

/// Longest wait, after that, for the client to read the last answers.
const ANSWERS_WAIT: Duration = Duration::from_secs(2);

/// Serves one client until it closes our standard input.
pub(super) async fn acp(arguments: &Acp) -> Result<ExitCode, Failure> {
    let context = Arc::new(Context::load()?);
    let workspace = directory(arguments.workspace.as_deref())?;
    let table = Arc::new(Table::new(context, workspace));
    let early = Arc::clone(&table);
    tokio::spawn(async move { early.warm_up().await });
    let (input, output) = rmcp::transport::stdio_pipes();
    let output = Arc::new(Mutex::new(output));
    let mut lines = LineReader::new(input, LINE_BYTES_MAX);
    let places = Arc::new(Semaphore::new(REQUESTS_MAX));
    let refusals = Arc::new(Semaphore::new(REFUSALS_MAX));
    let mut tasks = JoinSet::new();
    let stop = asked_to_stop();
    tokio::pin!(stop);
    loop {
        let said = tokio::select! {
            biased;
            () = &mut stop => break,
            Some(_) = tasks.join_next() => continue,
            read = lines.read() => match read {
                Read::End => break,
                Read::TooLong => Said::Mistake(Value::Null, message::too_long(LINE_BYTES_MAX)),
                Read::Line => message::parse(lines.line()),
            },
        };
        lines.clear();
        let (table, output) = (Arc::clone(&table), Arc::clone(&output));
        let (id, asked, place) = match said {
            Said::Nothing => continue,
            Said::Mistake(id, mistake) => (id, Err(mistake), None),
            Said::Request(id, asked) => match Arc::clone(&places).try_acquire_owned() {
                Ok(place) => (id, asked, Some(place)),
                Err(_) => (id, Err(message::too_many(REQUESTS_MAX)), None),
            },
        };
        let place = match place {
            Some(place) => place,
            // A client that does not read its answers must not keep us from stopping.
            None => tokio::select! {
                biased;
                () = &mut stop => break,
                place = Arc::clone(&refusals).acquire_owned() => {
                    place.expect("nobody closes it")
                }
            },
        };
        tasks.spawn(async move {
            let _place = place;
            serve(&table, &output, &id, asked).await;
        });
    }
    drop(tokio::time::timeout(PARTING_WAIT, table.leave()).await);
    let answers = async { while tasks.join_next().await.is_some() {} };
    drop(tokio::time::timeout(ANSWERS_WAIT, answers).await);
    Ok(ExitCode::SUCCESS)
}

/// Does what one request asks for, and answers it.
async fn serve<W: AsyncWrite + Unpin>(
    table: &Table,
    output: &Mutex<W>,
    id: &Value,
    asked: Result<Asked, ErrorData>,
) {
    let answered = match asked {
        Err(mistake) => Err(mistake),
        Ok(Asked::Create(create)) => table.create(create).await,
        Ok(Asked::WaitForExit(named)) => table.wait_for_exit(&named).await,
        Ok(Asked::Kill(named)) => table.kill(&named).await,
        Ok(Asked::Release(named)) => table.release(&named).await,
        // Made when it is its turn to be written: a client that asks often and reads
        // nothing makes no copies.
        Ok(Asked::Output(named)) => return answer(output, id, || table.output(&named)).await,
    };
    answer(output, id, || answered).await;
}

/// Writes one answer as one line.
async fn answer<W: AsyncWrite + Unpin>(
    output: &Mutex<W>,
    id: &Value,
    answered: impl FnOnce() -> Result<Value, ErrorData>,
) {
    let mut output = output.lock().await;
    let message = match answered() {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(mistake) => json!({"jsonrpc": "2.0", "id": id, "error": mistake}),
    };
    let line = format!("{message}\n");
    // A client that does not listen any more is about to close its end.
    if output.write_all(line.as_bytes()).await.is_ok() {
        drop(output.flush().await);
    }
}
