//! Entries of the audit as rows.

use glass_model::{AUDIT_HASH_BYTES, AuditEntry, AuditHash, AuditKind, AuditRecord, Verdict};
use rusqlite::Row;

use crate::codec::{Decoder, Encoder};
use crate::error::ReadError;
use crate::row::natural;

/// The columns that [`read`] and the chain expect, in this order.
pub(crate) const COLUMNS: &str = "number, prev_hash, hash, at_ms, session, shell_id, task, \
     asked_by, kind, payload, command, detail";

const UNREADABLE: ReadError = ReadError::Corrupt {
    what: "an entry of the audit",
};

// What happened. Numbers on the disk.
const DECIDED: u64 = 0;
const ASKED: u64 = 1;
const ANSWERED: u64 = 2;
const RAN: u64 = 3;
const ENDED: u64 = 4;

/// What happened as two columns: its kind, and the rest.
pub(crate) fn kind_columns(what: &AuditKind) -> (u64, Vec<u8>) {
    let mut encoder = Encoder::default();
    let kind = match what {
        AuditKind::Decided {
            verdict,
            by,
            reason,
        } => {
            encoder.number(verdict_column(*verdict));
            encoder.text(by).text(reason);
            DECIDED
        }
        AuditKind::Asked {
            approval_id,
            reason,
            deadline_ms,
        } => {
            encoder.text(approval_id).text(reason);
            encoder.number(deadline_ms.cast_unsigned());
            ASKED
        }
        AuditKind::Answered {
            approval_id,
            approved,
            by,
            scope,
            reason,
        } => {
            encoder.text(approval_id).flag(*approved);
            encoder.text(by).text(scope).text(reason);
            ANSWERED
        }
        AuditKind::Ran { cwd, sandbox } => {
            encoder.text(cwd).text(sandbox);
            RAN
        }
        AuditKind::Ended { code, how } => {
            encoder.optional_code(*code).text(how);
            ENDED
        }
    };
    (kind, encoder.finish())
}

pub(crate) fn kind_of(kind: u64, payload: &[u8]) -> Option<AuditKind> {
    let mut decoder = Decoder::new(payload);
    let what = match kind {
        DECIDED => AuditKind::Decided {
            verdict: verdict_of(decoder.number()?)?,
            by: decoder.text()?,
            reason: decoder.text()?,
        },
        ASKED => AuditKind::Asked {
            approval_id: decoder.text()?,
            reason: decoder.text()?,
            deadline_ms: decoder.number()?.cast_signed(),
        },
        ANSWERED => AuditKind::Answered {
            approval_id: decoder.text()?,
            approved: decoder.flag()?,
            by: decoder.text()?,
            scope: decoder.text()?,
            reason: decoder.text()?,
        },
        RAN => AuditKind::Ran {
            cwd: decoder.text()?,
            sandbox: decoder.text()?,
        },
        ENDED => AuditKind::Ended {
            code: decoder.optional_code()?,
            how: decoder.text()?,
        },
        _ => return None,
    };
    decoder.finish()?;
    Some(what)
}

fn verdict_column(verdict: Verdict) -> u64 {
    match verdict {
        Verdict::Allow => 0,
        Verdict::Ask => 1,
        Verdict::Deny => 2,
    }
}

fn verdict_of(value: u64) -> Option<Verdict> {
    match value {
        0 => Some(Verdict::Allow),
        1 => Some(Verdict::Ask),
        2 => Some(Verdict::Deny),
        _ => None,
    }
}

/// A hash from its column.
pub(crate) fn hash_of(column: &[u8]) -> Option<AuditHash> {
    <[u8; AUDIT_HASH_BYTES]>::try_from(column)
        .ok()
        .map(AuditHash)
}

/// Reads a record; also returns about how many bytes of text it has.
pub(crate) fn read(row: &Row<'_>) -> Result<(AuditRecord, usize), ReadError> {
    let hash = |column: usize| -> Result<AuditHash, ReadError> {
        hash_of(&row.get::<_, Vec<u8>>(column)?).ok_or(UNREADABLE)
    };
    let kind: u64 = natural(row.get(8)?, "an entry of the audit")?;
    let payload: Vec<u8> = row.get(9)?;
    let record = AuditRecord {
        number: natural(row.get(0)?, "a number of the audit")?,
        prev_hash: hash(1)?,
        hash: hash(2)?,
        entry: AuditEntry {
            at_ms: row.get(3)?,
            session: row.get(4)?,
            shell_id: natural(row.get(5)?, "a handle")?,
            task: row.get(6)?,
            asked_by: row.get(7)?,
            what: kind_of(kind, &payload).ok_or(UNREADABLE)?,
            command: row.get(10)?,
            detail: row.get(11)?,
        },
    };
    let bytes = payload.len() + record.entry.command.len() + record.entry.detail.len();
    Ok((record, bytes))
}

#[cfg(test)]
mod tests {
    use glass_model::{AuditKind, Verdict};
    use proptest::prelude::*;

    use super::{kind_columns, kind_of};

    fn kinds() -> impl Strategy<Value = AuditKind> {
        let verdict = prop_oneof![
            Just(Verdict::Allow),
            Just(Verdict::Ask),
            Just(Verdict::Deny)
        ];
        prop_oneof![
            (verdict, any::<String>(), any::<String>()).prop_map(|(verdict, by, reason)| {
                AuditKind::Decided {
                    verdict,
                    by,
                    reason,
                }
            }),
            any::<(String, String, i64)>().prop_map(|(approval_id, reason, deadline_ms)| {
                AuditKind::Asked {
                    approval_id,
                    reason,
                    deadline_ms,
                }
            }),
            any::<(String, bool, String, String, String)>().prop_map(
                |(approval_id, approved, by, scope, reason)| AuditKind::Answered {
                    approval_id,
                    approved,
                    by,
                    scope,
                    reason,
                }
            ),
            any::<(String, String)>().prop_map(|(cwd, sandbox)| AuditKind::Ran { cwd, sandbox }),
            any::<(Option<i32>, String)>().prop_map(|(code, how)| AuditKind::Ended { code, how }),
        ]
    }

    proptest! {
        #[test]
        fn every_kind_is_read_as_it_was_written(what in kinds()) {
            let (kind, payload) = kind_columns(&what);
            prop_assert_eq!(kind_of(kind, &payload), Some(what));
        }

        #[test]
        fn noise_is_refused_or_read_and_never_panics(kind in 0u64..7, payload: Vec<u8>) {
            let _ = kind_of(kind, &payload);
        }
    }
}
