//! The open data directory.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use glass_model::{EventBody, Limits, ShellId, Stream};
use rusqlite::Connection;
use rustix::fs::{Mode, OFlags};

use crate::change::Change;
use crate::checkpoint::{CHANGE_LOG_BYTES, Checkpointer};
use crate::deferred::{Deferred, Pushed};
use crate::disk::{Gauge, Reserve};
use crate::error::{OpenError, WriteError};
use crate::files::OutputFiles;
use crate::flusher::Flusher;
use crate::output::OutputWriter;
use crate::transaction::Transaction;
use crate::writer::Writer;
use crate::{lock, schema};

/// An open data directory. Clones are the same one.
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
}

/// Fields are dropped in this order: the thread and the connections first, the
/// lock last, so that the next owner finds everything closed.
pub(crate) struct Inner {
    flusher: Flusher,
    checkpointer: Checkpointer,
    deferred: Arc<Mutex<Deferred>>,
    pub(crate) reader: Mutex<Connection>,
    writer: Arc<Mutex<Writer>>,
    files: Arc<OutputFiles>,
    pub(crate) gauge: Arc<Gauge>,
    pub(crate) reserve: Reserve,
    pub(crate) limits: Limits,
    /// The database.
    pub(crate) path: PathBuf,
    /// Whether `retain` has looked at every session since the start.
    pub(crate) swept: AtomicBool,
    shell_id: AtomicU32,
    _lock: File,
}

impl Store {
    /// Opens a data directory for this process alone, and makes it, private to
    /// the user, where there is none.
    pub fn open(dir: &Path, limits: &Limits) -> Result<Store, OpenError> {
        lock::make_dir(dir)?;
        let held = lock::take(dir)?;
        let failed = |source| lock::refused("opening", dir, dir, source);
        let files = Arc::new(OutputFiles::open(dir).map_err(failed)?);
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir_fd =
            rustix::fs::open(dir, flags, Mode::empty()).map_err(|errno| failed(errno.into()))?;
        let gauge = Arc::new(Gauge::new(dir_fd, limits.disk_free_bytes_min));
        let reserve = Reserve::new(dir.join("reserve"));
        reserve.refill(&gauge);

        let path = dir.join("journal.db");
        let (writer, deferred) = match open_writer(dir, &path) {
            // Opening writes a little, which a full disk refuses.
            Err(OpenError::Database(_) | OpenError::Unfinished(_) | OpenError::Io { .. })
                if reserve.release() =>
            {
                open_writer(dir, &path)?
            }
            opened => opened?,
        };
        let writer = Arc::new(Mutex::new(writer));
        let reader = schema::open_further(&path)?;
        let shell_id = last_shell_id(&reader).map_err(OpenError::Database)?;
        let reader = Mutex::new(reader);
        let log = dir.join("journal.db-wal");
        let checkpointer =
            Checkpointer::spawn(schema::open_further(&path)?, log, Arc::clone(&writer))
                .map_err(failed)?;
        let flusher = Flusher::spawn(Arc::clone(&writer)).map_err(failed)?;
        Ok(Store {
            inner: Arc::new(Inner {
                flusher,
                checkpointer,
                deferred,
                reader,
                writer,
                files,
                gauge,
                reserve,
                limits: limits.clone(),
                path,
                swept: AtomicBool::new(false),
                shell_id: AtomicU32::new(shell_id),
                _lock: held,
            }),
        })
    }

    /// Writes all of these, in this order, or none of them.
    pub fn commit(&self, changes: &[Change]) -> Result<(), WriteError> {
        self.transact(&|txn| txn.apply_all(changes))?;
        self.note_growth(changes);
        Ok(())
    }

    /// The same at a fraction of the price, for what happens with every
    /// command: it survives us at once, and enters the database with the next
    /// commit, before the next read, or a moment later. Whether its numbers are
    /// right is found out only then. What cannot wait is committed; so is
    /// everything where the disk is almost full, so that a command does not begin
    /// whose end could not be recorded.
    pub fn defer(&self, changes: &[Change]) -> Result<(), WriteError> {
        if self.inner.gauge.is_scarce() {
            return self.commit(changes);
        }
        let pushed = self.deferred().push(changes);
        match pushed {
            Ok(Pushed::Refused) => return self.commit(changes),
            Ok(Pushed::Joined) => {}
            Ok(Pushed::First) => self.inner.flusher.wait_for_more(),
            Ok(Pushed::Many) => self.inner.flusher.hurry(),
            Err(error) => {
                tracing::warn!(%error, "changes could not be put off");
                return self.commit(changes);
            }
        }
        self.note_growth(changes);
        Ok(())
    }

    fn note_growth(&self, changes: &[Change]) {
        self.inner
            .checkpointer
            .grew(changes.iter().map(log_bytes).sum());
    }

    pub(crate) fn deferred(&self) -> MutexGuard<'_, Deferred> {
        self.inner
            .deferred
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A handle that was never used in this directory.
    pub fn next_shell_id(&self) -> ShellId {
        // At the very end it stays where it is, and inserting is refused as a
        // duplicate: better than naming an old execution.
        let next = |id: u32| Some(id.saturating_add(1));
        let last = self
            .inner
            .shell_id
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next)
            .unwrap_or(u32::MAX);
        ShellId(last.saturating_add(1))
    }

    /// A recorder for one stream of an execution. Makes no file until there is
    /// a byte; goes on at the end of one that is there.
    pub fn output_writer(&self, shell: ShellId, stream: Stream) -> OutputWriter {
        let (files, gauge) = (Arc::clone(&self.inner.files), Arc::clone(&self.inner.gauge));
        OutputWriter::new(files, gauge, shell, stream)
    }

    /// Where a stream is recorded, whether or not there is a file yet.
    pub fn output_path(&self, shell: ShellId, stream: Stream) -> PathBuf {
        self.inner.files.path(shell, stream)
    }

    /// Whether less room is left on the disk than must be. Cheap enough to be
    /// asked before every read.
    pub fn disk_low(&self) -> bool {
        self.inner.gauge.is_low()
    }

    pub(crate) fn files(&self) -> &OutputFiles {
        &self.inner.files
    }

    /// Runs one transaction. Where the disk is full, what was held back is
    /// given up for it.
    pub(crate) fn transact<T>(
        &self,
        work: &dyn Fn(&mut Transaction<'_>) -> Result<T, WriteError>,
    ) -> Result<T, WriteError> {
        let mut writer = self.writer();
        match writer.transact(work) {
            Err(WriteError::DiskFull) => {}
            done => return done,
        }
        self.inner.reserve.release();
        writer.checkpoint();
        writer.transact(work)
    }

    pub(crate) fn writer(&self) -> MutexGuard<'_, Writer> {
        self.inner
            .writer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens the database for writing, with what the last process put off.
fn open_writer(dir: &Path, path: &Path) -> Result<(Writer, Arc<Mutex<Deferred>>), OpenError> {
    let conn = schema::open_writer(path)?;
    let (deferred, left) =
        Deferred::open(dir).map_err(|source| lock::refused("opening", dir, dir, source))?;
    let deferred = Arc::new(Mutex::new(deferred));
    let writer = Writer::new(conn, Arc::clone(&deferred), left).map_err(OpenError::Unfinished)?;
    Ok((writer, deferred))
}

/// The highest handle that was ever used; rows that are gone count too.
fn last_shell_id(conn: &Connection) -> rusqlite::Result<u32> {
    let sql = "SELECT max(coalesce((SELECT max(shell_id) FROM executions), 0), \
         coalesce((SELECT value FROM meta WHERE name = 'shell_id_max'), 0))";
    conn.query_row(sql, [], |row| row.get(0))
}

/// About what a change adds to the log; only its texts can be large.
fn log_bytes(change: &Change) -> u64 {
    let texts = match change {
        Change::UpdateSession { env: Some(env), .. } => env.iter().map(Vec::len).sum(),
        Change::InsertSession(session) => session.env.iter().map(Vec::len).sum(),
        Change::InsertExecution(execution) => execution.command.len(),
        Change::Audit(entry) => entry.command.len(),
        Change::Event { event, .. } => match &event.body {
            EventBody::CommandStart { command, .. } | EventBody::Exit { command, .. } => {
                command.len()
            }
            _ => 0,
        },
        _ => 0,
    };
    CHANGE_LOG_BYTES + texts as u64
}
