//! `relay`: what stands beside a command on another host and a person never starts.

use crate::cli::Relay;
use crate::error::{Failure, Kind, with_causes};
use glass_remote::{RelayOrder, relay};
use std::process::ExitCode;

/// Carries one command. Its end is in a file; our own exit says nothing.
pub(super) fn carry(arguments: Relay) -> Result<ExitCode, Failure> {
    let order = RelayOrder {
        dir: arguments.dir,
        number: arguments.number,
        log: arguments.log,
        input: arguments.input,
        terminal: arguments.terminal,
        ssh: arguments.ssh,
    };
    match relay(&order) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Failure::new(Kind::Failed, with_causes(&error))),
    }
}
