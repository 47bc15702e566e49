//! What the keeper does with signals, and how a child gets rid of that.

use std::io;
use std::os::fd::{IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::pipe::PipeFlags;

/// The highest signal number of Linux.
const SIGNAL_MAX: libc::c_int = 64;

/// Bytes of a signal set as the kernel counts them.
const KERNEL_SET_BYTES: usize = 8;

/// Where the handler writes; never closed once it is set.
static QUEUE: AtomicI32 = AtomicI32::new(-1);

/// Gives a descriptor from which the numbers of SIGCHLD and SIGTERM can be
/// read, a byte each. A handler and a pipe rather than `signalfd`, because the
/// latter loses signals as soon as any thread of the process does not block
/// them. The pipe may be full; then it says enough already.
pub(crate) fn signal_queue() -> io::Result<OwnedFd> {
    let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    QUEUE.store(write.into_raw_fd(), Ordering::Release);
    // Whoever started us may have blocked them.
    unblock_all();
    for signal in [libc::SIGCHLD, libc::SIGTERM] {
        // SAFETY: the structure is plain integers, for which zeroes are
        // valid: an empty mask and no flags. The handler has the signature
        // that is expected without SA_SIGINFO and keeps to what a handler may
        // do. SA_NOCLDSTOP spares us the stops of reapers.
        let set = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = enqueue as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART | libc::SA_NOCLDSTOP;
            libc::sigaction(signal, &action, std::ptr::null_mut())
        };
        if set != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(read)
}

extern "C" fn enqueue(signal: libc::c_int) {
    let number = signal.to_ne_bytes();
    let byte = if cfg!(target_endian = "little") {
        number[0]
    } else {
        number[3]
    };
    // SAFETY: write is allowed in a handler, the byte is readable, and what
    // was interrupted finds its errno as it was.
    unsafe {
        let errno = *libc::__errno_location();
        libc::write(
            QUEUE.load(Ordering::Acquire),
            std::ptr::from_ref(&byte).cast(),
            1,
        );
        *libc::__errno_location() = errno;
    }
}

/// Ignores what a terminal or a closed connection would send.
pub(crate) fn settle_signals() {
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGPIPE] {
        // SAFETY: SIG_IGN is valid for these and installs no code of ours.
        unsafe {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
}

/// Gives every signal its default, as nothing was ever changed. For a process
/// that is about to execute.
pub(super) fn reset_all() {
    // As the kernel has it: handler, flags, restorer and mask, none above 8
    // bytes. All zero is SIG_DFL.
    let default = [0u64; 8];
    for signal in 1..=SIGNAL_MAX {
        // SAFETY: the kernel reads no more than the 64 readable bytes. Called
        // directly because the C library keeps two signals to itself, which a
        // parent may have left ignored. SIGKILL and SIGSTOP fail, harmlessly.
        unsafe {
            let none = std::ptr::null_mut::<u64>();
            let default = default.as_ptr();
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default,
                none,
                KERNEL_SET_BYTES,
            );
        }
    }
}

/// Blocks no signal in this thread.
pub(super) fn unblock_all() {
    // SAFETY: a signal set is plain integers, for which zeroes are valid, and
    // sigemptyset then gives it its meaning.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &set, std::ptr::null_mut());
    }
}
