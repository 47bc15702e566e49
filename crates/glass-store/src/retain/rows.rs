//! Deletes the oldest events of a session that has too many, and executions
//! that have none left.

use glass_model::{ShellId, Stream};
use rusqlite::{Connection, params};

use super::Retained;
use crate::Store;
use crate::error::{ReadError, WriteError};
use crate::read;
use crate::row::{self, natural};

/// Events deleted in one transaction, so that commits of others come between.
const EVENTS_PER_TRANSACTION: i64 = 512;

/// Executions looked at after each session's events went.
const EXECUTIONS_PER_LOOK: i64 = 512;

/// Output whose events went: the stream begins later now.
struct Gone {
    shell: ShellId,
    stream: Stream,
    bytes: u64,
    offset: u64,
    end: u64,
}

impl Store {
    pub(super) fn delete_old_events(&self, done: &mut Retained) -> Result<(), WriteError> {
        // At least one stays, because the next index is read from the last.
        let max = self.inner.limits.session_events_max.max(1);
        let max = i64::try_from(max).unwrap_or(i64::MAX);
        for session in self.sessions_to_check()? {
            let sql = "SELECT (SELECT min(idx) FROM events WHERE session = ?1), \
                 (SELECT max(idx) FROM events WHERE session = ?1)";
            let found = read::list(&self.reader(), sql, [session], |row| {
                Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?))
            })?;
            let Some(&(Some(first), Some(last))) = found.first() else {
                continue;
            };
            let first_kept = last.saturating_sub(max) + 1;
            if first_kept <= first {
                continue;
            }
            let mut from = first;
            while from < first_kept {
                let to = first_kept.min(from + EVENTS_PER_TRANSACTION);
                self.delete_events_before(session, to, done)?;
                from = to;
            }
            self.forget_empty_executions(session, first_kept, done)?;
        }
        Ok(())
    }

    fn delete_events_before(
        &self,
        session: i64,
        to: i64,
        done: &mut Retained,
    ) -> Result<(), WriteError> {
        let sql = "SELECT shell_id, stream, sum(bytes), min(offset), max(offset + bytes) \
             FROM events WHERE session = ?1 AND idx < ?2 AND kind = 0 AND shell_id IS NOT NULL \
             GROUP BY shell_id, stream";
        let (deleted, gone) = self.transact(&|txn| {
            let gone = read::list(txn.conn, sql, [session, to], |row| {
                Ok(Gone {
                    shell: ShellId(natural(row.get(0)?, "a handle")?),
                    stream: row::event::stream_of(row.get(1)?)?,
                    bytes: natural(row.get(2)?, "a length")?,
                    offset: natural(row.get(3)?, "an offset")?,
                    end: natural(row.get(4)?, "an offset")?,
                })
            })?;
            for piece in &gone {
                txn.uncount_output(piece.shell, session, piece.bytes)?;
            }
            remember_reach(txn.conn, session, to)?;
            let deleted = txn
                .conn
                .prepare_cached("DELETE FROM events WHERE session = ?1 AND idx < ?2")?
                .execute(params![session, to])?;
            Ok((deleted, gone))
        })?;
        done.events += deleted as u64;
        for piece in gone {
            done.output_bytes += piece.bytes;
            let hole = (piece.offset, piece.end - piece.offset);
            self.punch(piece.shell, piece.stream, &[hole])?;
        }
        Ok(())
    }

    /// Executions whose last event went are forgotten, from the oldest on,
    /// unless something of theirs may still write.
    fn forget_empty_executions(
        &self,
        session: i64,
        first_kept: i64,
        done: &mut Retained,
    ) -> Result<(), WriteError> {
        let sql = "SELECT shell_id, phase = 2 AND coalesce(end_idx < ?2, 1), EXISTS \
             (SELECT 1 FROM events AS o WHERE o.shell_id = e.shell_id AND o.kind < 2) \
             FROM executions AS e WHERE session = ?1 ORDER BY shell_id LIMIT ?3";
        let params = [session, first_kept, EXECUTIONS_PER_LOOK];
        let oldest: Vec<(ShellId, bool, bool)> = read::list(&self.reader(), sql, params, |row| {
            let shell = ShellId(natural(row.get(0)?, "a handle")?);
            Ok::<_, ReadError>((shell, row.get(1)?, row.get(2)?))
        })?;
        let empty: Vec<ShellId> = oldest
            .into_iter()
            .take_while(|(_, over, _)| *over)
            .filter(|(shell, _, has_output)| !has_output && !self.files().is_written(*shell))
            .map(|(shell, _, _)| shell)
            .collect();
        self.forget_executions(session, &empty)?;
        done.executions += empty.len() as u64;
        Ok(())
    }
}

/// Notes in each execution how far the events reached that are about to go, so
/// that nobody takes their bytes for ones that were never named.
fn remember_reach(conn: &Connection, session: i64, to: i64) -> rusqlite::Result<()> {
    let sql = "UPDATE executions SET stdout_forgotten = max(stdout_forgotten, stdout), \
         stderr_forgotten = max(stderr_forgotten, stderr), \
         position_forgotten = max(position_forgotten, position) \
         FROM (SELECT shell_id AS shell, \
         coalesce(max(CASE stream WHEN 0 THEN offset + bytes END), 0) AS stdout, \
         coalesce(max(CASE stream WHEN 1 THEN offset + bytes END), 0) AS stderr, \
         coalesce(max(position + bytes), 0) AS position FROM events \
         WHERE session = ?1 AND idx < ?2 AND kind < 2 AND shell_id IS NOT NULL \
         GROUP BY shell_id) WHERE shell_id = shell";
    conn.prepare_cached(sql)?.execute([session, to])?;
    Ok(())
}
