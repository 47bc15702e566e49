//! A `/dev` with the few devices that harm nobody and terminals of its own.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::Mode;
use rustix::io::Result;
use rustix::mount::{FsOpenFlags, MountAttrFlags, fsconfig_set_string, fsopen};

use super::build::scratch;
use super::furniture::{Furniture, attach, change, make_file, mount_new};
use super::landlock::Rules;
use super::place;
use super::tree::Copier;
use crate::sys::kernel::{NO_EXECUTE, NO_SUID, READ_ONLY};

/// The devices, by their names below `/dev`.
const DEVICES: [&CStr; 6] = [c"null", c"zero", c"full", c"random", c"urandom", c"tty"];

/// Links, and where they lead.
const LINKS: [(&CStr, &CStr); 5] = [
    (c"fd", c"/proc/self/fd"),
    (c"stdin", c"/proc/self/fd/0"),
    (c"stdout", c"/proc/self/fd/1"),
    (c"stderr", c"/proc/self/fd/2"),
    (c"ptmx", c"pts/ptmx"),
];

/// Bytes that shared memory below `/dev/shm` may take.
const SHARED_MEMORY_BYTES_MAX: u64 = 1 << 30;

/// The host's devices, opened before its `/dev` is covered.
pub(super) struct Devices(Vec<(&'static CStr, OwnedFd)>);

impl Devices {
    /// Copies them from the host's tree.
    pub fn open(host: BorrowedFd<'_>, copier: &Copier) -> Result<Devices> {
        let directory = place::find(host, c"dev")?;
        let copies = DEVICES.into_iter().map(|name| {
            let device = place::find(directory.as_fd(), name)?;
            let copy = copier.copy_device(device.as_fd())?;
            change(copy.as_fd(), NO_SUID | NO_EXECUTE)?;
            Ok((name, copy))
        });
        copies.collect::<Result<_>>().map(Devices)
    }
}

/// Makes `/dev` below the new root.
pub(super) fn furnish(
    root: BorrowedFd<'_>,
    devices: Devices,
    furniture: &mut Furniture,
    rules: &mut Rules,
) -> Result<()> {
    let dev = furniture.empty(Mode::from_raw_mode(0o755))?;
    attach(dev.as_fd(), place::find(root, c"dev")?.as_fd())?;
    for (name, device) in devices.0 {
        make_file(dev.as_fd(), name, Mode::from_raw_mode(0o666))?;
        attach(device.as_fd(), place::find(dev.as_fd(), name)?.as_fd())?;
    }
    for (name, target) in LINKS {
        rustix::fs::symlinkat(target, &dev, name)?;
    }
    for name in [c"pts", c"shm"] {
        rustix::fs::mkdirat(&dev, name, Mode::from_raw_mode(0o755))?;
    }
    let terminals = terminals()?;
    attach(terminals.as_fd(), place::find(dev.as_fd(), c"pts")?.as_fd())?;
    let memory = scratch(SHARED_MEMORY_BYTES_MAX)?;
    attach(memory.as_fd(), place::find(dev.as_fd(), c"shm")?.as_fd())?;
    rules.allow_writing(memory.as_fd())?;
    rules.allow_devices(dev.as_fd())?;
    change(dev.as_fd(), READ_ONLY | NO_SUID)
}

/// Pseudo-terminals that have nothing to do with the host's.
fn terminals() -> Result<OwnedFd> {
    let context = fsopen("devpts", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, "mode", "0620")?;
    fsconfig_set_string(&context, "ptmxmode", "0666")?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    mount_new(context, attributes)
}
