//! `filter redact`: secrets leave the stream, everything else stays as it was.

use crate::error::{Failure, Kind};
use clap::Args;
use std::process::ExitCode;

/// Values of variables whose names look secret are replaced wherever they
/// stand; so is what has the shape of a well-known secret.
#[derive(Debug, Args)]
pub(crate) struct Redact {}

/// Filters until the input ends.
pub(super) fn filter(_arguments: &Redact) -> Result<ExitCode, Failure> {
    Err(Failure::new(Kind::Broken, "redaction is not there yet"))
}
