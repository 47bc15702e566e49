//! Init: the first process behind the walls. It gives orphans a home, answers
//! for calls that the filter cannot decide about and, when it is told to from
//! outside, covers places that the host has uncovered.
//!
//! Its end is the end of everything in its namespace, so it ends last. It keeps
//! the power to mount; nothing inside reaches it: it cannot be looked into, no
//! signal from inside gets through. It listens to the daemon, and to the kernel
//! about calls; what it does about those is in `supervisor`.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use prost::Message;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::{Errno, Result};
use rustix::net::{RecvFlags, SendFlags};
use rustix::process::{Pid, PidfdFlags, WaitOptions};

use super::furniture::{Furniture, attach};
use super::layout::{Look, Place, Plan};
use super::supervisor::Supervisor;
use super::{build, handover, place};
use crate::cover::{COVER_BYTES_MAX, is_cover};
use crate::sys::kernel::{self, Change, NO_DEVICES, NO_SUID, READ_ONLY, Reach};
use crate::wire::{self, Cover, Covered};

/// The shell's number in its own namespace: it is made right after init.
const SHELL_PID: i32 = 2;

/// Time between two looks whether orphans are left, while they may ask.
const ORPHANS_LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};

/// Mounts that one request may have.
const COVER_MOUNTS_MAX: usize = 4096;

/// Lives as init until nothing else does. The builder is at the other end of
/// `builder` until the shell is there; when it goes before, so does init.
pub(crate) fn run(builder: OwnedFd, control: Option<OwnedFd>, plan: &Plan) {
    kernel::set_name(c"glass-init");
    let proc = build::make_proc();
    let made = proc.as_ref().map(AsFd::as_fd).map_err(|errno| *errno);
    if handover::send(&builder, made).is_err() {
        return;
    }
    drop(proc);
    let Ok(furniture) = handover::receive(&builder) else {
        return;
    };
    let furniture = Furniture::of(furniture);
    // From the shell, when it is about to execute its program. Nothing comes
    // where calls cannot be listened to, or the shell never will be there.
    let listener = handover::receive(&builder).ok();
    drop(builder);
    let mut supervisor = listener.map(|listener| Supervisor::new(listener, plan));
    if let Some(pid) = Pid::from_raw(SHELL_PID)
        && let Ok(shell) = rustix::process::pidfd_open(pid, PidfdFlags::empty())
    {
        serve(shell.as_fd(), control, &furniture, &mut supervisor);
    }
    wait_for_orphans(supervisor.as_mut());
}

/// Returns when no child is left; they need not be waited for. Until then they
/// may still ask.
fn wait_for_orphans(supervisor: Option<&mut Supervisor>) {
    let lives = |how| !matches!(rustix::process::wait(how), Err(Errno::CHILD));
    if let Some(supervisor) = supervisor {
        while lives(WaitOptions::NOHANG) {
            let mut fds = [PollFd::new(supervisor, PollFlags::IN)];
            let asked = rustix::event::poll(&mut fds, Some(&ORPHANS_LOOK));
            match fds[0].revents() {
                flags if asked.is_err() || flags.is_empty() => {}
                PollFlags::IN => supervisor.serve_one(),
                _ => break,
            }
        }
    }
    while lives(WaitOptions::empty()) {}
}

/// Covers places and answers for calls until the shell has ended.
fn serve(
    shell: BorrowedFd<'_>,
    mut control: Option<OwnedFd>,
    furniture: &Furniture,
    supervisor: &mut Option<Supervisor>,
) {
    loop {
        let mut fds = vec![PollFd::from_borrowed_fd(shell, PollFlags::IN)];
        fds.extend(supervisor.iter().map(|it| PollFd::new(it, PollFlags::IN)));
        fds.extend(control.iter().map(|fd| PollFd::new(fd, PollFlags::IN)));
        match rustix::event::poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
        let mut found = fds.iter().map(PollFd::revents);
        let ended = found.next().is_some_and(|flags| !flags.is_empty());
        let calls = supervisor.as_ref().and_then(|_| found.next());
        let asked = found.next().is_some_and(|flags| !flags.is_empty());
        if ended {
            return;
        }
        match calls {
            Some(flags) if flags.contains(PollFlags::IN) => {
                supervisor.iter_mut().for_each(Supervisor::serve_one);
            }
            // Nobody is left who could ask.
            Some(flags) if !flags.is_empty() => *supervisor = None,
            _ => {}
        }
        let over = asked
            && control
                .as_ref()
                .is_some_and(|fd| !serve_one(fd.as_fd(), furniture));
        if over {
            control = None;
        }
    }
}

/// Serves one request, and tells whether another can come.
fn serve_one(control: BorrowedFd<'_>, furniture: &Furniture) -> bool {
    let mut buffer = vec![0; COVER_BYTES_MAX + 1];
    let received = rustix::net::recv(control, buffer.as_mut_slice(), RecvFlags::DONTWAIT);
    let length = match received {
        Ok((0, _)) => return false,
        Ok((length, _)) => length,
        Err(Errno::AGAIN | Errno::INTR) => return true,
        Err(_) => return false,
    };
    let request = buffer.get(..length).unwrap_or_default();
    let Ok(request) = wire::decode::<Cover>(request) else {
        return true;
    };
    let (errno, index) = match cover_all(&request, furniture) {
        Ok(()) => (0, 0),
        Err((errno, index)) => (errno.raw_os_error(), index),
    };
    let answer = Covered {
        number: request.number,
        errno,
        index,
    };
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    // Who does not take its answer finds out by its own deadline.
    let _ = rustix::net::send(control, &answer.encode_to_vec(), flags);
    true
}

fn cover_all(request: &Cover, furniture: &Furniture) -> std::result::Result<(), (Errno, u32)> {
    if request.mounts.len() > COVER_MOUNTS_MAX {
        return Err((Errno::TOOBIG, 0));
    }
    let root = place::root().map_err(|errno| (errno, 0))?;
    for (mount, index) in request.mounts.iter().zip(0u32..) {
        let mount = mount.clone().understood().filter(is_cover);
        let place = mount.and_then(|mount| Place::new(&mount, false).ok());
        let place = place.ok_or((Errno::INVAL, index))?;
        match cover(root.as_fd(), &place, furniture) {
            // What is gone by now shows nobody anything.
            Err(Errno::NOENT) if place.look == Look::Blank => {}
            covered => covered.map_err(|errno| (errno, index))?,
        }
    }
    Ok(())
}

fn cover(root: BorrowedFd<'_>, place: &Place, furniture: &Furniture) -> Result<()> {
    let target = match place::find(root, &place.path) {
        // Where we find no way, nobody behind these walls does. Sockets of
        // others come and go while we are told about them, and may lie where
        // only they can go.
        Err(Errno::ACCESS | Errno::NOTDIR) if place.look == Look::Blank => return Ok(()),
        target => target?,
    };
    let stat = rustix::fs::fstat(&target)?;
    if stat.st_dev == furniture.device()? {
        // It is blank or empty already.
        return Ok(());
    }
    let id = place::identity(&stat);
    // Whatever is at a place that is hidden is hidden.
    let is_expected = place.expected.is_none_or(|expected| expected == id);
    if !is_expected && place.look != Look::Blank {
        return Err(Errno::STALE);
    }
    let mount = if place.look == Look::Blank {
        furniture.blank(place::kind(&stat))?
    } else {
        let copy = place::copy(target.as_fd())?;
        let change = Change {
            set: READ_ONLY | NO_SUID | NO_DEVICES,
            ..Change::default()
        };
        kernel::change_mount(copy.as_fd(), Reach::Below, change)?;
        copy
    };
    attach(mount.as_fd(), target.as_fd())
}
