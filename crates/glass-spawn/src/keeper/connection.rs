//! A client of the keeper, and what waits to be sent to it.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use prost::Message;

use crate::channel::{Parcel, ReceiveError, Received, receive};
use crate::limits::OUTBOX_MAX;
use crate::tree;
use crate::wire::{Answer, Say};

/// A connection whose peer is a process of our own user.
#[derive(Debug)]
pub(super) struct Connection {
    socket: OwnedFd,
    outbox: VecDeque<Parcel>,
}

/// A connection that is of no use any more.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    #[error("the client does not read its answers")]
    Overflow,
    #[error("the client cannot be reached")]
    Broken(#[from] io::Error),
}

impl Connection {
    /// Takes a connection that was accepted, unless its peer is a stranger: a
    /// process of another user, or one that we have started ourselves. A command
    /// must not take the daemon's place.
    pub fn of_a_daemon(socket: OwnedFd) -> io::Result<Option<Connection>> {
        let peer = rustix::net::sockopt::socket_peercred(&socket)?;
        let ours = peer.uid == rustix::process::geteuid();
        let ourselves = rustix::process::getpid().as_raw_nonzero().get();
        let child = tree::peer_descends_from(peer.pid.as_raw_nonzero().get(), ourselves);
        Ok((ours && !child).then(|| Connection {
            socket,
            outbox: VecDeque::new(),
        }))
    }

    /// Receives one message, if one is there.
    pub fn receive(&self) -> Result<Received, ReceiveError> {
        receive(&self.socket)
    }

    /// Whether something waits until the client reads.
    pub fn is_waiting(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// Says something now or, if the client is slow, when it reads.
    pub fn say(&mut self, seq: u64, say: Say, fds: Vec<Arc<OwnedFd>>) -> Result<(), SendError> {
        if self.outbox.len() >= OUTBOX_MAX {
            return Err(SendError::Overflow);
        }
        let message = Answer {
            seq,
            say: Some(say),
        }
        .encode_to_vec();
        self.outbox.push_back(Parcel::new(&message, fds)?);
        self.flush()
    }

    /// Sends what the client has room for.
    pub fn flush(&mut self) -> Result<(), SendError> {
        while let Some(parcel) = self.outbox.front() {
            match parcel.send(&self.socket) {
                Ok(()) => drop(self.outbox.pop_front()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
