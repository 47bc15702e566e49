//! What a person or a supervisor says to `run`: stop.

use crate::error::{Failure, Kind};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Ctrl+C, a polite end, a closed terminal: each asks for a cancel.
pub(in crate::commands) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// From now on these signals do not end us.
    pub(in crate::commands) fn listen() -> Result<Signals, Failure> {
        let listen = |kind| {
            signal(kind).map_err(|error| {
                Failure::new(Kind::Broken, format!("signals cannot be received: {error}"))
            })
        };
        Ok(Signals {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for the next of them.
    pub(in crate::commands) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}
