//! Tries what walls can be made of, in a process that ends afterwards: what a
//! kernel is and how it is configured says too little about what it allows.

use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::{Errno, Result};
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, WaitOptions};

use super::filter::{self, Facts, Supervised};
use super::landlock::Rules;
use super::tree::Copier;
use super::users::Users;
use super::{build, identity, place};
use crate::cgroup::{CgroupRoot, Controller, try_out};
use crate::features::{
    CGROUP_MEMORY, CGROUP_PIDS, IDMAP, LANDLOCK, MOUNT_NS, NET_NS, PID_NS, SECCOMP, USER_NS,
    feature,
};
use crate::sys::{self, kernel};
use crate::wire::FeaturesMessage;

/// Time for all of it. It takes a few milliseconds.
const PROBE_WAIT: Duration = Duration::from_secs(2);

/// What is tried in the other process, in the order in which it is.
const TRIED: [&str; 6] = [USER_NS, MOUNT_NS, NET_NS, PID_NS, LANDLOCK, SECCOMP];

/// Bytes of one result: the kernel's number for why not, or 0.
const RESULT_BYTES: usize = 4;

/// Finds out what works. Blocks for a few milliseconds.
pub(crate) fn probe(cgroups: Option<&CgroupRoot>) -> FeaturesMessage {
    let results = try_all();
    let mut features: Vec<_> = TRIED
        .into_iter()
        .zip(results)
        .map(|(name, result)| feature(name, result.map_err(|errno| why(name, errno))))
        .collect();
    for (name, controller) in [
        (CGROUP_MEMORY, Controller::Memory),
        (CGROUP_PIDS, Controller::Processes),
    ] {
        let tried = try_out(cgroups, controller);
        features.push(feature(
            name,
            tried.map(|()| 0).map_err(|error| error.to_string()),
        ));
    }
    let idmap = try_users().map(|()| 0);
    features.push(feature(IDMAP, idmap.map_err(|errno| why(IDMAP, errno))));
    FeaturesMessage { features }
}

fn why(name: &str, errno: Errno) -> String {
    let error = std::io::Error::from(errno);
    match (name, errno) {
        (LANDLOCK, Errno::NOSYS) => "this kernel was built without it".to_owned(),
        (LANDLOCK, Errno::OPNOTSUPP) => "it is switched off (see the kernel's lsm=)".to_owned(),
        (USER_NS | MOUNT_NS | PID_NS | NET_NS, Errno::PERM | Errno::ACCESS) => {
            format!("{error}; the system may restrict user namespaces (AppArmor, sysctl)")
        }
        _ => error.to_string(),
    }
}

/// The results in order; what the other process did not get to is unknown.
fn try_all() -> [Result<u32>; TRIED.len()] {
    let mut results = [Err(Errno::CHILD); TRIED.len()];
    let Ok((reader, writer)) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC) else {
        return results;
    };
    let Ok(pid) = sys::fork_apart(|| tell_all(writer.as_fd())) else {
        return results;
    };
    drop(writer);
    let bytes = read_in_time(reader);
    let version = kernel::landlock_version().unwrap_or(0);
    for ((result, bytes), name) in results
        .iter_mut()
        .zip(bytes.chunks_exact(RESULT_BYTES))
        .zip(TRIED)
    {
        let errno = bytes.try_into().map_or(libc::EIO, i32::from_ne_bytes);
        *result = match errno {
            0 if name == LANDLOCK => Ok(version),
            0 => Ok(0),
            errno => Err(Errno::from_raw_os_error(errno)),
        };
    }
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        let _ =
            rustix::io::retry_on_intr(|| rustix::process::waitpid(Some(pid), WaitOptions::empty()));
    }
    results
}

fn read_in_time(reader: OwnedFd) -> Vec<u8> {
    let deadline = Instant::now() + PROBE_WAIT;
    let mut bytes = Vec::new();
    let mut file = std::fs::File::from(reader);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        let mut fds = [PollFd::new(&file, PollFlags::IN)];
        match rustix::event::poll(&mut fds, Some(&timeout)) {
            Err(Errno::INTR) => continue,
            Ok(0) | Err(_) => return bytes,
            Ok(_) => {}
        }
        let mut part = [0; RESULT_BYTES * TRIED.len()];
        match file.read(&mut part) {
            Ok(0) | Err(_) => return bytes,
            Ok(length) => bytes.extend(part.get(..length).unwrap_or_default()),
        }
    }
}

/// Tries everything and writes each result. In the other process.
fn tell_all(writer: std::os::fd::BorrowedFd<'_>) {
    let Ok(writer) = rustix::io::dup(writer) else {
        return;
    };
    let mut writer = std::fs::File::from(writer);
    let mut tell = |result: Result<()>| {
        let errno = result.err().map_or(0, Errno::raw_os_error);
        let _ = writer.write_all(&errno.to_ne_bytes());
    };
    let user = identity::try_user();
    tell(user);
    // The others need a user's namespace around them.
    let after = |result: Result<()>| user.and(result);
    let mounts =
        after(kernel::leave_namespaces(libc::CLONE_NEWNS)).and_then(|()| build::privatise());
    let network =
        after(kernel::leave_namespaces(libc::CLONE_NEWNET)).and_then(|()| kernel::raise_loopback());
    let pids = mounts.and_then(|()| try_pids());
    let mounts = mounts.and_then(|()| try_root());
    for result in [mounts, network, pids] {
        tell(result);
    }
    let apart = rustix::thread::set_no_new_privs(true);
    tell(apart.and_then(|()| Rules::new()?.enter()));
    tell(apart.and_then(|()| try_filter()));
}

/// Whether a copy of the host's tree can be made the root.
fn try_root() -> Result<()> {
    let tree = Copier::Whole.copy(place::root()?.as_fd(), c"")?;
    build::change_root(tree).map(drop)
}

/// Whether a new PID namespace can have a `/proc`.
fn try_pids() -> Result<()> {
    kernel::leave_namespaces(libc::CLONE_NEWPID)?;
    let pid = sys::fork_apart_with_code(|| match build::make_proc() {
        Ok(_) => 0,
        Err(errno) => errno.raw_os_error(),
    })?;
    let pid = Pid::from_raw(pid).ok_or(Errno::CHILD)?;
    let waited = rustix::process::waitpid(Some(pid), WaitOptions::empty())?;
    match waited.and_then(|(_, status)| status.exit_status()) {
        Some(0) => Ok(()),
        Some(errno) => Err(Errno::from_raw_os_error(errno)),
        None => Err(Errno::CHILD),
    }
}

/// Whether the file system of `/` can be seen through other users' eyes.
fn try_users() -> Result<()> {
    let users = Users::make()?;
    let copier = Copier::each(users.mounts.as_fd())?;
    copier.copy(place::root()?.as_fd(), c"").map(drop)
}

/// Whether a filter refuses what it should.
fn try_filter() -> Result<()> {
    let facts = Facts {
        namespaces: true,
        network: false,
        root: false,
        supervised: Supervised::Nothing,
    };
    kernel::filter_calls(&filter::whole(facts))?;
    match kernel::leave_namespaces(libc::CLONE_NEWUTS) {
        Err(Errno::PERM) => Ok(()),
        _ => Err(Errno::OPNOTSUPP),
    }
}
