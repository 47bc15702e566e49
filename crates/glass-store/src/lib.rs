//! Remembers: sessions, executions and events in a database, output in files.
//!
//! A data directory holds `journal.db` (SQLite, write-ahead log), `output/`
//! (two files for each execution, the exact bytes of its streams) and `lock`.
//! An event of output names bytes of such a file and holds none itself.
//!
//! Invariants:
//! - A commit is there wholly or not at all, and survives the death of this
//!   process. (Not the loss of power: the last commits may then be missing,
//!   but nothing is torn.)
//! - Output goes to its file first; no committed event names a byte that is
//!   not in the file. How long a file is says how much was recorded.
//! - The events of a session have no gaps. What a limit removed from the
//!   middle is an event of its own, with its count.
//! - One process has the directory; others are told which.
//!
//! Absent: nothing here decides what is recorded, and nothing here starts a
//! process, reads a clock for an event, or knows a wire format.
#![forbid(unsafe_code)]

mod audit;
mod change;
mod checkpoint;
mod codec;
mod deferred;
mod disk;
mod error;
mod files;
mod flusher;
mod ledger;
mod lock;
mod output;
mod read;
mod recorded;
mod retain;
mod row;
mod schema;
mod store;
mod transaction;
mod trim;
mod writer;

pub use audit::{AuditFilter, AuditPage};
pub use change::Change;
pub use error::{OpenError, ReadError, SpliceError, WriteError};
pub use output::{Moved, OutputWriter};
pub use read::Cursor;
pub use recorded::Recorded;
pub use retain::Retained;
pub use store::Store;
