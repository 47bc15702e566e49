//! Finds places by descriptor and puts mounts there.
//!
//! Invariant: no symbolic link is ever followed, so a place is the one that
//! was decided about or nothing is done.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use glass_model::FileId;
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::{Errno, Result};
use rustix::mount::{OpenTreeFlags, open_tree};

use super::furniture::{Kind, make_file};

/// Opens a place by its path from a directory, as itself and not to be read.
pub(super) fn find(root: BorrowedFd<'_>, path: &CStr) -> Result<OwnedFd> {
    // To ask for the link itself would give it, in spite of `resolve`.
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    // The kernel asks to try again when a rename happens meanwhile.
    let mut attempts = 0;
    loop {
        match rustix::fs::openat2(root, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN) if attempts < 64 => attempts += 1,
            other => return other,
        }
    }
}

/// The root directory of this process.
pub(super) fn root() -> Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, "/", flags, Mode::empty())
}

/// Copies the mounts at a place and below it, to be put elsewhere.
pub(super) fn copy(place: BorrowedFd<'_>) -> Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    open_tree(place, "", flags)
}

/// Which file a place is.
pub(super) fn identity(stat: &Stat) -> FileId {
    FileId {
        device: stat.st_dev,
        inode: stat.st_ino,
    }
}

/// Whether a place is a directory, for what may cover it.
pub(super) fn kind(stat: &Stat) -> Kind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Kind::Directory,
        _ => Kind::File,
    }
}

/// Finds a place inside, and makes it where it is missing in a directory that
/// is on one of our `own` devices. Nothing is made anywhere else.
pub(super) fn find_or_make(
    root: BorrowedFd<'_>,
    path: &CStr,
    kind: Kind,
    own: &[u64],
) -> Result<OwnedFd> {
    match find(root, path) {
        Err(Errno::NOENT) => {}
        found => return found,
    }
    let mut directory = rustix::io::fcntl_dupfd_cloexec(root, 0)?;
    let names: Vec<&[u8]> = path.to_bytes().split(|&byte| byte == b'/').collect();
    for (at, name) in names.iter().enumerate() {
        let name = std::ffi::CString::new(*name).map_err(|_| Errno::INVAL)?;
        let last = at + 1 == names.len();
        directory = match find(directory.as_fd(), &name) {
            Err(Errno::NOENT) => {
                let is_own = own.contains(&rustix::fs::fstat(&directory)?.st_dev);
                if !is_own {
                    return Err(Errno::NOENT);
                }
                make(
                    directory.as_fd(),
                    &name,
                    if last { kind } else { Kind::Directory },
                )?;
                find(directory.as_fd(), &name)?
            }
            found => found?,
        };
    }
    Ok(directory)
}

fn make(directory: BorrowedFd<'_>, name: &CStr, kind: Kind) -> Result<()> {
    match kind {
        Kind::Directory => rustix::fs::mkdirat(directory, name, Mode::from_raw_mode(0o755)),
        Kind::File => make_file(directory, name, Mode::from_raw_mode(0o644)),
    }
}
