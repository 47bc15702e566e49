//! One transaction: changes to rows, together with what they mean for the
//! ledger.

use glass_model::{Event, EventBody, EventIndex, Execution, Outcome, Phase, SessionId, ShellId};
use rusqlite::{Connection, OptionalExtension, params};

use crate::audit;
use crate::change::Change;
use crate::error::WriteError;
use crate::ledger::{Delta, Ledger, Open, Seat};
use crate::row::{self, column};

/// A transaction that is under way.
pub(crate) struct Transaction<'a> {
    pub(crate) conn: &'a Connection,
    pub(crate) ledger: &'a Ledger,
    pub(crate) delta: Delta,
}

impl Transaction<'_> {
    /// Performs all of these, in order.
    pub(crate) fn apply_all(&mut self, changes: &[Change]) -> Result<(), WriteError> {
        changes
            .iter()
            .try_for_each(|change| self.apply(change, changes))
    }

    /// Performs one change of a commit that consists of all of these.
    fn apply(&mut self, change: &Change, all: &[Change]) -> Result<(), WriteError> {
        match change {
            Change::UpdateSession { id, active_ms, .. } => {
                self.update_session(change, tells_activity(all, id, *active_ms))
            }
            Change::InsertSession(session) => {
                let row = row::session::insert(self.conn, session)?;
                self.delta
                    .seats
                    .push((session.id.clone(), Seat { row, next: 0 }));
                Ok(())
            }
            Change::InsertExecution(execution) => self.insert_execution(execution),
            Change::StartExecution {
                shell_id,
                launch,
                slot,
                start,
                started_ms,
                cwd,
            } => {
                let values = params![
                    shell_id.0,
                    row::execution::launch_column(*launch),
                    slot,
                    column(start.0, "an index")?,
                    started_ms,
                    cwd
                ];
                let sql = "UPDATE executions SET phase = 1, launch = ?2, slot = ?3, \
                     start_idx = ?4, started_ms = ?5, cwd = ?6 WHERE shell_id = ?1 AND phase < 2";
                must_be_open(*shell_id, self.conn.prepare_cached(sql)?.execute(values)?)
            }
            Change::ReleaseExecution { shell_id, cwd } => {
                let sql = "UPDATE executions SET held = 0, \
                     requested_cwd = coalesce(?2, requested_cwd) WHERE shell_id = ?1 AND phase < 2";
                let values = params![shell_id.0, cwd];
                must_be_open(*shell_id, self.conn.prepare_cached(sql)?.execute(values)?)
            }
            Change::RestartExecution {
                shell_id,
                launch,
                slot,
            } => {
                let values = params![shell_id.0, row::execution::launch_column(*launch), slot];
                let sql = "UPDATE executions SET launch = ?2, slot = ?3 \
                     WHERE shell_id = ?1 AND phase < 2";
                must_be_open(*shell_id, self.conn.prepare_cached(sql)?.execute(values)?)
            }
            Change::EndExecution {
                shell_id,
                end,
                ended_ms,
                outcome,
            } => self.end_execution(*shell_id, *end, *ended_ms, outcome),
            Change::Event { session, event } => self.insert_event(session, event),
            Change::Audit(entry) => audit::append(self, entry),
        }
    }

    /// Each field has a statement of its own, so that the usual update touches
    /// neither the environment nor an index.
    fn update_session(&mut self, change: &Change, told_by_event: bool) -> Result<(), WriteError> {
        let Change::UpdateSession {
            id,
            cwd,
            env,
            mode,
            active_ms,
            disposed_ms,
        } = change
        else {
            return Ok(());
        };
        let row = self.seat(id)?.row;
        if !told_by_event {
            self.conn
                .prepare_cached("UPDATE sessions SET active_ms = ?2 WHERE row = ?1")?
                .execute(params![row, active_ms])?;
        }
        if let Some(cwd) = cwd {
            self.conn
                .prepare_cached("UPDATE sessions SET cwd = ?2 WHERE row = ?1")?
                .execute(params![row, cwd])?;
        }
        if let Some(env) = env {
            row::session::write_env(self.conn, row, env)?;
        }
        if let Some(mode) = mode {
            self.conn
                .prepare_cached("UPDATE sessions SET mode = ?2 WHERE row = ?1")?
                .execute(params![row, row::session::mode_column(*mode)])?;
        }
        if let Some(disposed_ms) = disposed_ms {
            self.conn
                .prepare_cached("UPDATE sessions SET disposed_ms = ?2 WHERE row = ?1")?
                .execute(params![row, disposed_ms])?;
            self.delta.retired.push(id.clone());
        }
        Ok(())
    }

    fn insert_execution(&mut self, execution: &Execution) -> Result<(), WriteError> {
        let session = self.seat(&execution.session)?.row;
        match row::execution::insert(self.conn, session, execution)? {
            Ok(_) => {}
            Err(error) if is_taken(&error) => return Err(self.duplicate(execution, error)),
            Err(error) => return Err(error.into()),
        }
        if execution.phase != Phase::Ended {
            self.delta
                .set_open(execution.shell_id.0, Some(Open { session, kept: 0 }));
        }
        Ok(())
    }

    /// Names the execution that has the key already.
    fn duplicate(&self, execution: &Execution, error: rusqlite::Error) -> WriteError {
        let by_key = self
            .conn
            .prepare_cached(
                "SELECT shell_id FROM executions \
                 WHERE tool_call_scope = ?1 AND tool_call_id = ?2 AND tool_call_id != ''",
            )
            .and_then(|mut find| {
                find.query_row(
                    [&execution.tool_call_scope, &execution.tool_call_id],
                    |row| row.get(0),
                )
                .optional()
            });
        match by_key {
            Ok(Some(shell_id)) => WriteError::Duplicate {
                shell_id: ShellId(shell_id),
            },
            Ok(None) => WriteError::Duplicate {
                shell_id: execution.shell_id,
            },
            Err(_) => WriteError::Database(error),
        }
    }

    fn end_execution(
        &mut self,
        shell_id: ShellId,
        end: Option<EventIndex>,
        ended_ms: i64,
        outcome: &Outcome,
    ) -> Result<(), WriteError> {
        let kept = self.open(shell_id).map_or(0, |open| open.kept);
        let changed = row::execution::end(self.conn, shell_id, end, ended_ms, outcome, kept)?;
        must_be_open(shell_id, changed)?;
        self.delta.set_open(shell_id.0, None);
        Ok(())
    }

    fn insert_event(&mut self, session: &SessionId, event: &Event) -> Result<(), WriteError> {
        let Seat { row, next } = self.seat(session)?;
        if event.index.0 != next {
            return Err(WriteError::OutOfOrder {
                session: session.clone(),
                expected: EventIndex(next),
                given: event.index,
            });
        }
        row::event::insert(self.conn, row, event)?;
        for (id, seat) in &mut self.delta.seats {
            if id == session {
                seat.next = next + 1;
            }
        }
        if let (EventBody::Output { bytes, .. }, Some(shell)) = (&event.body, event.shell_id) {
            self.count_output(shell, row, *bytes)?;
        }
        Ok(())
    }

    fn count_output(&mut self, shell: ShellId, session: i64, bytes: u64) -> Result<(), WriteError> {
        let signed = column(bytes, "a length")?;
        match self.open(shell) {
            Some(open) => {
                let kept = open.kept.saturating_add(bytes);
                self.delta.set_open(shell.0, Some(Open { kept, ..open }));
            }
            // Late output, from what the command left in the background.
            None => {
                let sql = "UPDATE executions SET kept = kept + ?2 WHERE shell_id = ?1";
                self.conn
                    .prepare_cached(sql)?
                    .execute(params![shell.0, signed])?;
            }
        }
        self.delta.add_kept(session, signed);
        Ok(())
    }

    /// Counts recorded output of an execution as gone.
    pub(crate) fn uncount_output(
        &mut self,
        shell: ShellId,
        session: i64,
        bytes: u64,
    ) -> Result<(), WriteError> {
        let signed = column(bytes, "a length")?;
        match self.open(shell) {
            Some(open) => {
                let kept = open.kept.saturating_sub(bytes);
                self.delta.set_open(shell.0, Some(Open { kept, ..open }));
            }
            None => {
                let sql = "UPDATE executions SET kept = max(kept - ?2, 0) WHERE shell_id = ?1";
                self.conn
                    .prepare_cached(sql)?
                    .execute(params![shell.0, signed])?;
            }
        }
        self.delta.add_kept(session, -signed);
        Ok(())
    }

    /// An execution that is not over, as this transaction has it.
    fn open(&self, shell: ShellId) -> Option<Open> {
        match self.delta.open.iter().find(|(id, _)| *id == shell.0) {
            Some((_, open)) => *open,
            None => self.ledger.open(shell.0),
        }
    }

    /// A session's place, as this transaction has it.
    fn seat(&mut self, id: &SessionId) -> Result<Seat, WriteError> {
        if let Some((_, seat)) = self.delta.seats.iter().find(|(known, _)| known == id) {
            return Ok(*seat);
        }
        let seat = match self.ledger.seat(id) {
            Some(seat) => seat,
            None => self.find_seat(id)?,
        };
        self.delta.seats.push((id.clone(), seat));
        Ok(seat)
    }

    fn find_seat(&self, id: &SessionId) -> Result<Seat, WriteError> {
        let sql = "SELECT row, (SELECT max(idx) FROM events WHERE session = row) \
             FROM sessions WHERE id = ?1";
        let found: Option<(i64, Option<i64>)> = self
            .conn
            .prepare_cached(sql)?
            .query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let (row, last) = found.ok_or_else(|| WriteError::UnknownSession {
            session: id.clone(),
        })?;
        let next = last.map_or(0, |last| last.max(0).cast_unsigned() + 1);
        Ok(Seat { row, next })
    }
}

/// Whether the last event among these tells that the session was active then,
/// so that its row need not.
fn tells_activity(changes: &[Change], id: &SessionId, active_ms: i64) -> bool {
    let last = changes.iter().rev().find_map(|change| match change {
        Change::Event { session, event } if session == id => Some(event.at_ms),
        _ => None,
    });
    last.is_some_and(|at_ms| at_ms >= active_ms)
}

fn must_be_open(shell_id: ShellId, rows_changed: usize) -> Result<(), WriteError> {
    if rows_changed == 0 {
        Err(WriteError::NotOpen { shell_id })
    } else {
        Ok(())
    }
}

pub(crate) fn is_taken(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|cause| {
        matches!(
            cause.extended_code,
            rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE | rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY
        )
    })
}
