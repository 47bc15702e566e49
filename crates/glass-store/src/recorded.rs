//! How far the events of an execution's output reach.

use crate::error::ReadError;
use crate::store::Store;
use glass_model::ShellId;

/// Where the events of an execution end: for each stream in bytes of its file,
/// and in all with what was never recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Bytes of standard output that have an event.
    pub stdout: u64,
    /// Bytes of standard error that have an event.
    pub stderr: u64,
    /// The end of the execution's whole output.
    pub position: u64,
}

impl Store {
    /// How far the events of an execution reach. Bytes of its files beyond that
    /// were recorded and not yet named when their daemon died.
    pub fn recorded(&self, shell: ShellId) -> Result<Recorded, ReadError> {
        let conn = self.reader();
        let mut select = conn.prepare_cached(
            "SELECT max(CASE stream WHEN 0 THEN offset + bytes END), \
             max(CASE stream WHEN 1 THEN offset + bytes END), max(position + bytes) \
             FROM events WHERE shell_id = ?1 AND kind < 2",
        )?;
        let ends: [Option<i64>; 3] =
            select.query_row([shell.0], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?;
        let [stdout, stderr, position] =
            ends.map(|end| end.and_then(|end| u64::try_from(end).ok()).unwrap_or(0));
        Ok(Recorded { stdout, stderr, position })
    }
}
