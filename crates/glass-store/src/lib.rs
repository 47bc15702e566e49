//! Remembers. (Interface first; bodies follow.)
#![forbid(unsafe_code)]
#![allow(unused, clippy::unimplemented, missing_docs)]

mod change;
mod error;

use glass_model::*;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use change::Change;
pub use error::{OpenError, ReadError, SpliceError, WriteError};

/// An open data directory. Cheap to clone; `Send + Sync`.
#[derive(Clone)]
pub struct Store {
    inner: Arc<()>,
}

/// The events that a session has: `first <= index < next`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub first: EventIndex,
    pub next: EventIndex,
}

/// What `retain` removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retained {
    pub sessions: u64,
    pub executions: u64,
    pub events: u64,
    pub output_bytes: u64,
}

/// What one call moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    Bytes(u64),
    WouldBlock,
    End,
}

pub struct OutputWriter {
    inner: Arc<()>,
}

impl Store {
    /// Takes an exclusive lock on the directory; makes it 0700.
    pub fn open(dir: &Path, limits: &Limits) -> Result<Store, OpenError> {
        unimplemented!()
    }
    /// One transaction, all or nothing.
    pub fn commit(&self, changes: &[Change]) -> Result<(), WriteError> {
        unimplemented!()
    }
    pub fn session(&self, id: &SessionId) -> Result<Option<Session>, ReadError> {
        unimplemented!()
    }
    pub fn sessions(&self, include_disposed: bool) -> Result<Vec<Session>, ReadError> {
        unimplemented!()
    }
    pub fn cursor(&self, id: &SessionId) -> Result<Cursor, ReadError> {
        unimplemented!()
    }
    pub fn execution(&self, shell: ShellId) -> Result<Option<Execution>, ReadError> {
        unimplemented!()
    }
    pub fn executions(&self, id: &SessionId) -> Result<Vec<Execution>, ReadError> {
        unimplemented!()
    }
    pub fn unfinished(&self) -> Result<Vec<Execution>, ReadError> {
        unimplemented!()
    }
    pub fn find_tool_call(
        &self,
        scope: &str,
        tool_call_id: &str,
    ) -> Result<Option<Execution>, ReadError> {
        unimplemented!()
    }
    pub fn next_shell_id(&self) -> ShellId {
        unimplemented!()
    }
    /// At most `max`; fewer when their texts are large, but never none while there are any.
    pub fn events(
        &self,
        id: &SessionId,
        from: EventIndex,
        max: usize,
    ) -> Result<Vec<Event>, ReadError> {
        unimplemented!()
    }
    pub fn output_events(
        &self,
        shell: ShellId,
        from_position: u64,
        max: usize,
    ) -> Result<Vec<Event>, ReadError> {
        unimplemented!()
    }
    pub fn output_writer(&self, shell: ShellId, stream: Stream) -> OutputWriter {
        unimplemented!()
    }
    pub fn output_path(&self, shell: ShellId, stream: Stream) -> PathBuf {
        unimplemented!()
    }
    pub fn read_output(
        &self,
        shell: ShellId,
        stream: Stream,
        offset: u64,
        len: usize,
    ) -> Result<Vec<u8>, ReadError> {
        unimplemented!()
    }
    pub fn trim_execution(
        &self,
        shell: ShellId,
        stream: Stream,
        keep: u64,
        reason: &str,
    ) -> Result<u64, WriteError> {
        unimplemented!()
    }
    pub fn retain(&self, now_ms: i64) -> Result<Retained, WriteError> {
        unimplemented!()
    }
    pub fn disk_low(&self) -> bool {
        unimplemented!()
    }
}

impl OutputWriter {
    pub fn splice_from(&mut self, pipe: BorrowedFd<'_>, max: usize) -> Result<Moved, SpliceError> {
        unimplemented!()
    }
    pub fn discard_from(pipe: BorrowedFd<'_>, max: usize) -> Result<Moved, io::Error> {
        unimplemented!()
    }
    pub fn len(&self) -> u64 {
        unimplemented!()
    }
    pub fn is_empty(&self) -> bool {
        unimplemented!()
    }
}
