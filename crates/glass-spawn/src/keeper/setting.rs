//! What a keeper changes in its own process, and what children get instead.

use std::cell::OnceCell;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::{DumpableBehavior, Resource};

use super::KeeperError;
use crate::cgroup::{self, CgroupRoot};
use crate::sys;
use crate::walls::Users;

/// The keeper's surroundings, once they are ready.
#[derive(Debug)]
pub(super) struct Setting {
    /// SIGCHLD and SIGTERM.
    pub signals: OwnedFd,
    /// Where reapers' reports arrive.
    pub reports: OwnedFd,
    /// Where reapers send them.
    pub reports_sender: OwnedFd,
    /// For the standard descriptors that a launch does not bring.
    pub null: OwnedFd,
    /// The limit on open files that children get.
    pub nofile: libc::rlimit,
    /// Whether children's liability to be killed for memory must be reset.
    pub resets_oom_score: bool,
    /// Where cgroups can be made, if anywhere.
    pub cgroups: Option<CgroupRoot>,
    /// Who root is behind walls; made when it is first needed.
    pub users: OnceCell<Option<Users>>,
}

impl Setting {
    /// Makes this process a keeper.
    pub fn prepare() -> Result<Setting, KeeperError> {
        let failed = |what| move |errno: rustix::io::Errno| setup_error(what, errno.into());
        // Fails where we lead a session already, which is as good.
        let _ = rustix::process::setsid();
        sys::settle_signals();
        let signals = sys::signal_queue().map_err(|e| setup_error("wait for signals", e))?;
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
            .map_err(failed("adopt orphans"))?;
        // Other programs of this user must not reach in and take what is held.
        rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
            .map_err(failed("protect the process"))?;
        let (reports, reports_sender) = rustix::net::socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )
        .map_err(failed("make a socket for reports"))?;
        // Only our end: a reaper may wait until its report fits.
        rustix::fs::fcntl_setfl(&reports, OFlags::NONBLOCK)
            .map_err(failed("make a socket for reports"))?;
        let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
            .map_err(failed("open /dev/null"))?;
        Ok(Setting {
            signals,
            reports,
            reports_sender,
            null,
            nofile: raise_nofile(),
            resets_oom_score: oom_score_was_changed(),
            cgroups: CgroupRoot::find().inspect(cgroup::enable),
            users: OnceCell::new(),
        })
    }
}

impl Setting {
    /// Who root is behind walls, if we are root and can make it somebody else.
    pub fn users(&self) -> Option<&Users> {
        let make = || {
            let root = rustix::process::geteuid().is_root();
            let users = root.then(Users::make)?;
            users
                .inspect_err(|errno| tracing::warn!(%errno, "root stays root behind walls"))
                .ok()
        };
        self.users.get_or_init(make).as_ref()
    }
}

fn setup_error(what: &'static str, source: io::Error) -> KeeperError {
    KeeperError::Setup { what, source }
}

/// Lets this process open as many files as it may, and gives what it had.
fn raise_nofile() -> libc::rlimit {
    let had = rustix::process::getrlimit(Resource::Nofile);
    let raised = rustix::process::Rlimit {
        current: had.maximum,
        maximum: had.maximum,
    };
    if let Err(errno) = rustix::process::setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%errno, "the limit on open files stays as it is");
    }
    libc::rlimit {
        rlim_cur: had.current.unwrap_or(libc::RLIM_INFINITY),
        rlim_max: had.maximum.unwrap_or(libc::RLIM_INFINITY),
    }
}

fn oom_score_was_changed() -> bool {
    fs::read_to_string("/proc/self/oom_score_adj").is_ok_and(|score| score.trim() != "0")
}
