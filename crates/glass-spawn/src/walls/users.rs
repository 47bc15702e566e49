//! A user of nobody's for what root starts: behind walls that is root by name
//! only. To the host it is a user without a single file.
//!
//! Two user namespaces make that so. In the *inner* one there is that user
//! alone, and each launch has one below it in which that user is called root.
//! The other is for mounts: through it, what is root's on the disk is that
//! user's, in both directions, and everybody else's is as it was. A mount must
//! be made so by the host's root, before it goes inside.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, Result};
use rustix::process::{Pid, Signal, WaitOptions};

use super::identity::write;
use crate::sys::{self, kernel};

/// The user and the group that root is inside: above what systems give to
/// people, services and containers.
pub(super) const NOBODYS: u32 = 1_912_602_624;

/// The file system of pipes without names, as the kernel numbers it.
const PIPES: i64 = 0x5049_5045;

/// Ids that the kernel has.
const ID_MAX: u32 = u32::MAX - 1;

/// The two namespaces. They serve all launches of a keeper.
#[derive(Debug)]
pub(crate) struct Users {
    pub inner: OwnedFd,
    pub mounts: OwnedFd,
}

impl Users {
    /// Makes them. Only the host's root can.
    pub fn make() -> Result<Users> {
        let inner = format!("{NOBODYS} {NOBODYS} 1\n");
        let mounts = format!(
            "0 {NOBODYS} 1\n1 1 {}\n{} {} {}\n",
            NOBODYS - 1,
            NOBODYS + 1,
            NOBODYS + 1,
            ID_MAX - NOBODYS
        );
        Ok(Users {
            inner: namespace(&inner)?,
            mounts: namespace(&mounts)?,
        })
    }
}

/// Makes pipes and terminals the inner root's, so that they can be opened by
/// name (`> /dev/stderr`). Whoever has them open keeps them so.
pub(crate) fn hand_over(given: &[BorrowedFd<'_>]) {
    let owner = rustix::fs::Uid::from_raw(NOBODYS);
    let group = rustix::fs::Gid::from_raw(NOBODYS);
    for fd in given {
        // Not one that has a name on a disk.
        let is_pipe = rustix::fs::fstatfs(fd).is_ok_and(|fs| fs.f_type == PIPES);
        if is_pipe || rustix::termios::isatty(fd) {
            // Without it such a name is refused, and nothing else changes.
            let _ = rustix::fs::fchown(fd, Some(owner), Some(group));
        }
    }
}

/// A user namespace with these maps, in which nobody is.
fn namespace(map: &str) -> Result<OwnedFd> {
    let (ready, tell) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    // It only has to be in the namespace until that is opened here.
    let holder = sys::fork_apart(|| {
        if kernel::leave_namespaces(libc::CLONE_NEWUSER).is_ok() {
            let _ = rustix::io::write(&tell, &[0]);
            std::thread::sleep(HOLD);
        }
    })?;
    drop(tell);
    let made = read_byte(&ready).and_then(|()| {
        write(&format!("/proc/{holder}/uid_map"), map)?;
        write(&format!("/proc/{holder}/gid_map"), map)?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        rustix::fs::open(format!("/proc/{holder}/ns/user"), flags, Mode::empty())
    });
    if let Some(pid) = Pid::from_raw(holder) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
        let wait = || rustix::process::waitpid(Some(pid), WaitOptions::empty());
        let _ = rustix::io::retry_on_intr(wait);
    }
    made
}

/// Time for which a namespace is held open at most.
const HOLD: std::time::Duration = std::time::Duration::from_secs(5);

fn read_byte(pipe: &OwnedFd) -> Result<()> {
    let mut byte = [0];
    match rustix::io::retry_on_intr(|| rustix::io::read(pipe, &mut byte))? {
        1 => Ok(()),
        _ => Err(Errno::PERM),
    }
}
