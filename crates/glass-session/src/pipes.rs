//! The pipes of a session's shells: named ones for a warm shell, which opens
//! them itself for each command, and plain ones for a shell of one command.

use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::pipe::PipeFlags;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// The read ends of standard output and standard error.
pub(crate) type Pair = (OwnedFd, OwnedFd);

/// Pairs of named pipes of one warm shell. A pair serves one command after the
/// other, as long as nothing that a command left behind holds it.
pub(crate) struct Slots {
    dir: PathBuf,
    free: Vec<(u32, Pair)>,
    next: u32,
}

impl Slots {
    pub(crate) fn new(dir: &Path, next: u32) -> Slots {
        Slots {
            dir: dir.to_owned(),
            free: Vec::new(),
            next,
        }
    }

    pub(crate) fn take(&mut self) -> Option<(u32, Pair)> {
        self.free.pop()
    }

    pub(crate) fn give_back(&mut self, slot: u32, pair: Pair) {
        self.free.push((slot, pair));
    }

    /// Makes a further pair. The caller has the keeper hold it, too.
    pub(crate) fn make(&mut self) -> io::Result<(u32, Pair)> {
        let slot = self.next;
        let [out, err] = crate::driver::pipe_names(slot);
        let pair = (self.open_new(&out)?, self.open_new(&err)?);
        self.next += 1;
        Ok((slot, pair))
    }

    /// Write ends of a pair, which keep it from looking deserted.
    pub(crate) fn guards(&self, slot: u32) -> io::Result<Pair> {
        let [out, err] = crate::driver::pipe_names(slot);
        let open = |name: &str| -> io::Result<OwnedFd> {
            let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            Ok(rustix::fs::open(self.dir.join(name), flags, Mode::empty())?)
        };
        Ok((open(&out)?, open(&err)?))
    }

    fn open_new(&self, name: &str) -> io::Result<OwnedFd> {
        let path = self.dir.join(name);
        match rustix::fs::unlink(&path) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        Ok(rustix::fs::open(&path, flags, Mode::empty())?)
    }
}

/// The labels under which the keeper holds a pair.
pub(crate) fn labels(slot: u32) -> (String, String) {
    (format!("o{slot}"), format!("e{slot}"))
}

/// A plain pipe: the read end, which never blocks, and the write end.
pub(crate) fn plain() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&read, true)?;
    Ok((read, write))
}

/// The pipe of a command that callers write to: the read end, and the write
/// end, which never blocks.
pub(crate) fn stdin() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&write, true)?;
    Ok((read, write))
}
