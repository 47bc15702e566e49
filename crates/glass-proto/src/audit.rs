//! The audit, on the wire.

use crate::shellglass::v1 as wire;
use crate::shellglass::v1::audit_record::What;
use glass_model::{AuditCheck, AuditKind, AuditRecord};

/// An entry in its place.
pub fn audit_record(record: AuditRecord) -> wire::AuditRecord {
    let entry = record.entry;
    let (decision, decided_by) = match entry.decision() {
        Some((verdict, by)) => (verdict.name().to_owned(), by.to_owned()),
        None => (String::new(), String::new()),
    };
    let what = match entry.what {
        AuditKind::Decided {
            verdict,
            by,
            reason,
        } => What::Decided(wire::AuditDecided {
            verdict: verdict.name().to_owned(),
            by,
            reason,
        }),
        AuditKind::Asked {
            approval_id,
            reason,
            deadline_ms,
        } => What::Asked(wire::AuditAsked {
            approval_id,
            reason,
            deadline_unix_ms: deadline_ms,
        }),
        AuditKind::Answered {
            approval_id,
            approved,
            by,
            scope,
            reason,
        } => What::Answered(wire::AuditAnswered {
            approval_id,
            approved,
            by,
            scope,
            reason,
        }),
        AuditKind::Ran { cwd, sandbox } => What::Ran(wire::AuditRan { cwd, sandbox }),
        AuditKind::Ended { code, how } => What::Ended(wire::AuditEnded {
            exit_code: code,
            how,
        }),
    };
    wire::AuditRecord {
        number: record.number,
        unix_ms: entry.at_ms,
        session_id: entry.session,
        shell_id: entry.shell_id,
        task_id: entry.task,
        asked_by: entry.asked_by,
        command: entry.command,
        detail: entry.detail,
        what: Some(what),
        prev_hash: record.prev_hash.to_string(),
        hash: record.hash.to_string(),
        decision,
        decided_by,
    }
}

/// What was found when the whole chain was looked at.
pub fn audit_check(check: AuditCheck) -> wire::VerifyAuditResponse {
    wire::VerifyAuditResponse {
        holds: check.broken.is_none(),
        entries: check.entries,
        first: check.first,
        last: check.last,
        head_hash: check.head.to_string(),
        broken: check.broken.map(|broken| wire::AuditBreak {
            number: broken.number,
            why: broken.why,
        }),
    }
}
