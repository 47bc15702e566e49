//! The audit: entries in a chain, each tied to all before it by a hash.
//!
//! Invariants: an entry is committed with what it tells of; numbers have no
//! gaps; what is written is never changed, and goes only from the front, when
//! there are too many. So whoever changes, removes, adds or moves a row without
//! computing the chain anew is found out by [`Store::verify_audit`].
//!
//! [`Store::verify_audit`]: crate::Store::verify_audit

mod chain;
mod read;
mod retain;
mod verify;

pub use read::{AuditFilter, AuditPage};

pub(crate) use chain::{Tip, append, load, write_tip};
