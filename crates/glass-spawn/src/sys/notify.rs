//! System calls that a filter does not answer itself: the kernel holds the
//! caller and asks whoever has the filter's listener.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::io::{Errno, Result};

use super::kernel::{Instruction, answer};

/// The kernel's numbers for what is asked of a listener.
const RECEIVE: libc::c_ulong = 0xc050_2100;
const SEND: libc::c_ulong = 0xc018_2101;
const ADD_DESCRIPTOR: libc::c_ulong = 0x4018_2103;

/// Lets the call go on in the kernel as if it had not been asked about.
const CONTINUE: u32 = 1;

/// Answers the call with the descriptor that is added, in one step.
const ADD_AND_SEND: u32 = 2;

/// A call that somebody waits in, as the kernel writes it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Asked {
    pub id: u64,
    /// The thread, as this process's namespace numbers it.
    pub thread: u32,
    _flags: u32,
    pub call: i32,
    _arch: u32,
    _instruction: u64,
    pub arguments: [u64; 6],
}

/// An answer, as the kernel reads it.
#[repr(C)]
struct Answer {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

/// A descriptor for the caller, as the kernel reads it.
#[repr(C)]
struct Added {
    id: u64,
    flags: u32,
    source: u32,
    target: u32,
    target_flags: u32,
}

/// Puts every later system call of this process through a filter for ever, and
/// gives the listener that is asked about those that it passes on.
pub(crate) fn filter_calls_listening(program: &[Instruction]) -> Result<OwnedFd> {
    /// Whoever waits for an answer is interrupted by nothing but its end: a
    /// call that never is interrupted otherwise must not be by being asked
    /// about.
    const WAIT_KILLABLE: libc::c_ulong = 32;
    match listening(program, WAIT_KILLABLE) {
        // Before Linux 5.19.
        Err(Errno::INVAL) => listening(program, 0),
        listener => listener,
    }
}

fn listening(program: &[Instruction], more: libc::c_ulong) -> Result<OwnedFd> {
    const NEW_LISTENER: libc::c_ulong = 8;
    let fd = super::kernel::install(program, NEW_LISTENER | more)?;
    // SAFETY: with this flag the answer is a descriptor that the kernel has
    // just made for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Takes the next call that waits. Blocks where none does.
pub(crate) fn receive(listener: BorrowedFd<'_>) -> Result<Asked> {
    let mut asked = Asked::default();
    let place = std::ptr::from_mut(&mut asked);
    // SAFETY: the structure is the kernel's own layout, all zero as it wants
    // it, and writable.
    let received = unsafe { libc::ioctl(listener.as_raw_fd(), RECEIVE, place) };
    answer(received.into())?;
    Ok(asked)
}

/// Lets a call go on.
pub(crate) fn allow(listener: BorrowedFd<'_>, id: u64) -> Result<()> {
    send(listener, id, 0, CONTINUE)
}

/// Has a call fail.
pub(crate) fn refuse(listener: BorrowedFd<'_>, id: u64, errno: Errno) -> Result<()> {
    send(listener, id, -errno.raw_os_error(), 0)
}

fn send(listener: BorrowedFd<'_>, id: u64, error: i32, flags: u32) -> Result<()> {
    let mut told = Answer {
        id,
        value: 0,
        error,
        flags,
    };
    let told = std::ptr::from_mut(&mut told);
    // SAFETY: an initialised structure of the kernel's own layout.
    let sent = unsafe { libc::ioctl(listener.as_raw_fd(), SEND, told) };
    answer(sent.into())?;
    Ok(())
}

/// Answers a call with a copy of a descriptor.
pub(crate) fn give(
    listener: BorrowedFd<'_>,
    id: u64,
    fd: impl AsFd,
    close_on_exec: bool,
) -> Result<()> {
    let flag = libc::O_CLOEXEC.cast_unsigned();
    let added = Added {
        id,
        flags: ADD_AND_SEND,
        source: fd.as_fd().as_raw_fd().cast_unsigned(),
        target: 0,
        target_flags: if close_on_exec { flag } else { 0 },
    };
    let added = std::ptr::from_ref(&added);
    // SAFETY: an initialised structure of the kernel's own layout, only read.
    let given = unsafe { libc::ioctl(listener.as_raw_fd(), ADD_DESCRIPTOR, added) };
    answer(given.into())?;
    Ok(())
}
