//! `relay`: what stands beside a command on another host and a person never starts.

use crate::cli::Relay;
use crate::error::{Failure, Kind, with_causes};
use glass_remote::{RelayOrder, relay};
use std::io;
use std::process::ExitCode;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Carries one command. Its end is in a file; our own exit says nothing.
pub(super) fn carry(arguments: Relay) -> Result<ExitCode, Failure> {
    let _spared = match arguments.terminal {
        Some(_) => Some(spare_us().map_err(|error| {
            Failure::new(
                Kind::Broken,
                format!("signals cannot be caught, so keys would end the relay: {error}"),
            )
        })?),
        None => None,
    };
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

/// Has keys and a hang-up at our terminal end `ssh` and not us, who have to look after
/// what is on the other host. Nobody waits for these signals: they are only caught, which
/// what we start does not inherit.
fn spare_us() -> io::Result<(Runtime, [Signal; 3])> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let spared = {
        let _within = runtime.enter();
        [
            signal(SignalKind::interrupt())?,
            signal(SignalKind::quit())?,
            signal(SignalKind::hangup())?,
        ]
    };
    Ok((runtime, spared))
}
