//! The drivers, in real shells.

mod differential;
mod hardening;
mod harness;
mod once;
mod requests;
mod state;
mod traps;
