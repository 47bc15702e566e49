//! Removes the oldest entries when there are too many. What is left remembers
//! what it followed from, so that it can still be verified.

use rusqlite::OptionalExtension;

use crate::Store;
use crate::error::WriteError;

/// Entries deleted in one transaction, so that commits of others come between.
const ROWS_PER_TRANSACTION: i64 = 512;

/// Transactions of one call, so that it ends in time. The next call goes on.
const TRANSACTIONS_PER_CALL_MAX: u32 = 64;

impl Store {
    /// Returns how many went.
    pub(crate) fn delete_old_audit(&self) -> Result<u64, WriteError> {
        // One stays: an empty chain would have no end.
        let max = self.inner.limits.audit_rows_max.max(1);
        let max = i64::try_from(max).unwrap_or(i64::MAX);
        let mut deleted = 0;
        for _ in 0..TRANSACTIONS_PER_CALL_MAX {
            let Some((first, last)) = self.kept_audit()? else {
                break;
            };
            let keep_from = last.saturating_sub(max).saturating_add(1);
            if keep_from <= first {
                break;
            }
            let keep_from = keep_from.min(first.saturating_add(ROWS_PER_TRANSACTION));
            deleted += self.delete_audit_before(keep_from)?;
        }
        Ok(deleted)
    }

    fn kept_audit(&self) -> rusqlite::Result<Option<(i64, i64)>> {
        self.reader()
            .query_row("SELECT first, last FROM audit_chain", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()
    }

    /// The beginning that is noted is the number below which all went, even
    /// where that one is missing, so that what somebody removed still shows.
    fn delete_audit_before(&self, keep_from: i64) -> Result<u64, WriteError> {
        self.transact(&|txn| {
            let sql = "SELECT hash FROM audit WHERE number = ?1 - 1";
            let prev: Option<Vec<u8>> = txn
                .conn
                .prepare_cached(sql)?
                .query_row([keep_from], |row| row.get(0))
                .optional()?;
            let sql = "UPDATE audit_chain SET first = ?1, \
                 first_prev_hash = coalesce(?2, first_prev_hash)";
            txn.conn.prepare_cached(sql)?.execute((keep_from, prev))?;
            let sql = "DELETE FROM audit WHERE number < ?1";
            Ok(txn.conn.prepare_cached(sql)?.execute([keep_from])? as u64)
        })
    }
}
