//! The drivers, in real shells.

mod differential;
mod hardening;
mod harness;
mod heads;
mod latency;
mod once;
mod requests;
mod state;
mod traps;
