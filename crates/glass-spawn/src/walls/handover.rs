//! The builder and init talk over a socket pair: init makes a `/proc`, which
//! only a process inside of the namespace can, and is given the furniture.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, Result};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};

/// The two ends.
pub(crate) fn pair() -> Result<(OwnedFd, OwnedFd)> {
    let kind = SocketType::SEQPACKET;
    rustix::net::socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)
}

/// Hands over a descriptor, or why there is none.
pub(super) fn send(socket: impl AsFd, what: Result<BorrowedFd<'_>>) -> Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let errno = what.err().map_or(0, Errno::raw_os_error).to_ne_bytes();
    let fds: Vec<BorrowedFd<'_>> = what.into_iter().collect();
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(&fds)) {
        return Err(Errno::INVAL);
    }
    let message = [IoSlice::new(&errno)];
    rustix::io::retry_on_intr(|| {
        rustix::net::sendmsg(&socket, &message, &mut control, SendFlags::NOSIGNAL)
    })?;
    Ok(())
}

/// Waits for a descriptor. Its end without one means that the other side is
/// gone.
pub(super) fn receive(socket: impl AsFd) -> Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut errno = [0; 4];
    let received = rustix::io::retry_on_intr(|| {
        let mut message = [IoSliceMut::new(&mut errno)];
        rustix::net::recvmsg(&socket, &mut message, &mut control, RecvFlags::CMSG_CLOEXEC)
    })?;
    if received.bytes != errno.len() {
        return Err(Errno::CHILD);
    }
    match i32::from_ne_bytes(errno) {
        0 => {}
        errno => return Err(Errno::from_raw_os_error(errno)),
    }
    let mut fds = control.drain().filter_map(|part| match part {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    fds.next().ok_or(Errno::BADF)
}
