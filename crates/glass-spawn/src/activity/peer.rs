//! Which socket is at the other end of a socket of this machine.
//!
//! `/proc` does not say; the kernel's socket diagnostics do. One question, one
//! answer, no waiting: it is queued before the question returns.

use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::os::fd::OwnedFd;

/// Bytes of an answer that are read; ours are about 60.
const ANSWER_BYTES_MAX: usize = 1024;

/// `nlmsghdr`.
const HEADER_BYTES: usize = 16;

/// `unix_diag_msg`.
const ABOUT_BYTES: usize = 16;

/// `rtattr`.
const ATTRIBUTE_BYTES: usize = 4;

/// `SOCK_DIAG_BY_FAMILY`.
const BY_FAMILY: u16 = 20;

/// `NLM_F_REQUEST`.
const IS_REQUEST: u16 = 1;

/// `UDIAG_SHOW_PEER`.
const SHOW_PEER: u32 = 4;

/// `UNIX_DIAG_PEER`.
const PEER: u16 = 2;

const AF_UNIX: u8 = 1;

/// Asks the kernel about sockets.
pub(super) struct Diagnostics(OwnedFd);

impl Diagnostics {
    /// None where the kernel has no such thing.
    pub(super) fn open() -> Option<Diagnostics> {
        let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
        let protocol = Some(netlink::SOCK_DIAG);
        let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, protocol);
        socket.ok().map(Diagnostics)
    }

    /// The number of the socket that this one is connected to.
    pub(super) fn peer(&self, inode: u32) -> Option<u32> {
        let kernel = SocketAddrNetlink::new(0, 0);
        let question = question(inode);
        rustix::net::sendto(&self.0, &question, SendFlags::empty(), &kernel).ok()?;
        let mut answer = [0; ANSWER_BYTES_MAX];
        let (count, _) = rustix::net::recv(&self.0, &mut answer[..], RecvFlags::DONTWAIT).ok()?;
        parse(answer.get(..count)?, inode)
    }
}

fn question(inode: u32) -> Vec<u8> {
    const BYTES: u32 = 40;
    let mut question = BYTES.to_ne_bytes().to_vec();
    question.extend(BY_FAMILY.to_ne_bytes());
    question.extend(IS_REQUEST.to_ne_bytes());
    // Its number and the sender's: there is one question at a time.
    question.extend([0; 8]);
    question.extend([AF_UNIX, 0, 0, 0]);
    // Whatever state it is in.
    question.extend(u32::MAX.to_ne_bytes());
    question.extend(inode.to_ne_bytes());
    question.extend(SHOW_PEER.to_ne_bytes());
    // No cookie: it is known by its number alone.
    question.extend([0xff; 8]);
    question
}

/// The peer in an answer about this socket.
fn parse(answer: &[u8], inode: u32) -> Option<u32> {
    let length = usize::try_from(number(answer, 0)?).ok()?;
    let answer = answer.get(..length)?;
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    if kind != BY_FAMILY || number(answer, HEADER_BYTES + 4)? != inode {
        return None;
    }
    let mut rest = answer.get(HEADER_BYTES + ABOUT_BYTES..)?;
    while let Some(head) = rest.get(..ATTRIBUTE_BYTES) {
        let length = usize::from(u16::from_ne_bytes([head[0], head[1]]));
        let kind = u16::from_ne_bytes([head[2], head[3]]);
        if kind == PEER {
            // An end that is gone has no number.
            return number(rest.get(..length)?, ATTRIBUTE_BYTES).filter(|peer| *peer != 0);
        }
        // Attributes begin at multiples of four; none is shorter than its head.
        let step = length.max(ATTRIBUTE_BYTES).next_multiple_of(4);
        rest = rest.get(step..)?;
    }
    None
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes(four.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{Diagnostics, parse};
    use std::os::fd::AsFd as _;
    use std::os::unix::net::UnixStream;

    fn inode(socket: &UnixStream) -> u32 {
        let about = rustix::fs::fstat(socket.as_fd()).expect("it is open");
        u32::try_from(about.st_ino).expect("sockets have small numbers")
    }

    #[test]
    fn the_kernel_knows_the_other_end() {
        let (one, other) = UnixStream::pair().expect("a pair");
        let diagnostics = Diagnostics::open().expect("this kernel answers");
        assert_eq!(diagnostics.peer(inode(&one)), Some(inode(&other)));
        assert_eq!(diagnostics.peer(inode(&other)), Some(inode(&one)));
        drop(other);
        assert_eq!(diagnostics.peer(inode(&one)), None, "nobody is there");
        assert_eq!(diagnostics.peer(1), None, "an error is no answer");
    }

    #[test]
    fn an_answer_that_is_cut_or_of_another_says_nothing() {
        let mut answer = 40_u32.to_ne_bytes().to_vec();
        answer.extend(20_u16.to_ne_bytes());
        answer.extend([0; 10]);
        answer.extend([1, 1, 1, 0]);
        answer.extend(7_u32.to_ne_bytes());
        answer.extend([0; 8]);
        answer.extend(8_u16.to_ne_bytes());
        answer.extend(2_u16.to_ne_bytes());
        answer.extend(9_u32.to_ne_bytes());
        assert_eq!(parse(&answer, 7), Some(9));
        assert_eq!(parse(&answer, 8), None);
        for end in 0..answer.len() {
            assert_eq!(parse(&answer[..end], 7), None, "{end}");
        }
        // An attribute without length must not be read for ever.
        answer[32..36].copy_from_slice(&[0, 0, 9, 0]);
        assert_eq!(parse(&answer, 7), None);
    }
}
