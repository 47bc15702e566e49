//! Who the processes behind the walls are: the same user as outside, in a
//! namespace where that gives no power over anything outside.

use std::io::Write;
use std::os::fd::AsFd;

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, Result};

use super::users::{NOBODYS, Users};
use super::{At, Failure};
use crate::stage::Stage;
use crate::sys::kernel;

/// Leaves all namespaces for new ones; the network's only if it is not to be
/// reached.
pub(super) fn separate(network: bool, users: Option<&Users>) -> std::result::Result<(), Failure> {
    let user = rustix::process::geteuid();
    let group = rustix::process::getegid();
    if user.is_root() {
        // Others cannot; the groups that they keep mean nothing inside.
        kernel::leave_groups().at(Stage::Identity)?;
    }
    let mut flags = libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP;
    if !network {
        flags |= libc::CLONE_NEWNET;
    }
    let mut outside = (user.as_raw(), group.as_raw());
    if let Some(users) = users {
        kernel::enter_users(users.inner.as_fd(), NOBODYS).at(Stage::Identity)?;
        outside = (NOBODYS, NOBODYS);
    }
    // Each launch in one of its own, also below the one that all of root's are
    // in: the kernel counts processes by namespace.
    kernel::leave_namespaces(libc::CLONE_NEWUSER | flags).at(Stage::Namespaces)?;
    map((user.as_raw(), group.as_raw()), outside).at(Stage::Identity)?;
    if !network {
        kernel::raise_loopback().at(Stage::Network)?;
    }
    Ok(())
}

/// Tries to leave for a namespace of this user's own.
pub(super) fn try_user() -> Result<()> {
    let user = rustix::process::geteuid();
    let group = rustix::process::getegid();
    kernel::leave_namespaces(libc::CLONE_NEWUSER)?;
    let same = (user.as_raw(), group.as_raw());
    map(same, same)
}

/// Maps the one user and the one group to those outside.
fn map(inside: (u32, u32), outside: (u32, u32)) -> Result<()> {
    // Only a process that may be looked into owns its files in /proc. What
    // could look now is of this user and behind no walls.
    kernel::set_dumpable(true)?;
    let mapped = write_maps(inside, outside);
    kernel::set_dumpable(false)?;
    mapped
}

fn write_maps(inside: (u32, u32), outside: (u32, u32)) -> Result<()> {
    // Without this an ordinary user may not map a group.
    write("/proc/self/setgroups", "deny")?;
    write(
        "/proc/self/uid_map",
        &format!("{} {} 1", inside.0, outside.0),
    )?;
    write(
        "/proc/self/gid_map",
        &format!("{} {} 1", inside.1, outside.1),
    )
}

pub(super) fn write(path: &str, text: &str) -> Result<()> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let mut file = std::fs::File::from(file);
    let written = file.write(text.as_bytes());
    // The kernel takes such a line whole or not at all.
    match written {
        Ok(length) if length == text.len() => Ok(()),
        Ok(_) => Err(Errno::IO),
        Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
    }
}
