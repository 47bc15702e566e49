//! Copies of the host's mounts, to be put elsewhere.
//!
//! An ordinary user copies a place with everything mounted below it at once.
//! The host's root copies each mount by itself, because only some file systems
//! can be seen through other users' eyes.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, StatxAttributes, StatxFlags};
use rustix::io::{Errno, Result};
use rustix::mount::{OpenTreeFlags, open_tree};

use super::furniture::{Furniture, attach};
use super::place;
use crate::cgroup::unescape;
use crate::sys::kernel::{self, Change, Reach};

/// Bytes of the list of mounts that are read at most.
const MOUNTINFO_BYTES_MAX: u64 = 16 << 20;

/// How mounts are copied.
pub(super) enum Copier {
    /// All at once, from a tree that nobody else changes.
    Whole,
    /// One by one, each private and seen through these users' eyes.
    Each {
        users: OwnedFd,
        /// Where something is mounted, relative to the root, the highest
        /// first.
        points: Vec<CString>,
    },
}

/// A copy that is nowhere yet.
pub(super) struct Tree {
    root: OwnedFd,
    /// Copies of what is mounted below, and where; blank what cannot be
    /// copied.
    below: Vec<(CString, Option<OwnedFd>)>,
}

impl Copier {
    /// Copies for root, who is somebody else inside.
    pub fn each(users: BorrowedFd<'_>) -> Result<Copier> {
        let mut points = mount_points()?;
        points.sort_by_cached_key(|point| {
            let depth = point.to_bytes().iter().filter(|b| **b == b'/').count();
            (depth, point.clone())
        });
        points.dedup();
        Ok(Copier::Each {
            users: rustix::io::fcntl_dupfd_cloexec(users, 0)?,
            points,
        })
    }

    /// Copies the mounts at a place and below it.
    pub fn copy(&self, place: BorrowedFd<'_>, path: &CStr) -> Result<Tree> {
        let (users, points) = match self {
            Copier::Whole => {
                return Ok(Tree {
                    root: place::copy(place)?,
                    below: Vec::new(),
                });
            }
            Copier::Each { users, points } => (users.as_fd(), points),
        };
        let root = copy_one(place)?;
        let change = Change {
            private: true,
            users: Some(users),
            ..Change::default()
        };
        kernel::change_mount(root.as_fd(), Reach::One, change)?;
        let mut below = Vec::new();
        for point in points {
            let Some(inside) = inside(point, path) else {
                continue;
            };
            let Ok(found) = place::find(place, &inside) else {
                // Covered by another mount, and so not there outside either.
                continue;
            };
            if is_mount_point(found.as_fd())? {
                below.push((inside, copy_below(found.as_fd(), users)));
            }
        }
        Ok(Tree { root, below })
    }

    /// Copies one place that no users need to be changed for.
    pub fn copy_device(&self, place: BorrowedFd<'_>) -> Result<OwnedFd> {
        let copy = copy_one(place)?;
        let change = Change {
            private: true,
            ..Change::default()
        };
        kernel::change_mount(copy.as_fd(), Reach::One, change).map(|()| copy)
    }
}

impl From<OwnedFd> for Tree {
    fn from(root: OwnedFd) -> Tree {
        Tree {
            root,
            below: Vec::new(),
        }
    }
}

impl Tree {
    /// Sets attributes of all of it.
    pub fn restrict(&self, set: u64) -> Result<()> {
        let change = Change {
            set,
            ..Change::default()
        };
        kernel::change_mount(self.root.as_fd(), Reach::Below, change)?;
        for copy in self.below.iter().filter_map(|(_, copy)| copy.as_ref()) {
            kernel::change_mount(copy.as_fd(), Reach::One, change)?;
        }
        Ok(())
    }

    /// Its root.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// Puts what is below in its place, once the root is in its own.
    pub fn complete(self, furniture: &Furniture) -> Result<OwnedFd> {
        for (path, copy) in self.below {
            let target = place::find(self.root.as_fd(), &path)?;
            let copy = match copy {
                Some(copy) => copy,
                None => furniture.blank(place::kind(&rustix::fs::fstat(&target)?))?,
            };
            attach(copy.as_fd(), target.as_fd())?;
        }
        Ok(self.root)
    }
}

fn copy_one(place: BorrowedFd<'_>) -> Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH;
    open_tree(place, "", flags)
}

/// A copy of a mount below another, through the users' eyes if it can be;
/// otherwise what is root's in it is a stranger's.
fn copy_below(place: BorrowedFd<'_>, users: BorrowedFd<'_>) -> Option<OwnedFd> {
    let copy = copy_one(place).ok()?;
    let change = |users| Change {
        private: true,
        users,
        ..Change::default()
    };
    let changed = kernel::change_mount(copy.as_fd(), Reach::One, change(Some(users)));
    let changed = match changed {
        Err(Errno::INVAL | Errno::PERM) => {
            kernel::change_mount(copy.as_fd(), Reach::One, change(None))
        }
        other => other,
    };
    changed.ok().map(|()| copy)
}

fn is_mount_point(place: BorrowedFd<'_>) -> Result<bool> {
    let stat = rustix::fs::statx(place, "", AtFlags::EMPTY_PATH, StatxFlags::empty())?;
    Ok(stat.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// `point` as seen from `path`, if it is strictly below; both are relative to
/// the root, which is empty.
fn inside(point: &CStr, path: &CStr) -> Option<CString> {
    let (point, path) = (point.to_bytes(), path.to_bytes());
    let rest = if path.is_empty() {
        point
    } else {
        point.strip_prefix(path)?.strip_prefix(b"/")?
    };
    if rest.is_empty() {
        return None;
    }
    CString::new(rest).ok()
}

/// Where something is mounted, relative to the root.
fn mount_points() -> Result<Vec<CString>> {
    use std::io::Read;
    use std::os::unix::ffi::OsStrExt;
    let mut text = Vec::new();
    let file = std::fs::File::open("/proc/self/mountinfo");
    let read = file.and_then(|file| file.take(MOUNTINFO_BYTES_MAX).read_to_end(&mut text));
    read.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let points = text.split(|&byte| byte == b'\n').filter_map(|line| {
        let point = unescape(line.split(|&byte| byte == b' ').nth(4)?);
        let point = point.as_os_str().as_bytes().strip_prefix(b"/")?.to_vec();
        CString::new(point).ok().filter(|point| !point.is_empty())
    });
    Ok(points.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mounted_below_a_place_is_seen_from_it() {
        let check = |point: &CStr, path: &CStr, expected: Option<&CStr>| {
            assert_eq!(
                inside(point, path).as_deref(),
                expected,
                "{point:?} {path:?}"
            );
        };
        check(c"home/u/x", c"home", Some(c"u/x"));
        check(c"home/u/x", c"", Some(c"home/u/x"));
        check(c"home", c"home", None);
        check(c"homes", c"home", None);
        check(c"proc", c"home", None);
    }

    #[test]
    fn mounts_are_listed() {
        let points = mount_points().expect("a list");
        assert!(points.iter().any(|point| point.as_c_str() == c"proc"));
    }
}
