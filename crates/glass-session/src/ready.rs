//! A descriptor that a task can wait for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::unix::AsyncFd;

/// A descriptor registered for reading. Registration lives as long as this:
/// a pipe whose last writer left stays "ready" until it is registered anew.
pub(crate) struct ReadyFd {
    fd: AsyncFd<OwnedFd>,
    /// Whether there may be something that was announced and not read.
    pending: AtomicBool,
}

impl ReadyFd {
    pub(crate) fn register(fd: OwnedFd) -> io::Result<ReadyFd> {
        Ok(ReadyFd {
            fd: glass_spawn::async_fd(fd)?,
            pending: AtomicBool::new(false),
        })
    }

    /// Whether there may be something to read; else the task is woken later.
    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> bool {
        if self.pending.load(Ordering::Relaxed) {
            return true;
        }
        let Poll::Ready(Ok(mut guard)) = self.fd.poll_read_ready(cx) else {
            return false;
        };
        // Before anything is read: what arrives from here on is announced
        // anew. After it, an arrival in between would never be heard of.
        guard.clear_ready();
        self.pending.store(true, Ordering::Relaxed);
        true
    }

    /// Whether more than so many bytes are there; else the task is woken later,
    /// or never where the other end is gone: that stays announced for ever.
    pub(crate) fn poll_more_than(&self, cx: &mut Context<'_>, bytes: usize) -> bool {
        // Twice: where nothing is new, the second look is the one that waits.
        for _ in 0..2 {
            if !self.poll_readable(cx) {
                return false;
            }
            if self.has_more_than(bytes) {
                return true;
            }
            self.exhausted();
        }
        false
    }

    /// Whether more than so many bytes are there now.
    pub(crate) fn has_more_than(&self, bytes: usize) -> bool {
        rustix::io::ioctl_fionread(self).is_ok_and(|waiting| waiting > bytes as u64)
    }

    /// Says that nothing was there: the next wait is for something new.
    pub(crate) fn exhausted(&self) {
        self.pending.store(false, Ordering::Relaxed);
    }

    pub(crate) fn into_fd(self) -> OwnedFd {
        self.fd.into_inner()
    }
}

impl AsFd for ReadyFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.get_ref().as_fd()
    }
}
