//! The daemon's log, on standard error.

use crate::error::{Failure, Kind};
use std::io::IsTerminal as _;
use tracing_subscriber::EnvFilter;

/// Logs from now on what the filter lets through.
pub(super) fn start(filter: &str) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(filter).map_err(|error| {
        Failure::new(
            Kind::Failed,
            format!("`daemon.log` is not a log filter: {error}"),
        )
        .hint("use a level (error, warn, info, debug, trace) or \"info,glass_session=debug\"")
    })?;
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .try_init();
    started.map_err(|error| Failure::new(Kind::Broken, format!("no log can be kept: {error}")))
}
