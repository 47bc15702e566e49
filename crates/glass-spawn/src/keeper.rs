//! The keeper: the one process that must not die, so it does almost nothing.
//!
//! It starts children, holds descriptors for them, waits for their ends and
//! tells the daemon. One thread, one `poll`, nothing that can block: a child
//! is made by a reaper of its own, and whatever hangs, hangs there.
//!
//! Invariants: a child's end is recorded until the daemon forgets it; nothing
//! that a client sends ends the keeper; a process whose reaper was killed is
//! killed too, so that no tree is ever open.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::limits::{KEEPER_IDLE, KEEPER_UNCLAIMED};

mod begin;
mod connection;
mod launches;
mod orphans;
mod record;
mod server;
mod setting;
mod socket;

/// How a keeper is to run.
#[derive(Clone, Debug)]
pub struct KeeperOptions {
    /// The absolute path of its socket. The directory is made if it is
    /// missing, and must be ours alone.
    pub socket: PathBuf,
    /// How long it stays without children and without a daemon.
    pub idle: Duration,
    /// The same while there are ends of children that no daemon has taken.
    pub unclaimed: Duration,
}

impl KeeperOptions {
    /// The usual way, at this socket.
    pub fn new(socket: PathBuf) -> KeeperOptions {
        KeeperOptions {
            socket,
            idle: KEEPER_IDLE,
            unclaimed: KEEPER_UNCLAIMED,
        }
    }
}

/// Why a keeper could not run.
#[derive(Debug, thiserror::Error)]
pub enum KeeperError {
    /// Another keeper has this socket.
    #[error("a keeper is already running at '{}'", socket.display())]
    AlreadyRunning {
        /// The socket.
        socket: PathBuf,
    },
    /// Others could reach the socket, or replace it.
    #[error("'{}' is not a directory that only its owner, us, can use", directory.display())]
    UnsafeDirectory {
        /// The socket's directory.
        directory: PathBuf,
    },
    /// The kernel cannot bind a socket there.
    #[error("the socket path '{}' is longer than {max} bytes", socket.display())]
    PathTooLong {
        /// The socket.
        socket: PathBuf,
        /// The kernel's limit.
        max: usize,
    },
    /// The socket could not be made.
    #[error("cannot listen at '{}'", path.display())]
    Listen {
        /// The file that could not be made.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The process could not be made ready.
    #[error("cannot {what}")]
    Setup {
        /// What could not be done.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
}

/// Runs a keeper until it is not needed any more. To be called once, in a
/// process that has nothing else to do and preferably a single thread: it
/// changes signals, limits and the session of the whole process.
pub fn run(options: KeeperOptions) -> Result<(), KeeperError> {
    let claim = socket::claim(&options.socket)?;
    let setting = setting::Setting::prepare()?;
    tracing::info!(socket = %options.socket.display(), "the keeper listens");
    server::Server::new(options, claim, setting)?.serve()?;
    // The next keeper may be there by now: nobody waits for this.
    let groups_removed = crate::cgroup::sweep();
    tracing::info!(groups_removed, "the keeper ends");
    Ok(())
}
