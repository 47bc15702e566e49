//! A descriptor that a task can wait for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::task::{Context, Poll};
use tokio::io::unix::AsyncFd;

/// A descriptor registered for reading. Registration lives as long as this:
/// a pipe whose last writer left stays "ready" until it is registered anew.
pub(crate) struct ReadyFd(AsyncFd<OwnedFd>);

impl ReadyFd {
    pub(crate) fn register(fd: OwnedFd) -> io::Result<ReadyFd> {
        Ok(ReadyFd(glass_spawn::async_fd(fd)?))
    }

    /// Whether there may be something to read; else the task is woken later.
    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> bool {
        matches!(self.0.poll_read_ready(cx), Poll::Ready(Ok(_)))
    }

    /// Says that nothing was there: the next wait is for something new.
    pub(crate) fn exhausted(&self) {
        let waker = std::task::Waker::noop();
        let mut cx = Context::from_waker(waker);
        if let Poll::Ready(Ok(mut guard)) = self.0.poll_read_ready(&mut cx) {
            guard.clear_ready();
        }
    }

    pub(crate) fn into_fd(self) -> OwnedFd {
        self.0.into_inner()
    }
}

impl AsFd for ReadyFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.get_ref().as_fd()
    }
}
