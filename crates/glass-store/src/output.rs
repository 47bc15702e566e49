//! Moves output from a pipe to its file.
//!
//! Invariant: a byte that has left the pipe is in the file, whatever kills us.
//! The kernel moves it in one step, so there is no moment in between.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, OnceLock};

use glass_model::{ShellId, Stream};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::{SpliceFlags, splice};

use crate::disk::Gauge;
use crate::error::SpliceError;
use crate::files::OutputFiles;

/// What one call moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// So many bytes, at least one.
    Bytes(u64),
    /// Nothing, because nothing is there yet.
    WouldBlock,
    /// Nothing, because nobody can write to the pipe any more.
    End,
}

/// Records one stream of one execution.
pub struct OutputWriter {
    files: Arc<OutputFiles>,
    gauge: Arc<Gauge>,
    shell: ShellId,
    stream: Stream,
    open: Option<(File, u64)>,
}

impl OutputWriter {
    pub(crate) fn new(
        files: Arc<OutputFiles>,
        gauge: Arc<Gauge>,
        shell: ShellId,
        stream: Stream,
    ) -> OutputWriter {
        files.writer_begins(shell);
        OutputWriter {
            files,
            gauge,
            shell,
            stream,
            open: None,
        }
    }

    /// Moves at most `max` bytes from a pipe to the end of the file. Never
    /// waits, also where the pipe itself is blocking. The file is made with
    /// the first byte.
    pub fn splice_from(&mut self, pipe: BorrowedFd<'_>, max: usize) -> Result<Moved, SpliceError> {
        let (file, length) = match &mut self.open {
            Some((file, length)) => (file, length),
            None => match look(pipe)? {
                Moved::Bytes(_) => {
                    let (file, length) = self.open.insert(self.open_file().map_err(splice_error)?);
                    (file, length)
                }
                nothing => return Ok(nothing),
            },
        };
        // Not with O_APPEND, which splice refuses.
        let moved = move_bytes(pipe, file.as_fd(), Some(length), max).map_err(splice_error)?;
        if let Moved::Bytes(bytes) = moved {
            self.gauge.wrote(bytes);
        }
        Ok(moved)
    }

    /// Writes bytes to the end of the file, for what does not come from a pipe.
    /// All of them are recorded, or none.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), SpliceError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (file, length) = match &mut self.open {
            Some((file, length)) => (file, length),
            None => {
                let (file, length) = self.open.insert(self.open_file().map_err(splice_error)?);
                (file, length)
            }
        };
        if let Err(error) = file.write_all_at(bytes, *length) {
            // What was written of it would be taken for output one day.
            let _ = file.set_len(*length);
            let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
            return Err(splice_error(errno));
        }
        *length += bytes.len() as u64;
        self.gauge.wrote(bytes.len() as u64);
        Ok(())
    }

    /// Takes at most `max` bytes from a pipe and throws them away, so that the
    /// command can go on when its output cannot be kept. Never waits.
    pub fn discard_from(pipe: BorrowedFd<'_>, max: usize) -> Result<Moved, io::Error> {
        move_bytes(pipe, null()?, None, max).map_err(io::Error::from)
    }

    /// Bytes recorded so far in this stream: the length of its file.
    pub fn len(&self) -> u64 {
        match &self.open {
            Some((_, length)) => *length,
            None => self.files.len(self.shell, self.stream),
        }
    }

    /// Whether nothing is recorded so far.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn open_file(&self) -> Result<(File, u64), Errno> {
        let errno = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
        let file = self.files.create(self.shell, self.stream).map_err(errno)?;
        let length = file.metadata().map_err(errno)?.len();
        Ok((file, length))
    }
}

impl Drop for OutputWriter {
    fn drop(&mut self) {
        self.files.writer_ends(self.shell);
    }
}

/// Whether a pipe has something, without taking it.
fn look(pipe: BorrowedFd<'_>) -> Result<Moved, io::Error> {
    let mut fds = [PollFd::new(&pipe, PollFlags::IN)];
    let at_once = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    loop {
        match poll(&mut fds, Some(&at_once)) {
            Ok(_) => break,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    let seen = fds[0].revents();
    if seen.contains(PollFlags::NVAL) {
        return Err(Errno::BADF.into());
    }
    Ok(if seen.contains(PollFlags::IN) {
        Moved::Bytes(0)
    } else if seen.intersects(PollFlags::HUP | PollFlags::ERR) {
        Moved::End
    } else {
        Moved::WouldBlock
    })
}

fn move_bytes(
    pipe: BorrowedFd<'_>,
    to: BorrowedFd<'_>,
    mut at: Option<&mut u64>,
    max: usize,
) -> Result<Moved, Errno> {
    if max == 0 {
        return Ok(Moved::WouldBlock);
    }
    let flags = SpliceFlags::NONBLOCK | SpliceFlags::MOVE;
    loop {
        match splice(pipe, None, to, at.as_deref_mut(), max, flags) {
            Ok(0) => return Ok(Moved::End),
            Ok(bytes) => return Ok(Moved::Bytes(bytes as u64)),
            Err(Errno::AGAIN) => return Ok(Moved::WouldBlock),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}

fn splice_error(errno: Errno) -> SpliceError {
    match errno {
        Errno::NOSPC | Errno::DQUOT | Errno::FBIG => SpliceError::DiskFull,
        errno => SpliceError::Io(errno.into()),
    }
}

/// `/dev/null`, opened once.
fn null() -> io::Result<BorrowedFd<'static>> {
    static NULL: OnceLock<OwnedFd> = OnceLock::new();
    if let Some(null) = NULL.get() {
        return Ok(null.as_fd());
    }
    let opened = rustix::fs::open("/dev/null", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    Ok(NULL.get_or_init(|| opened).as_fd())
}
