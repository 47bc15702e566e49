//! What the keeper knows of one launch.

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;

use glass_model::WaitStatus;

use crate::process::ProcessRef;
use crate::wire;

/// Who waits to hear that a launch began: a request of a connection, which
/// may have been replaced since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asker {
    /// Which connection, counted from the first.
    pub connection: u64,
    /// Which of its requests.
    pub seq: u64,
}

/// One launch.
#[derive(Debug)]
pub(super) struct Record {
    pub reaper: ProcessRef,
    /// Absent for the moment in which the reaper forks.
    pub child: Option<ProcessRef>,
    /// The first process of the child's own namespace, behind walls.
    pub init: Option<ProcessRef>,
    pub cgroup: Option<PathBuf>,
    /// Further groups that only limit it, where controllers are elsewhere.
    pub limit_groups: Vec<PathBuf>,
    /// Which group counts its memory.
    pub memory: Option<PathBuf>,
    pub tag: Vec<u8>,
    pub held: Vec<(String, Arc<OwnedFd>)>,
    /// Present until the child has begun or failed to.
    pub asker: Option<Asker>,
    pub status: Option<WaitStatus>,
    /// Whether the reaper is there, and so perhaps processes below it.
    pub reaper_lives: bool,
    /// Whether nothing of its tree is left.
    pub emptied: bool,
    /// Kept only until its reaper has ended; not shown.
    pub forgotten: bool,
}

impl Record {
    /// As the daemon sees it.
    pub fn info(&self, id: u64) -> wire::Info {
        let bytes = |path: &Option<PathBuf>| {
            let path = path.clone().map(PathBuf::into_os_string);
            path.map(OsStringExt::into_vec).unwrap_or_default()
        };
        wire::Info {
            id,
            child: self.child.map(Into::into),
            reaper: Some(self.reaper.into()),
            init: self.init.map(Into::into),
            cgroup: bytes(&self.cgroup),
            memory: bytes(&self.memory),
            tag: self.tag.clone(),
            status: self.status.map(Into::into),
            labels: self.held.iter().map(|(label, _)| label.clone()).collect(),
            emptied: self.emptied,
        }
    }

    /// Whether a list must wait for it: a reaper that was just forked says
    /// within a moment who its child is.
    pub fn is_nameless(&self) -> bool {
        self.child.is_none() && self.reaper_lives && !self.forgotten
    }

    /// Whether nobody needs it any more.
    pub fn is_over(&self) -> bool {
        self.forgotten && !self.reaper_lives
    }
}
