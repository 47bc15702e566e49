//! Appending: the next number, the next hash.

use glass_model::{AuditEntry, AuditHash};
use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use crate::error::WriteError;
use crate::row::audit::{hash_of, kind_columns};
use crate::row::{column, natural};
use crate::transaction::{Transaction, is_taken};

/// What every hash begins with, so that it is none of another kind, and so that
/// a second way to compute it can be told from the first.
const DOMAIN: &[u8] = b"shellglass-audit-1\n";

/// No chain is as long as this. Whoever notes such an end is found out, and must
/// not make us run out of numbers.
const NUMBER_MAX: u64 = 1 << 62;

/// The end of the chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tip {
    /// The number of the last entry, or 0.
    pub number: u64,
    /// Its hash, or zeros.
    pub hash: AuditHash,
}

/// The columns of a row that its hash is made of.
pub(super) struct Hashed<'a> {
    pub number: i64,
    pub prev_hash: &'a [u8],
    pub at_ms: i64,
    pub shell_id: i64,
    pub kind: i64,
    /// Session, task, who asked, payload, command, detail.
    pub texts: [&'a [u8]; 6],
}

impl Hashed<'_> {
    /// Numbers have eight bytes, the highest first, and every text comes after
    /// its length, so that no two rows are hashed alike.
    pub(super) fn hash(&self) -> AuditHash {
        let mut hash = Sha256::new();
        hash.update(DOMAIN);
        hash.update(self.number.to_be_bytes());
        hash.update((self.prev_hash.len() as u64).to_be_bytes());
        hash.update(self.prev_hash);
        for number in [self.at_ms, self.shell_id, self.kind] {
            hash.update(number.to_be_bytes());
        }
        for text in self.texts {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        }
        AuditHash(hash.finalize().into())
    }
}

/// The end of the chain as its own row notes it.
///
/// Where somebody has changed the rows, the next entry still gets a number that
/// is free, and a hash that follows from what is noted here: the break stays
/// where it is and shows.
pub(crate) fn load(conn: &Connection) -> rusqlite::Result<Tip> {
    let noted: Option<(i64, Vec<u8>)> = conn
        .query_row("SELECT last, last_hash FROM audit_chain", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let (last, hash) = noted.unwrap_or_default();
    let number = u64::try_from(last).unwrap_or(0);
    Ok(Tip {
        number: if number < NUMBER_MAX { number } else { 0 },
        hash: hash_of(&hash).unwrap_or_default(),
    })
}

/// Writes an entry as the chain's next.
pub(crate) fn append(txn: &mut Transaction<'_>, entry: &AuditEntry) -> Result<(), WriteError> {
    let tip = txn.delta.audit.unwrap_or(txn.ledger.audit);
    let tip = match insert(txn.conn, tip.number + 1, tip.hash, entry) {
        // Somebody else has put a row there. Nothing is written over, and nobody
        // is kept from working by it.
        Err(WriteError::Database(error)) if is_taken(&error) => {
            let number = free_number(txn.conn, tip.number + 1)?;
            insert(txn.conn, number, tip.hash, entry)?
        }
        inserted => inserted?,
    };
    txn.delta.audit = Some(tip);
    Ok(())
}

/// The first number without a row after one that has one.
fn free_number(conn: &Connection, taken: u64) -> Result<u64, WriteError> {
    let sql = "SELECT number + 1 FROM audit AS a WHERE number >= ?1 AND NOT EXISTS \
         (SELECT 1 FROM audit AS b WHERE b.number = a.number + 1) ORDER BY number LIMIT 1";
    let taken = column(taken, "a number of the audit")?;
    let free: i64 = conn.query_row(sql, [taken], |row| row.get(0))?;
    Ok(natural(free, "a number of the audit")?)
}

fn insert(
    conn: &Connection,
    number: u64,
    prev: AuditHash,
    entry: &AuditEntry,
) -> Result<Tip, WriteError> {
    let (kind, payload) = kind_columns(&entry.what);
    let hashed = Hashed {
        number: column(number, "a number of the audit")?,
        prev_hash: &prev.0,
        at_ms: entry.at_ms,
        shell_id: entry.shell_id.into(),
        kind: column(kind, "a kind")?,
        texts: [
            entry.session.as_bytes(),
            entry.task.as_bytes(),
            entry.asked_by.as_bytes(),
            &payload,
            entry.command.as_bytes(),
            entry.detail.as_bytes(),
        ],
    };
    let hash = hashed.hash();
    let sql = "INSERT INTO audit (number, prev_hash, hash, at_ms, session, shell_id, task, \
         asked_by, kind, payload, command, detail) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    conn.prepare_cached(sql)?.execute(params![
        hashed.number,
        prev.0,
        hash.0,
        entry.at_ms,
        entry.session,
        entry.shell_id,
        entry.task,
        entry.asked_by,
        hashed.kind,
        payload,
        entry.command,
        entry.detail,
    ])?;
    Ok(Tip { number, hash })
}

/// Notes where the chain ends: once for each transaction, however many entries
/// it has.
pub(crate) fn write_tip(conn: &Connection, tip: &Tip) -> Result<(), WriteError> {
    conn.prepare_cached("UPDATE audit_chain SET last = ?1, last_hash = ?2 WHERE row = 1")?
        .execute(params![
            column(tip.number, "a number of the audit")?,
            tip.hash.0
        ])?;
    Ok(())
}
