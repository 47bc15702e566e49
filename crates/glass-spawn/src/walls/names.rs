//! Under which names files may be made, where nothing may come to be that git
//! takes for a repository.
//!
//! Git believes a directory that has `HEAD`, `objects` and `refs` (or a
//! `commondir` that leads to those), and whatever `.git` is. What is there
//! already is protected by mounts; this is about what is not there yet.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags};
use rustix::io::{Errno, Result};

use super::layout::{Look, Plan};
use super::place;
use crate::sys::notify::Asked;

/// Bytes of a path, with its end: the kernel's own limit.
const PATH_BYTES_MAX: usize = 4096;

/// Symbolic links at the end of a path, one after the other: the kernel's own
/// limit.
const LINKS_MAX: usize = 40;

/// The file system of processes, in which nothing can be made.
const PROCESSES: i64 = 0x9fa0;

/// A flag of renaming that swaps both.
const EXCHANGE: u64 = 2;

/// Flags of open under which a symbolic link at the end leads nowhere.
const STAYS: u64 = (libc::O_EXCL | libc::O_NOFOLLOW).cast_unsigned() as u64;

/// Who waits in a call.
pub(super) struct Caller {
    thread: u32,
}

/// Places of the host's that can be written, in which names count.
#[derive(Debug)]
pub(super) struct Names {
    root: Option<OwnedFd>,
    /// Absolute paths, later ones on top of earlier ones, and whether the place
    /// is the host's.
    places: Vec<(Vec<u8>, bool)>,
}

/// A name that a call makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Target {
    directory: i32,
    path: u64,
    /// Whether a symbolic link of that name leads on.
    follows: bool,
}

impl Names {
    /// Of these walls.
    pub fn of(plan: &Plan) -> Names {
        let place = |place: &super::layout::Place| {
            let path = [b"/", place.path.to_bytes()].concat();
            (path, place.look == Look::Same { writable: true })
        };
        Names {
            root: place::root().ok(),
            places: plan.places.iter().map(place).collect(),
        }
    }

    /// Refuses a call that would make a forbidden name.
    pub fn judge(&self, caller: &Caller, asked: &Asked) -> Result<()> {
        for target in targets(asked) {
            self.check(caller, target)?;
        }
        Ok(())
    }

    fn check(&self, caller: &Caller, target: Target) -> Result<()> {
        let root = self.root.as_ref().ok_or(Errno::PERM)?;
        let mut text = caller.text(target.path, PATH_BYTES_MAX - 1)?.into_bytes();
        let mut base = match text.first() {
            None => return Ok(()),
            Some(b'/') => rustix::io::dup(root)?,
            Some(_) => caller.directory(target.directory)?,
        };
        for _ in 0..LINKS_MAX {
            let Some((above, name)) = split(&text) else {
                return Ok(());
            };
            let directory = open(base.as_fd(), above)?;
            let file_system = rustix::fs::fstatfs(&directory)?.f_type;
            if file_system == PROCESSES {
                return Ok(());
            }
            if is_forbidden(directory.as_fd(), name) && self.covers(directory.as_fd()) {
                return Err(Errno::ROFS);
            }
            if !target.follows {
                return Ok(());
            }
            let Ok(link) = rustix::fs::readlinkat(&directory, name, Vec::new()) else {
                return Ok(());
            };
            text = link.into_bytes();
            base = match text.first() {
                Some(b'/') => rustix::io::dup(root)?,
                _ => directory,
            };
        }
        Err(Errno::LOOP)
    }

    /// Whether a directory is the host's. One whose path is not known counts as
    /// such.
    fn covers(&self, directory: BorrowedFd<'_>) -> bool {
        use std::os::fd::AsRawFd;
        let link = format!("/proc/self/fd/{}", directory.as_raw_fd());
        let path = rustix::fs::readlink(link, Vec::new());
        path.map_or(true, |path| self.is_of_the_host(path.as_bytes()))
    }

    fn is_of_the_host(&self, path: &[u8]) -> bool {
        let above = self.places.iter().filter(|(place, _)| {
            let rest = path.strip_prefix(place.as_slice());
            rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
        });
        // What is not below any place is read-only, whatever is said here.
        let nearest = above.max_by_key(|(place, _)| place.len());
        nearest.is_none_or(|(_, of_the_host)| *of_the_host)
    }
}

/// Whether a file of this name may not come to be in a directory. One that is
/// there does not come to be.
fn is_forbidden(directory: BorrowedFd<'_>, name: &[u8]) -> bool {
    let is_there = |name: &[u8]| {
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        rustix::fs::statat(directory, name, flags).is_ok()
    };
    // Most names are no names of git's, and need no further look.
    glass_model::makes_repository(name, true)
        && glass_model::makes_repository(name, is_there(b"HEAD"))
        && !is_there(name)
}

/// A path's directory, empty for where one is, and the name in it. Nothing for
/// a path that ends in no name: nothing can be made there.
pub(crate) fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = path.iter().rposition(|byte| *byte != b'/')? + 1;
    let path = &path[..end];
    let start = path
        .iter()
        .rposition(|byte| *byte == b'/')
        .map_or(0, |at| at + 1);
    let (above, name) = path.split_at(start);
    (name != b"." && name != b"..").then_some((above, name))
}

/// Opens the directory of a path as the caller would. What leads through a
/// process's own links cannot be followed for another one.
fn open(base: BorrowedFd<'_>, above: &[u8]) -> Result<OwnedFd> {
    let path = if above.is_empty() { b"." } else { above };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat2(
        base,
        path,
        flags,
        Mode::empty(),
        ResolveFlags::NO_MAGICLINKS,
    )
}

impl Caller {
    pub fn new(thread: u32) -> Caller {
        Caller { thread }
    }

    /// The text at an address of the caller's, if it is no longer than this.
    pub fn text(&self, address: u64, bytes_max: usize) -> Result<CString> {
        let file = std::fs::File::open(format!("/proc/{}/mem", self.thread));
        let errno = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::PERM);
        let file = file.map_err(errno)?;
        let mut buffer = vec![0; bytes_max + 1];
        // What ends where the caller's memory does is read as far as it goes.
        let length = file
            .read_at(&mut buffer, address)
            .map_err(|_| Errno::FAULT)?;
        let read = buffer.get(..length).unwrap_or_default();
        match CStr::from_bytes_until_nul(read) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) if length <= bytes_max => Err(Errno::FAULT),
            Err(_) => Err(Errno::NAMETOOLONG),
        }
    }

    /// A directory that the caller has open, or the one that it is in.
    fn directory(&self, number: i32) -> Result<OwnedFd> {
        let thread = self.thread;
        let link = match number {
            libc::AT_FDCWD => format!("/proc/{thread}/cwd"),
            number => format!("/proc/{thread}/fd/{number}"),
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open(link, flags, Mode::empty()).map_err(|errno| match errno {
            Errno::NOENT if number != libc::AT_FDCWD => Errno::BADF,
            errno => errno,
        })
    }
}

/// The names that a call makes.
fn targets(asked: &Asked) -> Vec<Target> {
    let a = asked.arguments;
    let at = |directory: u64, path: u64| Target {
        // The kernel looks at no more of it.
        directory: (directory & u64::from(u32::MAX)) as u32 as i32,
        path,
        follows: false,
    };
    let opening = |target: Target, flags: u64| Target {
        follows: flags & STAYS == 0,
        ..target
    };
    match libc::c_long::from(asked.call) {
        libc::SYS_openat => vec![opening(at(a[0], a[1]), a[2])],
        libc::SYS_mkdirat | libc::SYS_mknodat => vec![at(a[0], a[1])],
        libc::SYS_symlinkat => vec![at(a[1], a[2])],
        libc::SYS_renameat2 if a[4] & EXCHANGE != 0 => vec![at(a[2], a[3]), at(a[0], a[1])],
        libc::SYS_linkat | libc::SYS_renameat | libc::SYS_renameat2 => vec![at(a[2], a[3])],
        call => older(call, a).into_iter().collect(),
    }
}

/// Of calls that newer machines do not have, whose paths begin where one is.
#[cfg(target_arch = "x86_64")]
fn older(call: libc::c_long, a: [u64; 6]) -> Option<Target> {
    let here = |path: u64, follows: bool| Target {
        directory: libc::AT_FDCWD,
        path,
        follows,
    };
    match call {
        libc::SYS_open => Some(here(a[0], a[1] & STAYS == 0)),
        libc::SYS_creat => Some(here(a[0], true)),
        libc::SYS_mkdir | libc::SYS_mknod => Some(here(a[0], false)),
        libc::SYS_symlink | libc::SYS_link | libc::SYS_rename => Some(here(a[1], false)),
        _ => None,
    }
}

/// There are none.
#[cfg(not(target_arch = "x86_64"))]
fn older(_call: libc::c_long, _arguments: [u64; 6]) -> Option<Target> {
    None
}

#[cfg(test)]
mod tests;
