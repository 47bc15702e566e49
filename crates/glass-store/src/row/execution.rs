//! Executions as rows.

use glass_model::{
    EventIndex, Execution, ExitDetails, LaunchId, Outcome, Phase, SandboxPolicy, ShellId,
};
use rusqlite::{Connection, Row, params};

use crate::codec::{Decoder, Encoder};
use crate::error::{ReadError, WriteError};
use crate::row::{
    abort_column, abort_of, column, natural, receipt, role_column, role_of, sandbox_column,
    sandbox_of, texts_column, texts_of,
};

/// The columns that [`read`] expects, in this order.
pub(crate) const SELECT: &str = "SELECT shell_id, id, command, e.cwd, tool_call_id, \
     tool_call_scope, env, requested_cwd, timeout_ms, e.sandbox, phase, launch, slot, start_idx, \
     end_idx, started_ms, ended_ms, code, abort_reason, signal, out_of_memory, shell_replaced, \
     sandbox_denials, spawn_error, rejected, asked_by, held, receipt FROM executions AS e JOIN sessions AS s ON e.session = s.row";

const INSERT: &str = "INSERT INTO executions (shell_id, session, command, cwd, tool_call_id, \
     tool_call_scope, env, requested_cwd, timeout_ms, sandbox, phase, launch, slot, start_idx, \
     end_idx, started_ms, ended_ms, code, abort_reason, signal, out_of_memory, shell_replaced, \
     sandbox_denials, spawn_error, rejected, asked_by, held) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, \
     ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, \
     ?27)";

const END: &str = "UPDATE executions SET phase = 2, end_idx = ?2, ended_ms = ?3, code = ?4, \
     abort_reason = ?5, signal = ?6, out_of_memory = ?7, shell_replaced = ?8, \
     sandbox_denials = ?9, spawn_error = ?10, kept = ?11, rejected = ?12, held = 0, \
     receipt = ?13 WHERE shell_id = ?1 AND phase < 2";

/// Writes a new execution. The inner error is SQLite's own, so that a taken
/// key can be told from the rest.
pub(crate) fn insert(
    conn: &Connection,
    session: i64,
    execution: &Execution,
) -> Result<rusqlite::Result<usize>, WriteError> {
    let index = |index: Option<EventIndex>| index.map(|i| column(i.0, "an index")).transpose();
    let details = &execution.outcome.details;
    let values = params![
        execution.shell_id.0,
        session,
        execution.command,
        execution.cwd,
        execution.tool_call_id,
        execution.tool_call_scope,
        env_column(&execution.env),
        execution.requested_cwd,
        execution.timeout_ms,
        sandbox_column(&execution.sandbox),
        phase_column(execution.phase),
        execution.launch.map(launch_column),
        execution.slot,
        index(execution.start)?,
        index(execution.end)?,
        execution.started_ms,
        execution.ended_ms,
        execution.outcome.code,
        abort_column(execution.outcome.abort),
        details.signal,
        details.out_of_memory,
        details.shell_replaced,
        texts_column(&details.sandbox_denials),
        execution.outcome.spawn_error,
        execution.outcome.rejected,
        role_column(execution.asked_by),
        execution.held,
    ];
    Ok(conn
        .prepare_cached(INSERT)
        .and_then(|mut insert| insert.execute(values)))
}

/// Writes how an execution ended; returns how many rows that changed.
pub(crate) fn end(
    conn: &Connection,
    shell_id: ShellId,
    end: Option<EventIndex>,
    ended_ms: i64,
    outcome: &Outcome,
    kept: u64,
) -> Result<usize, WriteError> {
    let end = end.map(|index| column(index.0, "an index")).transpose()?;
    let values = params![
        shell_id.0,
        end,
        ended_ms,
        outcome.code,
        abort_column(outcome.abort),
        outcome.details.signal,
        outcome.details.out_of_memory,
        outcome.details.shell_replaced,
        texts_column(&outcome.details.sandbox_denials),
        outcome.spawn_error,
        column(kept, "a length")?,
        outcome.rejected,
        receipt::column(outcome.receipt.as_deref()),
    ];
    Ok(conn.prepare_cached(END)?.execute(values)?)
}

/// A launch is a name, not a quantity: its bits are kept.
pub(crate) fn launch_column(launch: LaunchId) -> i64 {
    launch.0.cast_signed()
}

pub(crate) fn phase_column(phase: Phase) -> i64 {
    match phase {
        Phase::Queued => 0,
        Phase::Running => 1,
        Phase::Ended => 2,
    }
}

fn env_column(env: &[(String, String)]) -> Option<Vec<u8>> {
    if env.is_empty() {
        return None;
    }
    let mut encoder = Encoder::default();
    encoder.number(env.len() as u64);
    for (name, value) in env {
        encoder.text(name).text(value);
    }
    Some(encoder.finish())
}

fn env_of(blob: &[u8]) -> Option<Vec<(String, String)>> {
    let mut decoder = Decoder::new(blob);
    let count = decoder.number()?;
    let env = (0..count)
        .map(|_| Some((decoder.text()?, decoder.text()?)))
        .collect::<Option<_>>()?;
    decoder.finish()?;
    Some(env)
}

fn corrupt() -> ReadError {
    ReadError::Corrupt {
        what: "an execution",
    }
}

/// Reads a row of [`SELECT`].
pub(crate) fn read(row: &Row<'_>) -> Result<Execution, ReadError> {
    let session: String = row.get(1)?;
    let index = |at: usize| -> Result<Option<EventIndex>, ReadError> {
        let value: Option<i64> = row.get(at)?;
        value
            .map(|value| natural(value, "an index").map(EventIndex))
            .transpose()
    };
    Ok(Execution {
        shell_id: ShellId(natural(row.get(0)?, "a handle")?),
        session: session.parse().map_err(|_| corrupt())?,
        command: row.get(2)?,
        cwd: row.get(3)?,
        tool_call_id: row.get(4)?,
        tool_call_scope: row.get(5)?,
        env: match row.get_ref(6)?.as_blob_or_null().map_err(|_| corrupt())? {
            Some(blob) => env_of(blob).ok_or_else(corrupt)?,
            None => Vec::new(),
        },
        requested_cwd: row.get(7)?,
        timeout_ms: natural(row.get(8)?, "a timeout")?,
        sandbox: sandbox(row)?,
        asked_by: role_of(row.get(25)?)?,
        held: row.get(26)?,
        phase: match row.get::<_, i64>(10)? {
            0 => Phase::Queued,
            1 => Phase::Running,
            2 => Phase::Ended,
            _ => return Err(corrupt()),
        },
        launch: row
            .get::<_, Option<i64>>(11)?
            .map(|launch| LaunchId(launch.cast_unsigned())),
        slot: natural(row.get(12)?, "a slot")?,
        start: index(13)?,
        end: index(14)?,
        started_ms: row.get(15)?,
        ended_ms: row.get(16)?,
        outcome: Outcome {
            code: row.get(17)?,
            abort: abort_of(row.get(18)?)?,
            details: ExitDetails {
                signal: row.get(19)?,
                out_of_memory: row.get(20)?,
                shell_replaced: row.get(21)?,
                sandbox_denials: texts_of(
                    row.get_ref(22)?.as_blob_or_null().map_err(|_| corrupt())?,
                )?,
                wants_terminal: false,
            },
            spawn_error: row.get(23)?,
            rejected: row.get(24)?,
            receipt: receipt::of_column(
                row.get_ref(27)?.as_blob_or_null().map_err(|_| corrupt())?,
            )?,
        },
    })
}

fn sandbox(row: &Row<'_>) -> Result<SandboxPolicy, ReadError> {
    sandbox_of(row.get_ref(9)?.as_blob().map_err(|_| corrupt())?)
}
