//! A small file system of ours, from which empty and blank places are made.
//!
//! It is mounted where `/proc` will be and disappears below it, so nobody
//! inside reaches it by name, and yet it stays in the namespace: only what is
//! mounted there can be copied to other places later.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Result;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};

use crate::sys::kernel::{self, Change, NO_DEVICES, NO_EXECUTE, NO_SUID, READ_ONLY, Reach};

/// Bytes that all furniture may hold; names need no room here.
const FURNITURE_BYTES: &CStr = c"1m";

/// Files that all furniture may have.
const FURNITURE_FILES: &CStr = c"65536";

const BLANK_DIRECTORY: &CStr = c"blank-directory";
const BLANK_FILE: &CStr = c"blank-file";

/// Everything may be read, nothing executed.
const FURNITURE_ATTRIBUTES: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_NOSUID
    .union(MountAttrFlags::MOUNT_ATTR_NODEV)
    .union(MountAttrFlags::MOUNT_ATTR_NOEXEC);

/// The file system with what blank places are made of.
pub(crate) struct Furniture {
    root: OwnedFd,
    /// Directories that were made for empty places.
    made: u32,
}

/// Whether a place is a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Directory,
    File,
}

impl Furniture {
    /// Makes it and mounts it at `place`.
    pub fn set_up(place: BorrowedFd<'_>) -> Result<Furniture> {
        let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_set_string(&context, "size", FURNITURE_BYTES)?;
        fsconfig_set_string(&context, "nr_inodes", FURNITURE_FILES)?;
        fsconfig_set_string(&context, "mode", "0755")?;
        let root = mount_new(context, FURNITURE_ATTRIBUTES)?;
        attach(root.as_fd(), place)?;
        let nothing = Mode::empty();
        rustix::fs::mkdirat(&root, BLANK_DIRECTORY, nothing)?;
        make_file(root.as_fd(), BLANK_FILE, nothing)?;
        Ok(Furniture { root, made: 0 })
    }

    /// The one whose root this is.
    pub fn of(root: OwnedFd) -> Furniture {
        Furniture { root, made: 0 }
    }

    /// A place that cannot be opened, not yet mounted anywhere.
    pub fn blank(&self, kind: Kind) -> Result<OwnedFd> {
        let name = match kind {
            Kind::Directory => BLANK_DIRECTORY,
            Kind::File => BLANK_FILE,
        };
        let tree = self.tree(name)?;
        let set = READ_ONLY | NO_SUID | NO_DEVICES | NO_EXECUTE;
        change(tree.as_fd(), set)?;
        Ok(tree)
    }

    /// A new empty directory, not yet mounted anywhere, and still writable.
    pub fn empty(&mut self, mode: Mode) -> Result<OwnedFd> {
        self.made += 1;
        let name = format!("empty-{}", self.made);
        rustix::fs::mkdirat(&self.root, name.as_str(), mode)?;
        let flags = tree_flags();
        open_tree(&self.root, name.as_str(), flags)
    }

    /// The device that its files are on.
    pub fn device(&self) -> Result<u64> {
        Ok(rustix::fs::fstat(&self.root)?.st_dev)
    }

    /// Its root.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    fn tree(&self, name: &CStr) -> Result<OwnedFd> {
        open_tree(&self.root, name, tree_flags())
    }
}

fn tree_flags() -> OpenTreeFlags {
    OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC
}

/// A new mount of a file system whose options are set, not yet anywhere.
pub(super) fn mount_new(context: OwnedFd, attributes: MountAttrFlags) -> Result<OwnedFd> {
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// Puts a mount that is nowhere at a place.
pub(super) fn attach(mount: BorrowedFd<'_>, place: BorrowedFd<'_>) -> Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(mount, "", place, "", flags)
}

/// Sets attributes of one mount.
pub(super) fn change(mount: BorrowedFd<'_>, set: u64) -> Result<()> {
    let change = Change {
        set,
        ..Change::default()
    };
    kernel::change_mount(mount, Reach::One, change)
}

/// Makes an empty file.
pub(super) fn make_file(directory: BorrowedFd<'_>, name: &CStr, mode: Mode) -> Result<()> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    rustix::fs::openat(directory, name, flags, mode).map(drop)
}
