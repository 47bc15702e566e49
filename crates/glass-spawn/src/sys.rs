//! The only unsafe code: forking, and what must happen between fork and exec.
//!
//! Invariant: a forked process calls nothing but system calls and code that
//! neither locks nor panics, until it executes a program or exits. Without
//! walls it does not even allocate, so it is sound where the forking process
//! has other threads. Building walls allocates: the reaper, which builds them,
//! was forked through the C library, which leaves its allocator usable, and it
//! has one thread.

use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use tokio::io::unix::AsyncFd;

mod aside;
mod child;
mod image;
pub(crate) mod kernel;
mod memory;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod names;
pub(crate) mod notify;
mod outcome;
mod reaper;
mod signals;

pub(crate) use aside::below_reaper;
pub(crate) use image::{Image, ImageError, Slot};
pub use memory::give_memory_back;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub use names::settle_names;
pub(crate) use signals::{settle_signals, signal_queue};

/// Other C libraries load nothing.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn settle_names() {}

/// Forks the reaper of one launch, which forks the child, and gives the
/// reaper's number. The rest is told through `image.reports`.
pub(crate) fn fork_reaper(image: &mut Image) -> io::Result<i32> {
    // SAFETY: the new process runs `reaper::run` alone, which never returns
    // and keeps to this module's invariant.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => reaper::run(image),
        pid => Ok(pid),
    }
}

/// Forks a process that does one thing and ends, and gives its number.
pub(crate) fn fork_apart(work: impl FnOnce()) -> rustix::io::Result<i32> {
    fork_apart_with_code(|| {
        work();
        0
    })
}

/// The same; it ends with the code that is given.
pub(crate) fn fork_apart_with_code(work: impl FnOnce() -> i32) -> rustix::io::Result<i32> {
    // SAFETY: through the C library, which leaves its allocator usable in the
    // new process; that makes system calls and allocates, and takes no lock.
    match unsafe { libc::fork() } {
        -1 => Err(rustix::io::Errno::from_raw_os_error(errno())),
        0 => {
            let guard = reaper::NeverReturns;
            let code = work();
            std::mem::forget(guard);
            // SAFETY: ends this process without running anything.
            unsafe { libc::_exit(code) }
        }
        pid => Ok(pid),
    }
}

/// Makes a command run as the child of nobody, in a session of its own: what
/// is spawned and waited for is a process that ends at once.
pub(crate) fn detach(command: &mut Command) {
    // SAFETY: the closure makes only system calls, as the time between fork
    // and exec demands, and touches no memory but its own.
    unsafe {
        command.pre_exec(|| {
            if libc::setsid() < 0 {
                return Err(io::Error::last_os_error());
            }
            match libc::fork() {
                -1 => Err(io::Error::last_os_error()),
                0 => Ok(()),
                _ => libc::_exit(0),
            }
        });
    }
}

/// Lets the tokio runtime that this is called in watch a descriptor, which
/// must not block. Here because tokio asks for a promise that only the type
/// can keep, and so other crates need no unsafe code for it.
pub fn async_fd(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` is open, always names the same descriptor, and is
    // closed by nobody else for as long as it lives, here inside the `AsyncFd`.
    Ok(unsafe { AsyncFd::register(fd) }?)
}

/// Closes every descriptor but those in `keep`, which must be ascending.
fn close_all_but(keep: impl Iterator<Item = RawFd>) {
    let mut next: libc::c_uint = 0;
    for fd in keep {
        let fd = fd.cast_unsigned();
        if fd > next {
            close_range(next, fd - 1);
        }
        next = fd.saturating_add(1);
    }
    close_range(next, libc::c_uint::MAX);
}

/// The highest descriptor that is closed one by one where the kernel cannot
/// close a range (before Linux 5.9).
const CLOSED_SINGLY_MAX: libc::c_uint = 65_535;

fn close_range(first: libc::c_uint, last: libc::c_uint) {
    // SAFETY: only called in a forked process, none of whose code uses the
    // descriptors in the range again.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first, last, 0) != 0 {
            for fd in first..=last.min(CLOSED_SINGLY_MAX) {
                libc::close(fd.cast_signed());
            }
        }
    }
}

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
