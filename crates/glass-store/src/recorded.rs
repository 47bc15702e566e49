//! How far the events of an execution's output reach.

use glass_model::ShellId;

use crate::Store;
use crate::error::ReadError;
use crate::row::natural;

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
             FROM events WHERE shell_id = ?1 AND kind < 2 \
             UNION ALL SELECT stdout_forgotten, stderr_forgotten, position_forgotten \
             FROM executions WHERE shell_id = ?1",
        )?;
        let mut rows = select.query([shell.0])?;
        let mut ends = [0; 3];
        while let Some(row) = rows.next()? {
            for (column, end) in ends.iter_mut().enumerate() {
                let reached: Option<i64> = row.get(column)?;
                *end = natural::<u64>(reached.unwrap_or(0), "an offset")?.max(*end);
            }
        }
        let [stdout, stderr, position] = ends;
        Ok(Recorded {
            stdout,
            stderr,
            position,
        })
    }
}
