//! The audit on the wire: a stream of entries, and whether they hold.

use crate::status::{describe, with_hint};
use glass_model::AuditHash;
use glass_proto::shellglass::v1 as wire;
use glass_proto::{audit_check, audit_record};
use glass_session::{AuditError, AuditFilter, Caller, Engine};
use tokio::sync::mpsc;
use tonic::{Code, Status};

/// Sends the wanted entries, the oldest first, for as long as somebody reads.
/// Blocks: for a thread of its own.
pub(crate) fn send(
    engine: &Engine,
    caller: &Caller,
    request: wire::ReadAuditRequest,
    sender: &mpsc::Sender<Result<wire::AuditRecord, Status>>,
) {
    if let Err(error) = send_all(engine, caller, request, sender) {
        // Whoever has gone needs no error.
        let _ = sender.blocking_send(Err(status(&error)));
    }
}

fn send_all(
    engine: &Engine,
    caller: &Caller,
    request: wire::ReadAuditRequest,
    sender: &mpsc::Sender<Result<wire::AuditRecord, Status>>,
) -> Result<(), AuditError> {
    let filter = AuditFilter {
        since_ms: (request.since_unix_ms != 0).then_some(request.since_unix_ms),
        session: (!request.session_id.is_empty()).then_some(request.session_id),
    };
    let newest = (request.limit != 0).then(|| u64::from(request.limit));
    let mut at = Some(engine.audit_start(caller, &filter, newest)?);
    let mut left = newest.unwrap_or(u64::MAX);
    while let Some(from) = at {
        let page = engine.audit(caller, &filter, from)?;
        for record in page.records {
            // Further ones may have joined meanwhile.
            if left == 0 || sender.blocking_send(Ok(audit_record(record))).is_err() {
                return Ok(());
            }
            left -= 1;
        }
        at = page.next;
    }
    Ok(())
}

/// Looks at the whole chain. Blocks: for a thread of its own.
pub(crate) fn verify(
    engine: &Engine,
    caller: &Caller,
    request: &wire::VerifyAuditRequest,
) -> Result<wire::VerifyAuditResponse, Status> {
    let noted = match request.noted_hash.as_str() {
        "" => None,
        hash => {
            let hash: AuditHash = hash.parse().map_err(|error| {
                let message = format!("noted_hash is not a hash: {error}");
                with_hint(
                    Code::InvalidArgument,
                    message,
                    "'shellglass audit verify' prints the number and the hash to note",
                )
            })?;
            Some((request.noted_number, hash))
        }
    };
    let check = engine.verify_audit(caller, noted);
    check.map(audit_check).map_err(|error| status(&error))
}

fn status(error: &AuditError) -> Status {
    let message = describe(error);
    match error {
        AuditError::PersonsOnly => with_hint(
            Code::PermissionDenied,
            message,
            "a person can read it with 'shellglass audit', outside of every session",
        ),
        AuditError::Read(_) => with_hint(
            Code::Internal,
            message,
            "'shellglass audit verify' says which entry was changed, if one was",
        ),
    }
}
