//! Starts a program beside the daemon's sessions, below a reaper of its own.
//!
//! The daemon forks it itself: such a program is the user's and not a
//! command's, so it must not descend from the keeper, nor outlive the daemon.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use super::reaper::{NeverReturns, exit, shelter};
use super::signals::{reset_all, unblock_all};
use super::{close_all_but, errno};

/// The first descriptor that is not a standard stream.
const FIRST_OTHER_FD: libc::c_uint = 3;

/// Makes what is spawned a reaper in a session of its own, and the command its
/// child, in another one. Into `reports` go the child's number and, when it has
/// ended, its wait status, each as an `i32`. The child inherits no descriptor
/// but its standard streams. Both end with the thread that spawns them.
pub(crate) fn below_reaper(command: &mut Command, reports: OwnedFd) {
    let parent = std::process::id().cast_signed();
    // SAFETY: between fork and exec the closure makes only system calls, takes
    // no lock, allocates nothing, and touches no memory but its own.
    unsafe {
        command.pre_exec(move || begin(parent, reports.as_raw_fd()));
    }
}

/// Returns in the child alone, which is about to execute.
fn begin(parent: i32, reports: RawFd) -> io::Result<()> {
    shelter();
    // The daemon's handlers would write into descriptors that we close, and an
    // ignored SIGCHLD would take the statuses from us.
    reset_all();
    die_with(parent, libc::SIGTERM)?;
    let reaper = std::process::id().cast_signed();
    // SAFETY: the new process keeps to what may be done between fork and exec.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            unblock_all();
            // SAFETY: takes nothing.
            unsafe {
                libc::setsid();
            }
            keep_descriptors();
            die_with(reaper, libc::SIGKILL)
        }
        child => reap(child, reports),
    }
}

/// Has this process sent a signal when its parent ends, which may have happened.
fn die_with(parent: i32, signal: i32) -> io::Result<()> {
    // SAFETY: both take integers or nothing.
    let is_orphan = unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, signal, 0, 0, 0);
        libc::getppid() != parent
    };
    if is_orphan {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

/// Lets exec close everything but the standard streams. Ours are opened like
/// that; those that the daemon inherited may not be.
fn keep_descriptors() {
    const CLOSE_ON_EXEC: libc::c_uint = 4; // CLOSE_RANGE_CLOEXEC
    // SAFETY: takes integers and sets flags only. Kernels before 5.11 refuse,
    // which leaves what the daemon inherited open.
    unsafe {
        let last = libc::c_uint::MAX;
        libc::syscall(libc::SYS_close_range, FIRST_OTHER_FD, last, CLOSE_ON_EXEC);
    }
}

/// Waits for everything that lands here, reports the child, and ends when
/// nothing is left, or with the daemon.
fn reap(child: i32, reports: RawFd) -> ! {
    let _guard = NeverReturns;
    report(reports, child);
    // Whoever spawned us waits until the pipe for failures is closed.
    close_all_but([reports].into_iter());
    let mut child_lives = true;
    loop {
        let mut raw = 0;
        // SAFETY: `raw` is a valid place for the status.
        let pid = unsafe { libc::waitpid(-1, &mut raw, libc::WNOHANG) };
        if pid == child {
            child_lives = false;
            report(reports, raw);
        }
        if pid < 0 && errno() != libc::EINTR {
            exit(0);
        }
        if pid == 0 && daemon_is_gone() {
            if child_lives {
                // SAFETY: takes integers; a child that is not reaped still
                // has its number, and so has its group.
                unsafe {
                    libc::kill(-child, libc::SIGKILL);
                }
            }
            exit(0);
        }
    }
}

/// Waits until a child has ended, or the daemon has.
fn daemon_is_gone() -> bool {
    // SAFETY: a signal set is plain integers, and sigemptyset gives it its
    // meaning; both signals are blocked, as `sigwait` wants them.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGCHLD);
        libc::sigaddset(&mut set, libc::SIGTERM);
        libc::sigwaitinfo(&set, std::ptr::null_mut()) == libc::SIGTERM
    }
}

fn report(reports: RawFd, number: i32) {
    let bytes = number.to_ne_bytes();
    // SAFETY: the buffer has the length that is given. Two numbers always fit
    // into a pipe; SIGPIPE is blocked.
    unsafe {
        libc::write(reports, bytes.as_ptr().cast(), bytes.len());
    }
}
