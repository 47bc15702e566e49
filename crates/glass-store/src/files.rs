//! The files that hold output: `output/<shell id / 1000>/<shell id>.out` and
//! `.err`, the exact bytes of the two streams.
//!
//! Invariant: a file's length never shrinks while its session lives. What is
//! dropped becomes a hole, so that offsets stay true and a late writer goes on
//! where it was.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use glass_model::{ShellId, Stream};
use rustix::fs::{AtFlags, FallocateFlags, Mode, OFlags};
use rustix::io::Errno;

/// Executions that share a folder.
const EXECUTIONS_PER_FOLDER: u32 = 1000;

/// The folder of all output files.
pub(crate) struct OutputFiles {
    root: PathBuf,
    dir: OwnedFd,
    writers: Mutex<HashMap<u32, u32>>,
}

impl OutputFiles {
    /// Opens the folder `output` of a data directory; makes it if need be.
    pub(crate) fn open(data_dir: &Path) -> io::Result<OutputFiles> {
        let root = data_dir.join("output");
        match rustix::fs::mkdir(&root, Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = rustix::fs::open(&root, flags, Mode::empty())?;
        Ok(OutputFiles {
            root,
            dir,
            writers: Mutex::default(),
        })
    }

    pub(crate) fn path(&self, shell: ShellId, stream: Stream) -> PathBuf {
        self.root.join(name(shell, stream))
    }

    /// Opens a file for writing, and makes it and its folder if need be.
    pub(crate) fn create(&self, shell: ShellId, stream: Stream) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o600);
        let name = name(shell, stream);
        match rustix::fs::openat(&self.dir, &name, flags, mode) {
            Err(Errno::NOENT) => {}
            opened => return Ok(File::from(opened?)),
        }
        match rustix::fs::mkdirat(&self.dir, folder(shell), Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        Ok(File::from(rustix::fs::openat(
            &self.dir, &name, flags, mode,
        )?))
    }

    /// Opens a file that is there, for reading or for making holes.
    pub(crate) fn find(
        &self,
        shell: ShellId,
        stream: Stream,
        access: OFlags,
    ) -> io::Result<Option<File>> {
        let flags = access | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.dir, name(shell, stream), flags, Mode::empty()) {
            Ok(file) => Ok(Some(File::from(file))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Bytes recorded so far; none without a file.
    pub(crate) fn len(&self, shell: ShellId, stream: Stream) -> u64 {
        rustix::fs::statat(&self.dir, name(shell, stream), AtFlags::SYMLINK_NOFOLLOW)
            .ok()
            .and_then(|stat| u64::try_from(stat.st_size).ok())
            .unwrap_or(0)
    }

    /// Gives the room of some bytes back to the disk; their offsets stay. A
    /// file system that cannot do it keeps them, and nobody reads them.
    pub(crate) fn punch(
        &self,
        shell: ShellId,
        stream: Stream,
        holes: &[(u64, u64)],
    ) -> io::Result<()> {
        if holes.is_empty() {
            return Ok(());
        }
        let Some(file) = self.find(shell, stream, OFlags::WRONLY)? else {
            return Ok(());
        };
        let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        for &(offset, bytes) in holes.iter().filter(|(_, bytes)| *bytes > 0) {
            match rustix::fs::fallocate(&file, how, offset, bytes) {
                Ok(()) => {}
                Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                    tracing::warn!(%shell, bytes, "dropped output still takes room on this disk");
                    return Ok(());
                }
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    pub(crate) fn remove(&self, shell: ShellId, stream: Stream) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.dir, name(shell, stream), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Removes the file that readers have made of both streams, if they have.
    pub(crate) fn remove_joined(&self, shell: ShellId) -> io::Result<()> {
        let name = format!("{}/{shell}.all", folder(shell));
        match rustix::fs::unlinkat(&self.dir, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Whether somebody may still write to this execution's files.
    pub(crate) fn is_written(&self, shell: ShellId) -> bool {
        self.lock_writers().contains_key(&shell.0)
    }

    pub(crate) fn writer_begins(&self, shell: ShellId) {
        *self.lock_writers().entry(shell.0).or_default() += 1;
    }

    pub(crate) fn writer_ends(&self, shell: ShellId) {
        let mut writers = self.lock_writers();
        if let Some(count) = writers.get_mut(&shell.0) {
            *count -= 1;
            if *count == 0 {
                writers.remove(&shell.0);
            }
        }
    }

    fn lock_writers(&self) -> std::sync::MutexGuard<'_, HashMap<u32, u32>> {
        self.writers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn folder(shell: ShellId) -> String {
    (shell.0 / EXECUTIONS_PER_FOLDER).to_string()
}

fn name(shell: ShellId, stream: Stream) -> String {
    let suffix = match stream {
        Stream::Stdout => "out",
        Stream::Stderr => "err",
    };
    format!("{}/{shell}.{suffix}", shell.0 / EXECUTIONS_PER_FOLDER)
}
