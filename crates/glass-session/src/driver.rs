//! How a shell is driven: the programs that we hand to it, what we say to
//! them, and what they say back. Nothing here reads, writes or waits; the
//! engine moves the bytes.
//!
//! A *warm* shell runs many commands, a *once* shell runs one and is the
//! boundary itself. Both read requests from one socket ([`REQUEST_FD`], or
//! standard input where [`Argv::stdin_is_control`] says so) and write reports
//! to another ([`REPORT_FD`]).
//!
//! Invariant: a request is executed at most once, however often it is sent,
//! and a report is believed only for the request whose nonce it carries.

mod argv;
mod exports;
mod quote;
mod report;
mod request;
mod snapshot;
mod variables;

pub use argv::{Argv, PLAIN_BYTES_MAX, Style, argv, plain_argv};
pub use exports::may_export;
pub use quote::quote;
pub use report::{BadReport, REPORT_BYTES_MAX, Report, ReportParser};
pub use request::{
    COMMAND_BYTES_MAX, Encoded, FIELD_BYTES_MAX, INLINE_BYTES_MAX, NONCE_BYTES, Request,
    RequestError, Wanted, encode_run, encode_snapshot,
};
pub(crate) use request::{is_name, is_own};
pub use snapshot::{State, parse_state};

/// Where a driver reads its requests. One digit, because zsh and dash parse
/// no more than that.
pub const REQUEST_FD: i32 = 8;

/// Where a driver writes its reports.
pub const REPORT_FD: i32 = 9;

/// The name, inside the session's directory, of the state that a shell leaves
/// when it ends by itself.
pub const EXIT_STATE_NAME: &str = "exit";

/// The names, inside the session's directory, of an execution's output pipes:
/// standard output, then standard error.
pub fn pipe_names(slot: u32) -> [String; 2] {
    [format!("{slot}o"), format!("{slot}e")]
}

/// The name, inside the session's directory, of a command too long for the
/// request ([`Encoded::file`]). The engine may delete it once the execution
/// has ended.
pub fn command_name(seq: u64) -> String {
    format!("c{seq}")
}

/// The name, inside the session's directory, of the state that answers the
/// snapshot request `seq`, or that the once driver leaves for its request.
pub fn state_name(seq: u64) -> String {
    format!("s{seq}")
}
