//! `filter …`: the code that the daemon uses, as filters over standard input.
//! No daemon is needed. Each filter is a module with its arguments and a
//! `filter` function; it is named in the list and in the match below.

mod compress;
mod osc;
mod pieces;
mod redact;
mod sections;

use crate::error::Failure;
use clap::Subcommand;
use std::process::ExitCode;

/// Reads standard input and writes standard output, as it comes.
#[derive(Debug, Subcommand)]
pub(crate) enum Filter {
    /// Make output short and readable for a model.
    Compress(compress::Compress),
    /// Print the shell markers in a terminal's output as JSON.
    Osc(osc::Osc),
    /// Replace secrets by `[REDACTED:rule]`.
    Redact(redact::Redact),
    /// Print the events of agents' programs as text to read.
    Sections(sections::Sections),
}

/// Filters until the input ends.
pub(super) fn filter(filter: &Filter) -> Result<ExitCode, Failure> {
    match filter {
        Filter::Compress(arguments) => compress::filter(arguments),
        Filter::Osc(arguments) => osc::filter(arguments),
        Filter::Redact(arguments) => redact::filter(arguments),
        Filter::Sections(arguments) => sections::filter(arguments),
    }
}
