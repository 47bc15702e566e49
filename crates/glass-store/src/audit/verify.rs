//! Looks at the whole chain.
//!
//! Invariant: what is looked at is the database as it was at one moment,
//! whatever is written meanwhile.

use glass_model::{AuditBreak, AuditCheck, AuditHash};
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row};

use super::chain::Hashed;
use crate::Store;
use crate::error::ReadError;
use crate::row::audit::{COLUMNS, hash_of, kind_of};

/// What the chain's own row says.
struct Ends {
    first: i64,
    before_first: AuditHash,
    last: i64,
    last_hash: AuditHash,
}

/// A number, and what is wrong with its entry.
type Wrong = (i64, String);

impl Store {
    /// Computes every hash anew and says where the chain does not hold, if it
    /// does not. The entry of a number that somebody noted must have the hash
    /// that was noted with it: then everything up to there is as it was then,
    /// whoever may have written to the database since. Reads everything: for a
    /// thread that may be blocked.
    pub fn verify_audit(&self, noted: Option<(u64, AuditHash)>) -> Result<AuditCheck, ReadError> {
        let mut conn = self.audit_reader()?;
        let txn = conn.transaction()?;
        let mut found = AuditCheck {
            entries: 0,
            first: 1,
            last: 0,
            head: AuditHash::default(),
            broken: None,
        };
        if let Err((number, why)) = check(&txn, noted, &mut found)? {
            found.broken = Some(AuditBreak {
                number: number.max(0).cast_unsigned(),
                why,
            });
        }
        Ok(found)
    }
}

/// Follows the chain from its beginning, to its end or to where it breaks.
fn check(
    conn: &Connection,
    noted: Option<(u64, AuditHash)>,
    found: &mut AuditCheck,
) -> Result<Result<(), Wrong>, ReadError> {
    let Some(ends) = ends(conn)? else {
        let why = "the note of where the chain begins and ends is gone";
        return Ok(Err((1, why.to_owned())));
    };
    found.first = ends.first.max(0).cast_unsigned();
    found.last = found.first.saturating_sub(1);
    found.head = ends.before_first;
    if let Err(wrong) = matches_note(noted, found) {
        return Ok(Err(wrong));
    }
    let sql = format!("SELECT {COLUMNS} FROM audit ORDER BY number");
    let mut statement = conn.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut number = ends.first;
    while let Some(row) = rows.next()? {
        let followed = follow(row, number, &ends, found).and_then(|()| matches_note(noted, found));
        if let Err(wrong) = followed {
            return Ok(Err(wrong));
        }
        number = number.saturating_add(1);
    }
    Ok(is_whole(number, &ends, noted, found))
}

/// Whether the last row that was there is the last that was written.
fn is_whole(
    next: i64,
    ends: &Ends,
    noted: Option<(u64, AuditHash)>,
    found: &AuditCheck,
) -> Result<(), Wrong> {
    let missing = |to| (next, format!("it is missing, with all others up to {to}"));
    if next <= ends.last {
        return Err(missing(ends.last));
    }
    if found.head != ends.last_hash || next != ends.last.saturating_add(1) {
        let why = "it is not the one that was noted as the last";
        return Err((next.saturating_sub(1), why.to_owned()));
    }
    match noted {
        Some((number, _)) if number > found.last => {
            Err(missing(i64::try_from(number).unwrap_or(i64::MAX)))
        }
        _ => Ok(()),
    }
}

/// Whether the last entry that was looked at is as somebody noted it.
fn matches_note(noted: Option<(u64, AuditHash)>, found: &AuditCheck) -> Result<(), Wrong> {
    let Some((number, hash)) = noted else {
        return Ok(());
    };
    let wrong = |why: &str| Err((i64::try_from(number).unwrap_or(i64::MAX), why.to_owned()));
    if found.entries == 0 && number < found.last {
        return wrong("it is older than all that are kept, so that nothing can be said of it");
    }
    if number == found.last && hash != found.head {
        return wrong("its hash is not the one that you noted: the chain was written anew");
    }
    Ok(())
}

/// Nothing where there is no such row, or one that we have not written.
fn ends(conn: &Connection) -> Result<Option<Ends>, ReadError> {
    let sql = "SELECT first, first_prev_hash, last, last_hash FROM audit_chain WHERE row = 1";
    let ends = conn
        .query_row(sql, [], |row| {
            let hash = |column| row.get_ref(column).ok().and_then(blob).and_then(hash_of);
            let (Some(before_first), Some(last_hash)) = (hash(1), hash(3)) else {
                return Ok(None);
            };
            Ok(Some(Ends {
                first: row.get(0)?,
                before_first,
                last: row.get(2)?,
                last_hash,
            }))
        })
        .optional()?;
    // Below 1 there is no number, so that ours are the same signed and unsigned.
    Ok(ends.flatten().filter(|ends| ends.first >= 1))
}

/// Checks the row that should be `number`.
fn follow(row: &Row<'_>, number: i64, ends: &Ends, found: &mut AuditCheck) -> Result<(), Wrong> {
    let there = integer(row, 0).map_err(|why| (number, why))?;
    if there < number {
        return Err((there, "it is before the beginning of the chain".to_owned()));
    }
    if number > ends.last {
        return Err((there, "it is beyond the end of the chain".to_owned()));
    }
    if there != number {
        return Err((number, "it is missing".to_owned()));
    }
    let hash = recompute(row, number, found.head).map_err(|why| (number, why))?;
    found.entries += 1;
    found.last = number.max(0).cast_unsigned();
    found.head = hash;
    Ok(())
}

/// The row's hash, if everything about it is right.
fn recompute(row: &Row<'_>, number: i64, prev: AuditHash) -> Result<AuditHash, String> {
    let prev_hash = bytes(row, 1)?;
    if prev_hash != prev.0 {
        return Err("it does not follow from the entry before it".to_owned());
    }
    let kind = integer(row, 8)?;
    let hashed = Hashed {
        number,
        prev_hash,
        at_ms: integer(row, 3)?,
        shell_id: integer(row, 5)?,
        kind,
        texts: [
            bytes(row, 4)?,
            bytes(row, 6)?,
            bytes(row, 7)?,
            bytes(row, 9)?,
            bytes(row, 10)?,
            bytes(row, 11)?,
        ],
    };
    let hash = hashed.hash();
    if bytes(row, 2)? != hash.0 {
        return Err("it was changed: its hash does not fit".to_owned());
    }
    let payload = bytes(row, 9)?;
    let readable = u64::try_from(kind).ok().and_then(|k| kind_of(k, payload));
    if readable.is_none() {
        return Err("it is of a kind that this program does not know".to_owned());
    }
    Ok(hash)
}

fn integer(row: &Row<'_>, column: usize) -> Result<i64, String> {
    row.get(column).map_err(|_| of_wrong_type(column))
}

fn bytes<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a [u8], String> {
    let value = row.get_ref(column).map_err(|_| of_wrong_type(column))?;
    // Texts stay texts: a blob of the same bytes is a change.
    let is_blob = matches!(column, 1 | 2 | 9);
    match value.data_type() {
        Type::Blob if is_blob => blob(value),
        Type::Text if !is_blob => value.as_bytes().ok(),
        _ => None,
    }
    .ok_or_else(|| of_wrong_type(column))
}

fn blob(value: ValueRef<'_>) -> Option<&[u8]> {
    value.as_blob().ok()
}

fn of_wrong_type(column: usize) -> String {
    format!("it was changed: column {column} is of another type")
}
