//! One output pipe and the file behind it.

use crate::ready::ReadyFd;
use glass_model::Stream;
use glass_store::OutputWriter;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What the pipe of a flooding command is enlarged to, in bytes.
const FLOOD_PIPE_BYTES: usize = 1 << 20;

/// What it is set back to for the next command, in bytes.
const QUIET_PIPE_BYTES: usize = 64 * 1024;

/// A command that fills a pipe of the default size in one go is a flood.
const FLOOD_READ_BYTES: u64 = 60 * 1024;

/// One output pipe with the file behind it.
pub(super) struct Channel {
    pub(super) stream: Stream,
    pub(super) source: Source,
    pub(super) writer: OutputWriter,
    /// How many bytes the file has.
    pub(super) length: u64,
    /// How many of them have an event.
    pub(super) named: u64,
    /// How many of them a quota has removed.
    pub(super) trimmed: u64,
    pub(super) enlarged: bool,
    /// Whether it is our end of a terminal, and no pipe.
    pub(super) is_terminal: bool,
}

/// What one move of bytes found.
pub(super) enum Step {
    Moved(u64),
    Blocked,
    Ended,
}

pub(super) enum Source {
    /// Nobody waits for it; a command that ends at once never needs to.
    Unwatched(OwnedFd),
    Open(ReadyFd),
    /// No process holds the other end any more; the descriptor is kept for
    /// the next command.
    Ended(OwnedFd),
    Gone,
}

impl Channel {
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        match &self.source {
            Source::Open(fd) => Some(fd.as_fd()),
            Source::Unwatched(fd) | Source::Ended(fd) => Some(fd.as_fd()),
            Source::Gone => None,
        }
    }

    /// Waits no longer for this pipe; its registration is over, too, because a
    /// pipe without writers counts as readable for ever.
    pub(super) fn end(&mut self) {
        self.source = match std::mem::replace(&mut self.source, Source::Gone) {
            Source::Open(fd) => Source::Ended(fd.into_fd()),
            Source::Unwatched(fd) => Source::Ended(fd),
            ended => ended,
        };
    }

    pub(super) fn enlarge_for(&mut self, bytes: u64) {
        if bytes >= FLOOD_READ_BYTES
            && !self.enlarged
            && let Source::Open(fd) = &self.source
        {
            self.enlarged = true;
            // Best effort: users have a limited number of pipe pages.
            let _ = rustix::pipe::fcntl_setpipe_size(fd.as_fd(), FLOOD_PIPE_BYTES);
        }
    }

    pub(super) fn into_fd(self) -> Option<OwnedFd> {
        let fd = match self.source {
            Source::Open(fd) => fd.into_fd(),
            Source::Unwatched(fd) | Source::Ended(fd) => fd,
            Source::Gone => return None,
        };
        if self.enlarged {
            // Pages that only a flood needs are not kept for idle pipes.
            let _ = rustix::pipe::fcntl_setpipe_size(&fd, QUIET_PIPE_BYTES);
        }
        Some(fd)
    }
}
