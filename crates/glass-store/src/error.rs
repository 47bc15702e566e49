//! What can go wrong, one enum for each kind of operation.

use std::io;
use std::path::PathBuf;

use glass_model::{EventIndex, SessionId, ShellId};

/// Why a data directory could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it open.
    #[error("{} is in use by another process{}", dir.display(), pid_suffix(*pid))]
    Locked {
        /// The directory.
        dir: PathBuf,
        /// The process that holds it, where that could be read.
        pid: Option<u32>,
    },
    /// It cannot be written.
    #[error("{} cannot be written", dir.display())]
    ReadOnly {
        /// The directory.
        dir: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is something else at this path.
    #[error("{} is not a directory", path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// A newer Shellglass wrote it, and we would misread it.
    #[error("the journal has format {found}, and this program knows none above {known}")]
    NewerSchema {
        /// The format on the disk.
        found: i64,
        /// The newest that we know.
        known: i64,
    },
    /// The database is not one, or is damaged.
    #[error("the journal {} is damaged", path.display())]
    Corrupt {
        /// The database's path.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// SQLite failed for another reason.
    #[error("the journal could not be opened")]
    Database(#[source] rusqlite::Error),
    /// What the last process had begun to write could not be finished. It is
    /// still there.
    #[error("the journal's last changes could not be finished")]
    Unfinished(#[source] WriteError),
    /// The system failed.
    #[error("{action} {} failed", path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn pid_suffix(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default()
}

/// Why nothing was written. The journal is as it was before the call.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// No space is left, not even in the reserve.
    #[error("no space is left on the journal's disk")]
    DiskFull,
    /// The idempotency key, or the handle itself, is taken.
    #[error("this call is already recorded as execution {shell_id}")]
    Duplicate {
        /// By this execution.
        shell_id: ShellId,
    },
    /// The session is not in the journal.
    #[error("session {session} is not in the journal")]
    UnknownSession {
        /// The session.
        session: SessionId,
    },
    /// The execution is not in the journal, or it is over: it ends only once.
    #[error("execution {shell_id} is not open in the journal")]
    NotOpen {
        /// The execution.
        shell_id: ShellId,
    },
    /// The event would leave a gap, or is there already.
    #[error("event {} of {session} was given where {} comes next", given.0, expected.0)]
    OutOfOrder {
        /// The session.
        session: SessionId,
        /// The index that comes next.
        expected: EventIndex,
        /// The index that was given.
        given: EventIndex,
    },
    /// A number is larger than the format holds.
    #[error("{what} is larger than the journal can hold")]
    TooLarge {
        /// Which.
        what: &'static str,
    },
    /// SQLite failed for another reason.
    #[error("the journal could not be written")]
    Database(#[source] rusqlite::Error),
    /// Reading what is to be changed failed.
    #[error("the journal could not be read")]
    Read(#[from] ReadError),
    /// An output file could not be changed.
    #[error("{} could not be changed", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl From<rusqlite::Error> for WriteError {
    fn from(error: rusqlite::Error) -> WriteError {
        // Growing the index of the write-ahead log reports a full disk under a
        // name of its own.
        let no_room_for_index = error
            .sqlite_error()
            .is_some_and(|cause| cause.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE);
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => WriteError::DiskFull,
            _ if no_room_for_index => WriteError::DiskFull,
            _ => WriteError::Database(error),
        }
    }
}

/// Why something could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// SQLite failed.
    #[error("the journal could not be read")]
    Database(#[from] rusqlite::Error),
    /// A record does not decode.
    #[error("the journal holds {what} that cannot be read")]
    Corrupt {
        /// What kind of record.
        what: &'static str,
    },
    /// An output file could not be read.
    #[error("{} could not be read", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Why bytes could not be moved. None of them was consumed: what was in the
/// pipe is still there.
#[derive(Debug, thiserror::Error)]
pub enum SpliceError {
    /// No space is left for output.
    #[error("no space is left for output")]
    DiskFull,
    /// The system failed.
    #[error("output could not be recorded")]
    Io(#[from] io::Error),
}
