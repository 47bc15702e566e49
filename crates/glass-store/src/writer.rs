//! The one connection that writes.
//!
//! Invariant: after a failed transaction, whatever the reason, the database
//! and the ledger are as they were before it, and the next one can begin.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::audit;
use crate::change::Change;
use crate::deferred::Deferred;
use crate::error::WriteError;
use crate::ledger::{Delta, Ledger};
use crate::transaction::Transaction;

/// Time after which others may have the processor, while nobody waits for us.
const TURN: Duration = Duration::from_micros(200);

/// The writing connection, and what it knows by heart.
pub(crate) struct Writer {
    conn: Connection,
    pub(crate) ledger: Ledger,
    deferred: Arc<Mutex<Deferred>>,
}

impl Writer {
    /// Takes up the changes that the last process had put off.
    pub(crate) fn new(
        conn: Connection,
        deferred: Arc<Mutex<Deferred>>,
        left: Vec<Vec<Change>>,
    ) -> Result<Writer, WriteError> {
        let ledger = Ledger::load(&conn)?;
        let mut writer = Writer {
            conn,
            ledger,
            deferred,
        };
        for changes in left {
            // Where they cannot enter they stay where they are, and nobody reads
            // a journal without them: a command that runs would be unknown, its
            // handle would be given out again, and it could be run again.
            writer.enter(&changes)?;
        }
        writer.deferred().settled();
        Ok(writer)
    }

    fn deferred(&self) -> MutexGuard<'_, Deferred> {
        self.deferred.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` as one transaction, together with what was put off: all of
    /// it, or nothing.
    pub(crate) fn transact<T>(
        &mut self,
        work: &dyn Fn(&mut Transaction<'_>) -> Result<T, WriteError>,
    ) -> Result<T, WriteError> {
        self.transact_between(&mut || {}, work)
    }

    /// Lets what was put off enter the database, and others have the processor
    /// meanwhile: nobody waits for this.
    pub(crate) fn let_enter(&mut self) -> Result<(), WriteError> {
        let mut since = Instant::now();
        let mut give_way = || {
            if since.elapsed() >= TURN {
                std::thread::yield_now();
                since = Instant::now();
            }
        };
        self.transact_between(&mut give_way, &|_| Ok(()))
    }

    /// As `transact`, with this after each of those who were put off together.
    fn transact_between<T>(
        &mut self,
        between: &mut dyn FnMut(),
        work: &dyn Fn(&mut Transaction<'_>) -> Result<T, WriteError>,
    ) -> Result<T, WriteError> {
        let batches = self.deferred().seal();
        let done = self.attempt(|txn| {
            for batch in &batches {
                txn.apply_all(batch)?;
                between();
            }
            work(txn)
        });
        match done {
            Err(error) if !batches.is_empty() && !matches!(error, WriteError::DiskFull) => {
                // What was put off must not suffer from what came with it, nor
                // the other way round.
                for batch in &batches {
                    if let Err(error) = self.enter(batch) {
                        self.deferred().strain();
                        return Err(error);
                    }
                }
                self.deferred().settled();
                self.attempt(work)
            }
            Ok(value) => {
                self.deferred().settled();
                Ok(value)
            }
            Err(WriteError::DiskFull) => {
                self.deferred().strain();
                Err(WriteError::DiskFull)
            }
            refused => refused,
        }
    }

    /// Lets what was put off together enter the database, unless it is there.
    fn enter(&mut self, batch: &[Change]) -> Result<(), WriteError> {
        match self.attempt(|txn| txn.apply_all(batch)) {
            Err(
                error @ (WriteError::Duplicate { .. }
                | WriteError::NotOpen { .. }
                | WriteError::OutOfOrder { .. }
                | WriteError::UnknownSession { .. }),
            ) => {
                tracing::debug!(%error, "deferred changes were not needed");
                Ok(())
            }
            entered => entered,
        }
    }

    fn attempt<T>(
        &mut self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, WriteError>,
    ) -> Result<T, WriteError> {
        // A panic may have left a transaction open.
        self.roll_back();
        self.conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let mut txn = Transaction {
            conn: &self.conn,
            ledger: &self.ledger,
            delta: Delta::default(),
        };
        let done = work(&mut txn);
        let delta = txn.delta;
        let done = done.and_then(|value| {
            delta
                .audit
                .map_or(Ok(()), |tip| audit::write_tip(&self.conn, &tip))?;
            Ok(value)
        });
        let committed = done.and_then(|value| {
            self.conn.prepare_cached("COMMIT")?.execute([])?;
            Ok(value)
        });
        match committed {
            Ok(value) => {
                self.ledger.absorb(delta);
                Ok(value)
            }
            Err(error) => {
                self.roll_back();
                Err(error)
            }
        }
    }

    /// Moves the log into the database, so that it can begin anew where it
    /// stands and needs no further room.
    pub(crate) fn checkpoint(&self) {
        if let Err(error) = self
            .conn
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
        {
            tracing::warn!(%error, "the journal's log could not be moved into the database");
        }
    }

    fn roll_back(&self) {
        // SQLite has rolled back by itself after some errors, a full disk
        // among them.
        if self.conn.is_autocommit() {
            return;
        }
        let rolled_back = self
            .conn
            .prepare_cached("ROLLBACK")
            .and_then(|mut sql| sql.execute([]));
        if let Err(error) = rolled_back {
            tracing::error!(%error, "a transaction could not be rolled back");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::{Duration, Instant};

    use super::Writer;
    use crate::checkpoint::Checkpointer;
    use crate::deferred::Deferred;
    use crate::error::WriteError;
    use crate::schema;

    fn writer(conn: rusqlite::Connection, dir: &std::path::Path) -> Writer {
        let (deferred, left) = Deferred::open(dir).expect("a file");
        let deferred = Arc::new(Mutex::new(deferred));
        Writer::new(conn, deferred, left).expect("a writer")
    }

    fn fill(writer: &mut Writer, bytes: i64) -> Result<(), WriteError> {
        writer.transact(&|txn| {
            let sql = "INSERT INTO session_env (env) VALUES (zeroblob(?1))";
            txn.conn.execute(sql, [bytes])?;
            Ok(())
        })
    }

    #[test]
    fn a_full_database_is_reported_and_stays_usable() {
        let dir = tempfile::tempdir().expect("a directory");
        let conn = schema::open_writer(&dir.path().join("journal.db")).expect("a database");
        conn.pragma_update(None, "max_page_count", 200)
            .expect("a limit");
        let mut writer = writer(conn, dir.path());
        for _ in 0..3 {
            assert!(matches!(
                fill(&mut writer, 1 << 20),
                Err(WriteError::DiskFull)
            ));
            fill(&mut writer, 100).expect("there is room for little");
        }
        let count = "SELECT count(*) FROM session_env";
        let rows: i64 = writer
            .conn
            .query_row(count, [], |row| row.get(0))
            .expect("a count");
        assert_eq!(rows, 3);
    }

    #[test]
    fn the_log_is_cut_back_when_it_is_long() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("journal.db");
        let log = dir.path().join("journal.db-wal");
        let conn = schema::open_writer(&path).expect("a database");
        let mut writer = writer(conn, dir.path());
        for _ in 0..70 {
            fill(&mut writer, 1 << 20).expect("there is room");
        }
        let length = || std::fs::metadata(&log).expect("a log").len();
        assert!(length() > 64 << 20);
        let writer = std::sync::Arc::new(std::sync::Mutex::new(writer));
        let conn = schema::open_further(&path).expect("a connection");
        let checkpointer = Checkpointer::spawn(conn, log.clone(), writer).expect("a thread");
        checkpointer.grew(64 << 20);
        let since = Instant::now();
        while length() > 0 {
            assert!(
                since.elapsed() < Duration::from_secs(30),
                "the log stays long"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
