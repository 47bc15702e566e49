//! Reading the audit: for persons alone, because it tells of every session.

use super::{Caller, Engine};
use glass_model::{AuditCheck, AuditHash, Role};
use glass_store::{AuditFilter, AuditPage, ReadError};

/// Why the audit could not be read.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// An agent asked.
    #[error("the audit is for persons, and you are an agent here")]
    PersonsOnly,
    /// The journal could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl Engine {
    /// Where to begin to read: at the oldest entry, or such that at most `newest`
    /// are read. May take its time.
    pub fn audit_start(
        &self,
        caller: &Caller,
        filter: &AuditFilter,
        newest: Option<u64>,
    ) -> Result<u64, AuditError> {
        must_be_person(caller)?;
        match newest {
            None => Ok(0),
            Some(max) => Ok(self.0.context.store.audit_newest(max, filter)?),
        }
    }

    /// A page of the audit, from an entry on.
    pub fn audit(
        &self,
        caller: &Caller,
        filter: &AuditFilter,
        from: u64,
    ) -> Result<AuditPage, AuditError> {
        must_be_person(caller)?;
        Ok(self.0.context.store.audit(from, filter)?)
    }

    /// Whether the audit is as it was written, and still has the entry that
    /// somebody noted. Reads all of it.
    pub fn verify_audit(
        &self,
        caller: &Caller,
        noted: Option<(u64, AuditHash)>,
    ) -> Result<AuditCheck, AuditError> {
        must_be_person(caller)?;
        Ok(self.0.context.store.verify_audit(noted)?)
    }
}

fn must_be_person(caller: &Caller) -> Result<(), AuditError> {
    match caller.role {
        Role::Person => Ok(()),
        Role::Agent => Err(AuditError::PersonsOnly),
    }
}
