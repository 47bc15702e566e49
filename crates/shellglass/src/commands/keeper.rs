//! `keeper`: what the daemon starts and a person never does.

use crate::cli::Keeper;
use crate::error::{Failure, Kind, with_causes};
use glass_spawn::keeper::{KeeperOptions, run};
use std::process::ExitCode;
use std::time::Duration;

mod log;

/// Holds children until there are none and no daemon asks for them. Nothing has
/// made a thread before this, as the keeper wants it.
pub(super) fn keep(arguments: &Keeper) -> Result<ExitCode, Failure> {
    log::start();
    let mut options = KeeperOptions::new(arguments.socket.clone());
    options.idle = Duration::from_secs(arguments.idle_seconds.into());
    match run(options) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Failure::new(Kind::Failed, with_causes(&error))),
    }
}
