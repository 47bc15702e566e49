//! Forgets sessions that were disposed of long ago.
//!
//! Invariant: the session's own row goes last, so that a crash in between
//! leaves something that the next call finds again.

use glass_model::{SessionId, ShellId, Stream};
use rusqlite::params;

use super::Retained;
use crate::Store;
use crate::error::{ReadError, WriteError};
use crate::read;
use crate::row::natural;

/// Milliseconds in a day.
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Sessions forgotten in one call, so that it ends in time.
const SESSIONS_PER_CALL_MAX: i64 = 64;

/// Rows deleted in one transaction, so that commits of others come between.
const ROWS_PER_TRANSACTION: i64 = 512;

impl Store {
    pub(super) fn forget_old_sessions(
        &self,
        now_ms: i64,
        done: &mut Retained,
    ) -> Result<(), WriteError> {
        let days = i64::from(self.inner.limits.disposed_days_max);
        let before_ms = now_ms.saturating_sub(days.saturating_mul(DAY_MS));
        let sql = "SELECT row, id FROM sessions WHERE disposed_ms < ?1 AND NOT EXISTS \
             (SELECT 1 FROM executions WHERE session = row AND phase < 2) \
             ORDER BY disposed_ms LIMIT ?2";
        let old = read::list(
            &self.reader(),
            sql,
            [before_ms, SESSIONS_PER_CALL_MAX],
            |row| {
                let id: String = row.get(1)?;
                let id: SessionId = id
                    .parse()
                    .map_err(|_| ReadError::Corrupt { what: "an id" })?;
                Ok((row.get(0)?, id))
            },
        )?;
        for (row, id) in old {
            self.forget_session(row, &id, done)?;
            done.sessions += 1;
        }
        Ok(())
    }

    fn forget_session(
        &self,
        row: i64,
        id: &SessionId,
        done: &mut Retained,
    ) -> Result<(), WriteError> {
        loop {
            let sql = "DELETE FROM events WHERE session = ?1 AND idx < \
                 (SELECT min(idx) FROM events WHERE session = ?1) + ?2";
            let deleted = self.transact(&|txn| {
                Ok(txn
                    .conn
                    .prepare_cached(sql)?
                    .execute([row, ROWS_PER_TRANSACTION])?)
            })?;
            if deleted == 0 {
                break;
            }
        }
        let sql = "SELECT shell_id FROM executions WHERE session = ?1 ORDER BY shell_id";
        let shells = read::list(&self.reader(), sql, [row], |row| {
            Ok(ShellId(natural(row.get(0)?, "a handle")?))
        })?;
        for chunk in shells.chunks(ROWS_PER_TRANSACTION as usize) {
            done.output_bytes += self.forget_executions(row, chunk)?;
        }
        self.transact(&|txn| {
            txn.conn
                .execute("DELETE FROM session_env WHERE session = ?1", [row])?;
            txn.conn
                .execute("DELETE FROM sessions WHERE row = ?1", [row])?;
            txn.delta.forgotten.push((id.clone(), row));
            Ok(())
        })
    }

    /// Deletes executions that have no event left: files first, because
    /// nothing would find them again. Returns the bytes that they still had.
    pub(super) fn forget_executions(
        &self,
        session: i64,
        shells: &[ShellId],
    ) -> Result<u64, WriteError> {
        let Some(highest) = shells.iter().max() else {
            return Ok(0);
        };
        for &shell in shells {
            self.remove_joined(shell)?;
            for stream in [Stream::Stdout, Stream::Stderr] {
                self.files()
                    .remove(shell, stream)
                    .map_err(|source| WriteError::Io {
                        path: self.output_path(shell, stream),
                        source,
                    })?;
            }
        }
        self.transact(&|txn| {
            let mut bytes = 0;
            for shell in shells {
                let sql = "DELETE FROM executions WHERE shell_id = ?1 RETURNING kept";
                let mut delete = txn.conn.prepare_cached(sql)?;
                let mut rows = delete.query([shell.0])?;
                while let Some(row) = rows.next()? {
                    bytes += row.get::<_, i64>(0)?;
                }
            }
            // A handle is never used twice, also when its row is gone.
            txn.conn
                .prepare_cached(
                    "INSERT INTO meta (name, value) VALUES ('shell_id_max', ?1) \
                     ON CONFLICT DO UPDATE SET value = max(value, excluded.value)",
                )?
                .execute(params![highest.0])?;
            txn.delta.add_kept(session, -bytes);
            Ok(bytes.max(0).cast_unsigned())
        })
    }
}
