//! Keeps the journal within its limits: age, rows, bytes.
//!
//! Invariants: the output of a running execution is left alone; what goes from
//! a session's middle is counted in its place; the journal says that something
//! is gone before it goes.

mod age;
mod rows;

use std::sync::atomic::Ordering;

use glass_model::{ShellId, Stream};

use crate::Store;
use crate::error::{ReadError, WriteError};
use crate::read;
use crate::row::natural;

/// Executions that lose their output in one call, so that it ends in time. The
/// next call goes on.
const OUTPUTS_PER_CALL_MAX: usize = 512;

/// Executions looked up at once.
const OUTPUTS_PER_LOOK: usize = 512;

/// What one call of [`Store::retain`] removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retained {
    /// Sessions that were forgotten, with everything of theirs.
    pub sessions: u64,
    /// Executions that were forgotten because all of their events were.
    pub executions: u64,
    /// Events that were deleted from the beginning of a session.
    pub events: u64,
    /// Executions whose output was dropped, and is counted in its place.
    pub outputs: u64,
    /// Bytes of output that went, in one way or another.
    pub output_bytes: u64,
    /// Entries of the audit that were deleted from its beginning.
    pub audit: u64,
}

/// An ended execution that has output.
struct Kept {
    shell: ShellId,
    bytes: u64,
    disposed: bool,
}

impl Store {
    /// Enforces the limits on age, rows and bytes, the oldest first. To be
    /// called every few seconds; what is too much for one call is left to the
    /// next.
    pub fn retain(&self, now_ms: i64) -> Result<Retained, WriteError> {
        let mut done = Retained::default();
        self.forget_old_sessions(now_ms, &mut done)?;
        self.delete_old_events(&mut done)?;
        self.enforce_quotas(&mut done)?;
        done.audit = self.delete_old_audit()?;
        self.inner.gauge.check();
        self.inner.reserve.refill(&self.inner.gauge);
        Ok(done)
    }

    fn enforce_quotas(&self, done: &mut Retained) -> Result<(), WriteError> {
        let limits = &self.inner.limits;
        let above = self
            .writer()
            .ledger
            .sessions_above(limits.session_output_bytes_max);
        for (session, kept) in above {
            let excess = kept - limits.session_output_bytes_max;
            self.drop_oldest(Some(session), excess, "session_output_bytes_max", done)?;
        }
        let kept = self.writer().ledger.kept_in_all();
        let excess = kept.saturating_sub(limits.store_output_bytes_max);
        self.drop_oldest(None, excess, "store_output_bytes_max", done)
    }

    /// Drops the output of the oldest ended executions, of one session or of
    /// all, until `excess` bytes are gone.
    fn drop_oldest(
        &self,
        session: Option<i64>,
        excess: u64,
        reason: &str,
        done: &mut Retained,
    ) -> Result<(), WriteError> {
        let mut gone = 0;
        let mut after = 0;
        let mut looked_at = 0;
        while gone < excess && looked_at < OUTPUTS_PER_CALL_MAX {
            let oldest = self.kept_outputs(session, after)?;
            if oldest.is_empty() {
                return Ok(());
            }
            for kept in oldest {
                if gone >= excess {
                    break;
                }
                gone += self.drop_output(&kept, reason)?;
                after = kept.shell.0;
                looked_at += 1;
                done.outputs += 1;
            }
        }
        done.output_bytes += gone;
        Ok(())
    }

    fn kept_outputs(&self, session: Option<i64>, after: u32) -> Result<Vec<Kept>, ReadError> {
        let sql = match session {
            Some(_) => {
                "SELECT shell_id, kept, session FROM executions \
                 INDEXED BY executions_by_session WHERE session = ?1 AND shell_id > ?2 \
                 AND phase = 2 AND kept > 0 ORDER BY shell_id LIMIT ?3"
            }
            None => {
                "SELECT shell_id, kept, session FROM executions \
                 INDEXED BY executions_by_session WHERE ?1 IS NULL AND shell_id > ?2 \
                 AND phase = 2 AND kept > 0 ORDER BY shell_id LIMIT ?3"
            }
        };
        let sql = format!(
            "SELECT shell_id, kept, disposed_ms IS NOT NULL FROM ({sql}) \
             JOIN sessions ON row = session ORDER BY shell_id"
        );
        read::list(
            &self.reader(),
            &sql,
            (session, after, OUTPUTS_PER_LOOK as i64),
            |row| {
                Ok(Kept {
                    shell: ShellId(natural(row.get(0)?, "a handle")?),
                    bytes: natural(row.get(1)?, "a length")?,
                    disposed: row.get(2)?,
                })
            },
        )
    }

    /// Drops all output of an execution. Its files go with a disposed session;
    /// else they become holes, because something in the background may still
    /// write to them.
    fn drop_output(&self, kept: &Kept, reason: &str) -> Result<u64, WriteError> {
        let shell = kept.shell;
        let mut dropped = 0;
        self.remove_joined(shell)?;
        for stream in [Stream::Stdout, Stream::Stderr] {
            let pieces = self.pieces(shell, stream)?;
            dropped += self.drop_pieces(shell, &pieces, reason)?;
            let gone = if kept.disposed && !self.files().is_written(shell) {
                self.files().remove(shell, stream)
            } else {
                self.files()
                    .punch(shell, stream, &crate::trim::holes(&pieces))
            };
            gone.map_err(|source| WriteError::Io {
                path: self.output_path(shell, stream),
                source,
            })?;
        }
        if dropped < kept.bytes {
            tracing::debug!(%shell, dropped, counted = kept.bytes, "less output than counted");
        }
        Ok(dropped)
    }

    /// Removes what readers have made of an execution's output.
    fn remove_joined(&self, shell: ShellId) -> Result<(), WriteError> {
        self.files()
            .remove_joined(shell)
            .map_err(|source| WriteError::Io {
                path: self.output_path(shell, Stream::Stdout),
                source,
            })
    }

    /// The sessions to look at: those that changed, or all of them once.
    fn sessions_to_check(&self) -> Result<Vec<i64>, ReadError> {
        let touched = self.writer().ledger.take_touched();
        if self.inner.swept.swap(true, Ordering::Relaxed) {
            return Ok(touched);
        }
        read::list(&self.reader(), "SELECT row FROM sessions", [], |row| {
            Ok(row.get(0)?)
        })
    }
}
