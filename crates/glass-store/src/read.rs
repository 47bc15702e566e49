//! Reading, on a connection of its own, so that a long history does not hold
//! up the writer.

use std::io::{Read, Seek, SeekFrom};
use std::sync::{MutexGuard, PoisonError};

use glass_model::{Event, EventIndex, Execution, Session, SessionId, ShellId, Stream};
use rusqlite::{Connection, OptionalExtension, Params, Row};
use rustix::fs::OFlags;

use crate::Store;
use crate::change::Change;
use crate::error::ReadError;
use crate::row;

/// Texts of events returned at once, in bytes. One larger text comes alone.
const EVENT_TEXT_BYTES_MAX: usize = 8 << 20;

/// The events that a session has: `first <= index < next`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The oldest that is kept.
    pub first: EventIndex,
    /// The one that will come next.
    pub next: EventIndex,
}

impl Store {
    /// A session, disposed or not.
    pub fn session(&self, id: &SessionId) -> Result<Option<Session>, ReadError> {
        let sql = format!("{} WHERE id = ?1", row::session::SELECT);
        Ok(list(&self.reader(), &sql, [id.as_str()], row::session::read)?.pop())
    }

    /// All sessions, the oldest first.
    pub fn sessions(&self, include_disposed: bool) -> Result<Vec<Session>, ReadError> {
        let which = if include_disposed {
            ""
        } else {
            "WHERE disposed_ms IS NULL"
        };
        let sql = format!("{} {which} ORDER BY row", row::session::SELECT);
        list(&self.reader(), &sql, [], row::session::read)
    }

    /// Which events a session has. One that is not there has none.
    pub fn cursor(&self, id: &SessionId) -> Result<Cursor, ReadError> {
        let sql = "SELECT (SELECT min(idx) FROM events WHERE session = row), \
             (SELECT max(idx) FROM events WHERE session = row) FROM sessions WHERE id = ?1";
        let found: Option<(Option<i64>, Option<i64>)> = self
            .reader()
            .prepare_cached(sql)?
            .query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        match found {
            Some((Some(first), Some(last))) => Ok(Cursor {
                first: EventIndex(row::natural(first, "an index")?),
                next: EventIndex(row::natural(last, "an index")?).next(),
            }),
            _ => Ok(Cursor::default()),
        }
    }

    /// An execution.
    pub fn execution(&self, shell: ShellId) -> Result<Option<Execution>, ReadError> {
        Ok(self.executions_of(&[shell])?.pop())
    }

    /// Those of some executions that there are, in the order asked for.
    pub fn executions_of(&self, shells: &[ShellId]) -> Result<Vec<Execution>, ReadError> {
        let sql = format!("{} {BY_SHELL}", row::execution::SELECT);
        let reader = self.reader();
        let mut found = Vec::new();
        for shell in shells {
            found.append(&mut list(&reader, &sql, [shell.0], row::execution::read)?);
        }
        Ok(found)
    }

    /// A session's executions, in the order in which they were accepted.
    pub fn executions(&self, id: &SessionId) -> Result<Vec<Execution>, ReadError> {
        let sql = format!("{} WHERE id = ?1 ORDER BY shell_id", row::execution::SELECT);
        list(&self.reader(), &sql, [id.as_str()], row::execution::read)
    }

    /// Executions that were accepted before another, the newest first.
    pub fn executions_before(
        &self,
        shell: ShellId,
        max: usize,
    ) -> Result<Vec<Execution>, ReadError> {
        let sql = format!(
            "{} WHERE shell_id < ?1 ORDER BY shell_id DESC LIMIT ?2",
            row::execution::SELECT
        );
        let params = (shell.0, saturate(max as u64));
        list(&self.reader(), &sql, params, row::execution::read)
    }

    /// The execution of a session that was accepted last, of those that are over.
    pub fn last_ended(&self, id: &SessionId) -> Result<Option<Execution>, ReadError> {
        let sql = format!(
            "{} WHERE id = ?1 AND phase = 2 ORDER BY shell_id DESC LIMIT 1",
            row::execution::SELECT
        );
        Ok(list(&self.reader(), &sql, [id.as_str()], row::execution::read)?.pop())
    }

    /// All executions that are not over, the oldest first.
    pub fn unfinished(&self) -> Result<Vec<Execution>, ReadError> {
        let sql = format!(
            "{} WHERE shell_id IN (SELECT shell_id FROM executions \
             INDEXED BY executions_by_session WHERE phase < 2) ORDER BY shell_id",
            row::execution::SELECT
        );
        list(&self.reader(), &sql, [], row::execution::read)
    }

    /// The execution that was accepted under this idempotency key.
    pub fn find_tool_call(
        &self,
        scope: &str,
        tool_call_id: &str,
    ) -> Result<Option<Execution>, ReadError> {
        let sql = format!("{} {BY_TOOL_CALL}", row::execution::SELECT);
        // Asked before every command that has a key, so what was deferred is
        // looked at where it is. What leaves there is in the database by then.
        let is_deferred = self.deferred().any(|change| {
            matches!(change, Change::InsertExecution(execution)
                if execution.tool_call_scope == scope && execution.tool_call_id == tool_call_id)
        });
        let reader = if is_deferred {
            self.reader()
        } else {
            self.settled_reader()
        };
        let found = list(&reader, &sql, [scope, tool_call_id], row::execution::read)?.pop();
        // Its end may wait although its beginning does not.
        match found {
            Some(execution) => {
                drop(reader);
                self.execution(execution.shell_id)
            }
            None => Ok(None),
        }
    }

    /// A session's events from `from` on, or from the oldest that is kept: at
    /// most `max`, fewer when their texts are long, but not none while there
    /// are any.
    pub fn events(
        &self,
        id: &SessionId,
        from: EventIndex,
        max: usize,
    ) -> Result<Vec<Event>, ReadError> {
        let sql = format!(
            "{} WHERE session = (SELECT row FROM sessions WHERE id = ?1) AND idx >= ?2 \
             ORDER BY idx LIMIT ?3",
            row::event::SELECT
        );
        events(
            &self.reader(),
            &sql,
            (id.as_str(), saturate(from.0), saturate(max as u64)),
        )
    }

    /// The first remarks about one execution, at most `max`. All events of its
    /// session are looked at, so this is for few executions.
    pub fn remarks(
        &self,
        id: &SessionId,
        shell: ShellId,
        max: usize,
    ) -> Result<Vec<Event>, ReadError> {
        let sql = format!(
            "{} WHERE session = (SELECT row FROM sessions WHERE id = ?1) AND shell_id = ?2 \
             AND kind = {} ORDER BY idx LIMIT ?3",
            row::event::SELECT,
            row::event::STATUS
        );
        events(
            &self.reader(),
            &sql,
            (id.as_str(), shell.0, saturate(max as u64)),
        )
    }

    /// The events of one execution that hold output, kept or dropped, from
    /// `from_position` of its whole output on. The first may begin before it.
    /// Late background output is included. Bounded as [`Store::events`] is.
    pub fn output_events(
        &self,
        shell: ShellId,
        from_position: u64,
        max: usize,
    ) -> Result<Vec<Event>, ReadError> {
        let sql = format!(
            "{} WHERE shell_id = ?1 AND kind < 2 AND position >= coalesce((SELECT max(position) \
             FROM events WHERE shell_id = ?1 AND kind < 2 AND position <= ?2), 0) \
             AND (position >= ?2 OR position + bytes > ?2) ORDER BY position, idx LIMIT ?3",
            row::event::SELECT
        );
        events(
            &self.reader(),
            &sql,
            (shell.0, saturate(from_position), saturate(max as u64)),
        )
    }

    /// Bytes of a stream, as they were recorded: fewer at its end, none
    /// without a file. What was dropped reads as zeros; the events tell.
    pub fn read_output(
        &self,
        shell: ShellId,
        stream: Stream,
        offset: u64,
        len: usize,
    ) -> Result<Vec<u8>, ReadError> {
        let failed = |source| ReadError::Io {
            path: self.output_path(shell, stream),
            source,
        };
        let Some(mut file) = self
            .files()
            .find(shell, stream, OFlags::RDONLY)
            .map_err(failed)?
        else {
            return Ok(Vec::new());
        };
        let length = file.metadata().map_err(failed)?.len();
        let there = length.saturating_sub(offset).min(len as u64);
        let mut bytes = Vec::with_capacity(usize::try_from(there).unwrap_or(len));
        file.seek(SeekFrom::Start(offset.min(length)))
            .map_err(failed)?;
        file.take(there).read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    pub(crate) fn reader(&self) -> MutexGuard<'_, Connection> {
        let waits = !self.deferred().is_empty();
        if waits && let Err(error) = self.transact(&|_| Ok(())) {
            tracing::error!(%error, "the newest changes cannot be read yet");
        }
        self.settled_reader()
    }

    /// A reader that does not see what was deferred.
    fn settled_reader(&self) -> MutexGuard<'_, Connection> {
        self.inner
            .reader
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which execution has a handle. The parameter is made an expression of, because
/// SQLite compares bare ones with the conditions of partial indexes, and then
/// compiles the statement anew for every one, which takes longer than to find it.
const BY_SHELL: &str = "WHERE shell_id = (0 + ?1)";

/// Which execution has a key.
const BY_TOOL_CALL: &str = "WHERE tool_call_scope = ('' || ?1) \
    AND tool_call_id = ('' || ?2) AND tool_call_id != ''";

/// Numbers that no row can have mean "beyond the last".
fn saturate(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// All rows of a query.
pub(crate) fn list<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, ReadError>,
) -> Result<Vec<T>, ReadError> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn events(conn: &Connection, sql: &str, params: impl Params) -> Result<Vec<Event>, ReadError> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    let mut text_bytes = 0;
    while let Some(row) = rows.next()? {
        let (event, bytes) = row::event::read(row)?;
        text_bytes += bytes;
        if text_bytes > EVENT_TEXT_BYTES_MAX && !found.is_empty() {
            break;
        }
        found.push(event);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{BY_SHELL, BY_TOOL_CALL};
    use crate::{row, schema};
    use rusqlite::{StatementStatus, params_from_iter};

    #[test]
    fn what_is_often_looked_up_is_found_at_once_and_compiled_once()
    -> Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        let conn = schema::open_writer(&dir.path().join("db"))?;
        for (which, keys, way) in [
            (BY_TOOL_CALL, 2, "INDEX executions_by_tool_call"),
            (BY_SHELL, 1, "INTEGER PRIMARY KEY"),
        ] {
            let sql = format!("{} {which}", row::execution::SELECT);
            for key in ["1", "2", "", "3"] {
                let mut statement = conn.prepare_cached(&sql)?;
                let mut rows = statement.query(params_from_iter([key, key].iter().take(keys)))?;
                assert!(rows.next()?.is_none());
                drop(rows);
                assert_eq!(statement.get_status(StatementStatus::RePrepare), 0, "{key}");
            }
            let explain = format!("EXPLAIN QUERY PLAN {sql}");
            let mut explain = conn.prepare(&explain)?;
            let keys = params_from_iter(["1", "1"].iter().take(keys));
            let plan: String = explain.query_row(keys, |row| row.get(3))?;
            assert!(plan.contains(way), "{plan}");
        }
        Ok(())
    }
}
