//! Ends a tree, or what began in it since a moment.
//!
//! Everything meant is stopped first, until nothing new appears: from then on
//! none of it executes another word. Shells are then killed where they stand,
//! because a shell that is asked politely goes on to its next command; what
//! else there is may be asked, and has a little time to leave.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::hunt::Hunt;
use super::scope::Scope;
use crate::process::ProcessRef;
use crate::procfs;

/// How processes are asked to end before they are made to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// SIGINT, then time to leave.
    Interrupt {
        /// How much.
        grace: Duration,
    },
    /// SIGTERM, then time to leave.
    Terminate {
        /// How much.
        grace: Duration,
    },
    /// Not at all.
    Kill,
}

/// What is to be ended.
#[derive(Clone, Debug)]
pub struct TreeEnd {
    /// The tree's root, which adopts orphans; never ended itself.
    pub reaper: ProcessRef,
    /// The root's first child: usually a shell.
    pub child: ProcessRef,
    /// The first process of the child's own namespace, if it has one: orphans
    /// in there are its children, and it is ended only with everything.
    pub init: Option<ProcessRef>,
    /// The shell that the child was started as. A child that has since become
    /// another program is asked as other programs are. Where it is not known,
    /// whatever the child executes is taken for a shell.
    pub shell: Option<PathBuf>,
    /// The cgroup of the whole tree, if it has one.
    pub cgroup: Option<PathBuf>,
    /// Which part.
    pub scope: Scope,
    /// How.
    pub manner: Manner,
    /// How long all of it may take.
    pub deadline: Duration,
}

/// What is left of the tree's child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildLeft {
    /// Nothing.
    Gone,
    /// It was spared, and stopped: whoever asked continues or kills it.
    Stopped,
}

/// A tree, or a part of it, that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Processes that were ended.
    pub processes: usize,
    /// Those of them that were killed.
    pub killed: usize,
    /// What is left of the child.
    pub child: ChildLeft,
}

/// Why a tree could not be ended.
#[derive(Debug, thiserror::Error)]
pub enum EndError {
    /// Processes cannot be seen.
    #[error("/proc does not show processes")]
    NoProc,
    /// They did not go in time: not ours to kill, or stuck in the kernel.
    #[error("processes {pids:?} could not be killed")]
    Unkillable {
        /// Which.
        pids: Vec<i32>,
    },
}

/// Ends what is asked for, and returns when nothing of it lives. Processes
/// that merely wait to be reaped count as gone.
pub fn end(tree: &TreeEnd) -> Result<Ended, EndError> {
    let me = rustix::process::getpid().as_raw_nonzero().get();
    procfs::stat(me).ok_or(EndError::NoProc)?;
    let deadline = Instant::now() + tree.deadline;
    let mut hunt = Hunt::new(tree);
    hunt.freeze(deadline, |_| true);
    let asked = match tree.manner {
        Manner::Interrupt { grace } => Some((libc::SIGINT, grace)),
        Manner::Terminate { grace } => Some((libc::SIGTERM, grace)),
        Manner::Kill => None,
    };
    if let Some((signal, grace)) = asked {
        hunt.ask(signal, deadline.min(Instant::now() + grace));
    }
    hunt.kill(deadline)?;
    Ok(hunt.ended())
}
