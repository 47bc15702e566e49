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
struct Noted {
    first: i64,
    first_prev_hash: AuditHash,
    last: i64,
    last_hash: AuditHash,
}

impl Store {
    /// Computes every hash anew and says where the chain does not hold, if it
    /// does not. Reads everything: for a thread that may be blocked.
    pub fn verify_audit(&self) -> Result<AuditCheck, ReadError> {
        let mut conn = self.audit_reader()?;
        let txn = conn.transaction()?;
        check(&txn)
    }

    /// Whether the entry of this number has this hash; none where there is no
    /// such entry. With a hash that was noted earlier, and a chain that holds,
    /// everything up to that entry is as it was then.
    pub fn audit_hash(&self, number: u64) -> Result<Option<AuditHash>, ReadError> {
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        let found: Option<Vec<u8>> = self
            .reader()
            .query_row(
                "SELECT hash FROM audit WHERE number = ?1",
                [number],
                |row| row.get(0),
            )
            .optional()?;
        Ok(found.map(|hash| hash_of(&hash).unwrap_or_default()))
    }
}

fn check(conn: &Connection) -> Result<AuditCheck, ReadError> {
    let Some(noted) = noted(conn)? else {
        return Ok(broken_at(
            1,
            "the note of where the chain begins and ends is gone",
        ));
    };
    let mut found = AuditCheck {
        entries: 0,
        first: noted.first.max(0).cast_unsigned(),
        last: noted.first.saturating_sub(1).max(0).cast_unsigned(),
        head: noted.first_prev_hash,
        broken: None,
    };
    let sql = format!("SELECT {COLUMNS} FROM audit ORDER BY number");
    let mut statement = conn.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut number = noted.first;
    while let Some(row) = rows.next()? {
        if let Err((number, why)) = follow(row, number, &noted, &mut found) {
            found.broken = Some(AuditBreak {
                number: number.max(0).cast_unsigned(),
                why,
            });
            return Ok(found);
        }
        number = number.saturating_add(1);
    }
    if number <= noted.last {
        found.broken = Some(AuditBreak {
            number: number.max(0).cast_unsigned(),
            why: format!("it is missing, with all others up to {}", noted.last),
        });
    } else if found.head != noted.last_hash {
        found.broken = Some(AuditBreak {
            number: found.last,
            why: "its hash is not the one that was noted as the last".to_owned(),
        });
    }
    Ok(found)
}

fn broken_at(number: u64, why: &str) -> AuditCheck {
    AuditCheck {
        entries: 0,
        first: number,
        last: number.saturating_sub(1),
        head: AuditHash::default(),
        broken: Some(AuditBreak {
            number,
            why: why.to_owned(),
        }),
    }
}

/// Nothing where there is no such row, or one that we have not written.
fn noted(conn: &Connection) -> Result<Option<Noted>, ReadError> {
    let sql = "SELECT first, first_prev_hash, last, last_hash FROM audit_chain WHERE row = 1";
    let noted = conn
        .query_row(sql, [], |row| {
            let hash = |column| row.get_ref(column).ok().and_then(blob).and_then(hash_of);
            let (Some(first_prev_hash), Some(last_hash)) = (hash(1), hash(3)) else {
                return Ok(None);
            };
            Ok(Some(Noted {
                first: row.get(0)?,
                first_prev_hash,
                last: row.get(2)?,
                last_hash,
            }))
        })
        .optional()?;
    Ok(noted.flatten())
}

/// Checks the row that should be `number`; returns which is wrong and why.
fn follow(
    row: &Row<'_>,
    number: i64,
    noted: &Noted,
    found: &mut AuditCheck,
) -> Result<(), (i64, String)> {
    let there = integer(row, 0).map_err(|why| (number, why))?;
    if there < number {
        return Err((there, "it is before the beginning of the chain".to_owned()));
    }
    if there > noted.last {
        return Err(if number <= noted.last {
            (number, "it is missing".to_owned())
        } else {
            (there, "it is beyond the end of the chain".to_owned())
        });
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
