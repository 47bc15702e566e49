//! Moves the write-ahead log into the database, on a thread of its own, so
//! that no commit ever waits for the disk.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;

use crate::writer::Writer;

/// Bytes of log after which it is moved into the database.
const CHECKPOINT_EVERY_BYTES: u64 = 8 << 20;

/// Above this size the log is cut back to nothing. Commits wait meanwhile, but
/// there is little left to move by then.
const LOG_BYTES_MAX: u64 = 64 << 20;

/// What a change adds to the log besides its texts, roughly.
pub(crate) const CHANGE_LOG_BYTES: u64 = 2048;

#[derive(Default)]
struct State {
    log_bytes: u64,
    stop: bool,
}

#[derive(Default)]
struct Signal {
    state: Mutex<State>,
    wake: Condvar,
}

/// The thread, until it is dropped.
pub(crate) struct Checkpointer {
    signal: Arc<Signal>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    pub(crate) fn spawn(
        conn: Connection,
        log: PathBuf,
        writer: Arc<Mutex<Writer>>,
    ) -> std::io::Result<Checkpointer> {
        let signal = Arc::new(Signal::default());
        let theirs = Arc::clone(&signal);
        let thread = std::thread::Builder::new()
            .name("checkpoint".to_owned())
            .spawn(move || run(&theirs, &conn, &log, &writer))?;
        Ok(Checkpointer {
            signal,
            thread: Some(thread),
        })
    }

    /// Notes that the log grew by about so much.
    pub(crate) fn grew(&self, bytes: u64) {
        let mut state = self
            .signal
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let before = state.log_bytes;
        state.log_bytes = before.saturating_add(bytes);
        if before < CHECKPOINT_EVERY_BYTES && state.log_bytes >= CHECKPOINT_EVERY_BYTES {
            self.signal.wake.notify_one();
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.signal
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .stop = true;
        self.signal.wake.notify_one();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the checkpoint thread panicked");
        }
    }
}

fn run(signal: &Signal, conn: &Connection, log: &Path, writer: &Mutex<Writer>) {
    while wait_for_work(signal) {
        checkpoint(conn, "PASSIVE");
        let long = std::fs::metadata(log).is_ok_and(|log| log.len() > LOG_BYTES_MAX);
        if long {
            // A log that is written without pause never comes to its end by
            // itself, so the writer has to stop for the last of it.
            let _paused = writer.lock().unwrap_or_else(PoisonError::into_inner);
            checkpoint(conn, "TRUNCATE");
        }
    }
}

/// Waits until the log has grown enough; false when it is time to stop.
fn wait_for_work(signal: &Signal) -> bool {
    let mut state = signal.state.lock().unwrap_or_else(PoisonError::into_inner);
    while !state.stop && state.log_bytes < CHECKPOINT_EVERY_BYTES {
        state = signal
            .wake
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner);
    }
    state.log_bytes = 0;
    !state.stop
}

fn checkpoint(conn: &Connection, how: &str) {
    if let Err(error) = conn.query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |_| Ok(())) {
        tracing::warn!(%error, how, "the journal's log could not be moved into the database");
    }
}
