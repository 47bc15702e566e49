//! Reading entries, a page at a time.

use glass_model::AuditRecord;
use rusqlite::Connection;

use crate::Store;
use crate::error::ReadError;
use crate::row::audit::{COLUMNS, read};
use crate::row::natural;
use crate::schema;

/// Rows looked at for one page, whether or not they are wanted.
const ROWS_PER_LOOK: i64 = 4096;

/// Texts of one page, in bytes. One larger entry comes alone.
const PAGE_TEXT_BYTES_MAX: usize = 4 << 20;

/// Which entries are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Those from this time on, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// Those of this session.
    pub session: Option<String>,
}

/// Some entries, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditPage {
    /// The entries; there may be none although there are further pages.
    pub records: Vec<AuditRecord>,
    /// The number that the next page begins with; none at the end.
    pub next: Option<u64>,
}

impl Store {
    /// A page of the wanted entries whose number is `from` or higher.
    pub fn audit(&self, from: u64, filter: &AuditFilter) -> Result<AuditPage, ReadError> {
        let conn = self.reader();
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        let sql = "SELECT max(number) FROM \
             (SELECT number FROM audit WHERE number >= ?1 ORDER BY number LIMIT ?2)";
        let last: Option<i64> = conn
            .prepare_cached(sql)?
            .query_row([from, ROWS_PER_LOOK], |row| row.get(0))?;
        let Some(last) = last else {
            return Ok(AuditPage::default());
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM audit WHERE number BETWEEN ?1 AND ?2 \
             AND at_ms >= ?3 AND (?4 IS NULL OR session = ?4) ORDER BY number"
        );
        let mut statement = conn.prepare_cached(&sql)?;
        let since = filter.since_ms.unwrap_or(i64::MIN);
        let mut rows = statement.query((from, last, since, &filter.session))?;
        let mut records = Vec::new();
        let mut text_bytes = 0;
        while let Some(row) = rows.next()? {
            let (record, bytes) = read(row)?;
            text_bytes += bytes;
            if text_bytes > PAGE_TEXT_BYTES_MAX && !records.is_empty() {
                return Ok(AuditPage {
                    records,
                    next: Some(record.number),
                });
            }
            records.push(record);
        }
        let last: u64 = natural(last, "a number of the audit")?;
        Ok(AuditPage {
            records,
            next: last.checked_add(1),
        })
    }

    /// Where to begin to read the newest `max` of the wanted entries.
    pub fn audit_newest(&self, max: u64, filter: &AuditFilter) -> Result<u64, ReadError> {
        let conn = self.audit_reader()?;
        let sql = "SELECT min(number) FROM (SELECT number FROM audit WHERE at_ms >= ?1 \
             AND (?2 IS NULL OR session = ?2) ORDER BY number DESC LIMIT ?3)";
        let since = filter.since_ms.unwrap_or(i64::MIN);
        let max = i64::try_from(max).unwrap_or(i64::MAX);
        let first: Option<i64> =
            conn.query_row(sql, (since, &filter.session, max), |row| row.get(0))?;
        first.map_or(Ok(u64::MAX), |number| {
            natural(number, "a number of the audit")
        })
    }

    /// A connection for what may take long, so that nobody waits for it. It
    /// sees everything that was written before.
    pub(super) fn audit_reader(&self) -> Result<Connection, ReadError> {
        drop(self.reader());
        schema::open_reader(&self.inner.path)
    }
}
