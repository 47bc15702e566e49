//! Carries messages and descriptors over a sequenced-packet socket.
//!
//! A packet begins with one byte: 0, then the message; or 1, and the message
//! is in a sealed memory file that is the packet's last descriptor. Sealed,
//! because a peer that could still change or shorten it while it is read
//! would be trusted twice.

use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

use crate::limits::{INLINE_BYTES_MAX, MESSAGE_BYTES_MAX, PACKET_FDS_MAX};

const INLINE: u8 = 0;
const SPILLED: u8 = 1;

/// Bytes of a packet: its kind, and a message that fits.
const PACKET_BYTES_MAX: usize = 1 + INLINE_BYTES_MAX;

/// What a memory file must be sealed against.
const SEALS: SealFlags = SealFlags::WRITE
    .union(SealFlags::SHRINK)
    .union(SealFlags::GROW)
    .union(SealFlags::SEAL);

/// A message that is ready to be sent, as often as it takes.
#[derive(Debug)]
pub(crate) struct Parcel {
    packet: Vec<u8>,
    fds: Vec<Arc<OwnedFd>>,
}

/// A message that arrived.
#[derive(Debug)]
pub(crate) struct Received {
    pub bytes: Vec<u8>,
    pub fds: Vec<OwnedFd>,
    /// Some of its descriptors did not fit into this process.
    pub fds_lost: bool,
}

/// Why nothing was received.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReceiveError {
    #[error("the connection is closed")]
    Closed,
    #[error("nothing is there yet")]
    NotYet,
    #[error("a packet is malformed: {0}")]
    Malformed(&'static str),
    #[error("the connection cannot be read")]
    Broken(#[source] io::Error),
}

impl Parcel {
    /// Packs a message and its descriptors.
    pub fn new(message: &[u8], mut fds: Vec<Arc<OwnedFd>>) -> io::Result<Parcel> {
        let spills = message.len() > INLINE_BYTES_MAX;
        if message.len() > MESSAGE_BYTES_MAX || fds.len() + usize::from(spills) > PACKET_FDS_MAX {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if spills {
            fds.push(Arc::new(spill(message)?));
            return Ok(Parcel {
                packet: vec![SPILLED],
                fds,
            });
        }
        let mut packet = Vec::with_capacity(1 + message.len());
        packet.push(INLINE);
        packet.extend_from_slice(message);
        Ok(Parcel { packet, fds })
    }

    /// Sends it, whole or not at all.
    pub fn send(&self, socket: impl AsFd) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(PACKET_FDS_MAX))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let fds: Vec<_> = self.fds.iter().map(|fd| fd.as_fd()).collect();
        if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(&fds)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let packet = [IoSlice::new(&self.packet)];
        rustix::io::retry_on_intr(|| {
            rustix::net::sendmsg(&socket, &packet, &mut control, SendFlags::NOSIGNAL)
        })?;
        Ok(())
    }
}

fn spill(message: &[u8]) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = std::fs::File::from(rustix::fs::memfd_create("shellglass-message", flags)?);
    file.write_all(message)?;
    rustix::fs::fcntl_add_seals(&file, SEALS)?;
    Ok(file.into())
}

/// Receives one message from a socket that does not block.
pub(crate) fn receive(socket: impl AsFd) -> Result<Received, ReceiveError> {
    let mut packet = vec![0; packet_bytes(&socket)?];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(PACKET_FDS_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let message = rustix::io::retry_on_intr(|| {
        let mut parts = [IoSliceMut::new(&mut packet)];
        rustix::net::recvmsg(&socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)
    });
    let message = message.map_err(receive_error)?;
    let fds: Vec<OwnedFd> = control
        .drain()
        .filter_map(|part| match part {
            RecvAncillaryMessage::ScmRights(fds) => Some(fds),
            _ => None,
        })
        .flatten()
        .collect();
    if message.bytes == 0 {
        return Err(ReceiveError::Closed);
    }
    // The next packet is the one that was looked at, unless it was not ours.
    if message.flags.contains(ReturnFlags::TRUNC) {
        return Err(ReceiveError::Malformed("it is too long"));
    }
    packet.truncate(message.bytes);
    unpack(packet, fds, message.flags.contains(ReturnFlags::CTRUNC))
}

/// The length of the packet that is next. Asked for first, because buffers of
/// the greatest length would make every reaper a copy of them.
fn packet_bytes(socket: impl AsFd) -> Result<usize, ReceiveError> {
    let flags = RecvFlags::PEEK | RecvFlags::TRUNC;
    let mut none: [u8; 0] = [];
    let (_, bytes) = rustix::io::retry_on_intr(|| rustix::net::recv(&socket, &mut none, flags))
        .map_err(receive_error)?;
    match bytes {
        0 => Err(ReceiveError::Closed),
        1..=PACKET_BYTES_MAX => Ok(bytes),
        _ => Err(ReceiveError::Malformed("it is too long")),
    }
}

fn receive_error(errno: rustix::io::Errno) -> ReceiveError {
    match errno {
        rustix::io::Errno::AGAIN => ReceiveError::NotYet,
        rustix::io::Errno::CONNRESET => ReceiveError::Closed,
        errno => ReceiveError::Broken(errno.into()),
    }
}

fn unpack(
    mut packet: Vec<u8>,
    mut fds: Vec<OwnedFd>,
    fds_lost: bool,
) -> Result<Received, ReceiveError> {
    match packet.first() {
        Some(&INLINE) => {
            packet.remove(0);
            Ok(Received {
                bytes: packet,
                fds,
                fds_lost,
            })
        }
        Some(&SPILLED) => {
            // The memory file comes last, so with lost descriptors it is lost.
            let file = fds.pop().filter(|_| !fds_lost);
            let file = file.ok_or(ReceiveError::Malformed("its memory file is missing"))?;
            Ok(Received {
                bytes: read_spilled(file)?,
                fds,
                fds_lost,
            })
        }
        _ => Err(ReceiveError::Malformed("its kind is unknown")),
    }
}

fn read_spilled(file: OwnedFd) -> Result<Vec<u8>, ReceiveError> {
    let seals = rustix::fs::fcntl_get_seals(&file)
        .map_err(|_| ReceiveError::Malformed("its descriptor is not a memory file"))?;
    if !seals.contains(SEALS) {
        return Err(ReceiveError::Malformed("its memory file is not sealed"));
    }
    let stat = rustix::fs::fstat(&file).map_err(|e| ReceiveError::Broken(e.into()))?;
    let length = usize::try_from(stat.st_size).unwrap_or(usize::MAX);
    if length > MESSAGE_BYTES_MAX {
        return Err(ReceiveError::Malformed("its memory file is too long"));
    }
    let mut bytes = vec![0; length];
    std::os::unix::fs::FileExt::read_exact_at(&std::fs::File::from(file), &mut bytes, 0)
        .map_err(ReceiveError::Broken)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use rustix::net::{AddressFamily, SocketFlags, SocketType};

    use super::*;

    fn pair() -> (OwnedFd, OwnedFd) {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
            .expect("a socket pair")
    }

    fn raw(socket: &OwnedFd, bytes: &[u8], fds: &[OwnedFd]) {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let fds: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
        if !fds.is_empty() {
            assert!(control.push(SendAncillaryMessage::ScmRights(&fds)));
        }
        rustix::net::sendmsg(
            socket,
            &[IoSlice::new(bytes)],
            &mut control,
            SendFlags::empty(),
        )
        .expect("sent");
    }

    #[test]
    fn messages_of_every_length_arrive_whole_with_their_descriptors() {
        let (a, b) = pair();
        for length in [
            0,
            1,
            INLINE_BYTES_MAX,
            INLINE_BYTES_MAX + 1,
            3 << 20,
            MESSAGE_BYTES_MAX,
        ] {
            let message: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
            let fds = vec![Arc::new(pair().0), Arc::new(pair().1)];
            Parcel::new(&message, fds)
                .expect("packs")
                .send(&a)
                .expect("sends");
            let received = receive(&b).expect("arrives");
            assert!(received.bytes == message, "{length}");
            assert_eq!(received.fds.len(), 2, "{length}");
            assert!(!received.fds_lost);
        }
        assert!(matches!(receive(&b), Err(ReceiveError::NotYet)));
        assert!(Parcel::new(&vec![0; MESSAGE_BYTES_MAX + 1], Vec::new()).is_err());
        drop(a);
        assert!(matches!(receive(&b), Err(ReceiveError::Closed)));
    }

    #[test]
    fn hostile_packets_are_refused() {
        let (a, b) = pair();
        raw(&a, &[9, 1, 2], &[]);
        assert!(matches!(receive(&b), Err(ReceiveError::Malformed(_))));
        raw(&a, &[SPILLED], &[]);
        assert!(matches!(receive(&b), Err(ReceiveError::Malformed(_))));
        raw(&a, &[SPILLED], &[pair().0]);
        assert!(matches!(receive(&b), Err(ReceiveError::Malformed(_))));
        let unsealed = rustix::fs::memfd_create("x", MemfdFlags::ALLOW_SEALING).expect("a memfd");
        raw(&a, &[SPILLED], &[unsealed]);
        assert!(matches!(receive(&b), Err(ReceiveError::Malformed(_))));
        let huge = rustix::fs::memfd_create("x", MemfdFlags::ALLOW_SEALING).expect("a memfd");
        rustix::fs::ftruncate(&huge, 1 << 40).expect("a sparse file");
        rustix::fs::fcntl_add_seals(&huge, SEALS).expect("seals");
        raw(&a, &[SPILLED], &[huge]);
        assert!(matches!(receive(&b), Err(ReceiveError::Malformed(_))));
        raw(&a, &vec![0; INLINE_BYTES_MAX + 2], &[]);
        assert!(matches!(receive(&b), Err(ReceiveError::Malformed(_))));
    }
}
