//! Reaches a keeper and agrees with it on a protocol.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use prost::Message;
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc;

use super::line::{Line, next, send};
use super::{Keeper, KeeperEvent, open_socket};
use crate::channel::Parcel;
use crate::limits::{CONNECT_RETRY_WAIT, CONNECT_WAIT, PROTOCOL_OLDEST, PROTOCOL_VERSION};
use crate::sys::async_fd;
use crate::wire::{Answer, Ask, Hello, Request, Say, compatible, decode};

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Nobody listens there, or has just stopped to.
    #[error("no keeper is running at '{}'", socket.display())]
    NoKeeper {
        /// The socket.
        socket: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Somebody else listens there.
    #[error("the process that listens at '{}' belongs to another user", socket.display())]
    Stranger {
        /// The socket.
        socket: PathBuf,
    },
    /// It speaks a protocol that this build does not.
    #[error("the keeper speaks protocol {keeper} and this build {ours}")]
    Incompatible {
        /// The keeper's version.
        keeper: u32,
        /// Ours.
        ours: u32,
    },
    /// It does not answer, or nonsense.
    #[error("the keeper at '{}' does not answer as one", socket.display())]
    NoAnswer {
        /// The socket.
        socket: PathBuf,
    },
    /// The connection could not be made ready here.
    #[error("the connection to the keeper cannot be used")]
    Setup(#[source] io::Error),
}

pub(super) async fn connect(
    path: &Path,
) -> Result<(Keeper, mpsc::Receiver<KeeperEvent>), ConnectError> {
    let socket = reach(path).await?;
    let peer = rustix::net::sockopt::socket_peercred(&socket)
        .map_err(|errno| ConnectError::Setup(errno.into()))?;
    if peer.uid != rustix::process::geteuid() {
        return Err(ConnectError::Stranger {
            socket: path.to_owned(),
        });
    }
    let socket = async_fd(socket).map_err(ConnectError::Setup)?;
    let ours = Hello {
        version: PROTOCOL_VERSION,
        oldest: PROTOCOL_OLDEST,
    };
    let theirs = tokio::time::timeout(CONNECT_WAIT, greet(&socket, &ours))
        .await
        .map_err(|_| ConnectError::NoAnswer {
            socket: path.to_owned(),
        })?
        // A keeper that leaves in this moment closes without a word.
        .map_err(|source| ConnectError::NoKeeper {
            socket: path.to_owned(),
            source,
        })?
        .ok_or_else(|| ConnectError::NoAnswer {
            socket: path.to_owned(),
        })?;
    if !compatible(&ours, &theirs) {
        let (keeper, ours) = (theirs.version, ours.version);
        return Err(ConnectError::Incompatible { keeper, ours });
    }
    let pid = peer.pid.as_raw_nonzero().get();
    let (line, events) = Line::open(socket, pid, theirs.version);
    Ok((
        Keeper {
            line: Arc::new(line),
        },
        events,
    ))
}

/// Connects as soon as the keeper has room for another client.
async fn reach(path: &Path) -> Result<OwnedFd, ConnectError> {
    let deadline = Instant::now() + CONNECT_WAIT;
    loop {
        match open_socket(path) {
            Ok(socket) => return Ok(socket),
            Err(error)
                if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < deadline =>
            {
                tokio::time::sleep(CONNECT_RETRY_WAIT).await;
            }
            Err(source) => {
                return Err(ConnectError::NoKeeper {
                    socket: path.to_owned(),
                    source,
                });
            }
        }
    }
}

async fn greet(socket: &AsyncFd<OwnedFd>, ours: &Hello) -> io::Result<Option<Hello>> {
    let hello = Request {
        seq: 1,
        ask: Some(Ask::Hello(ours.clone())),
    };
    send(socket, &Parcel::new(&hello.encode_to_vec(), Vec::new())?).await?;
    let received = next(socket).await?;
    match decode::<Answer>(&received.bytes) {
        Ok(Answer {
            say: Some(Say::Welcome(theirs)),
            ..
        }) => Ok(Some(theirs)),
        _ => Ok(None),
    }
}
