//! The walls around a launch, built in the process that is to live behind
//! them, before it executes anything.
//!
//! # How they are built
//!
//! The *builder* is a forked copy of the reaper. It leaves its namespaces for
//! new ones, forks *init*, the first process of the new PID namespace, makes a
//! root directory from copies of the host's mounts, and enters it. Every source is opened by descriptor before anything is covered,
//! without following symbolic links, and compared with what the plan expects.
//! Then it forks the *shell*, which is made the reaper's child, so that its end is known as
//! exactly as without walls. The shell gives up all privileges, enters a
//! Landlock domain, filters its own system calls and executes its program.
//!
//! # Invariants
//!
//! Any step that fails ends the launch with its own name: nothing is ever
//! started behind fewer walls than were asked for. After the fork, code here
//! makes system calls and allocates; it touches no lock of the keeper's, no
//! environment and no standard stream.

use rustix::io::Errno;

use crate::stage::Stage;

mod build;
mod devices;
mod filter;
mod furniture;
mod handover;
mod identity;
mod init;
mod landlock;
mod layout;
mod names;
mod place;
mod privileges;
mod probe;
mod supervisor;
mod tree;
mod users;
#[cfg(feature = "weak-walls")]
mod weak;

pub(crate) use build::{gather, raise, separate};
pub(crate) use handover::pair;
pub(crate) use init::run as run_init;
pub(crate) use landlock::Rules;
pub(crate) use layout::{LayoutError, Plan};
#[cfg(fuzzing)]
pub(crate) use names::split as split_path;
pub(crate) use privileges::{confine, enter_landlock_only};
pub(crate) use probe::probe;
pub(crate) use users::{Users, hand_over};

/// Whether a wall is switched off for a test. Never in an ordinary build.
#[cfg(feature = "weak-walls")]
pub use weak::wall_is_off;

/// Always stands: only a test-only build can switch a wall off.
#[cfg(not(feature = "weak-walls"))]
pub(crate) fn wall_is_off(_name: &str) -> bool {
    false
}

/// A step that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Which.
    pub stage: Stage,
    /// Why.
    pub errno: Errno,
    /// Which mount of the plan it was about, counted from 1.
    pub detail: u32,
}

/// Names the step that a system call belongs to.
pub(crate) trait At<T> {
    /// As a failure of this step.
    fn at(self, stage: Stage) -> Result<T, Failure>;
}

impl<T> At<T> for rustix::io::Result<T> {
    fn at(self, stage: Stage) -> Result<T, Failure> {
        self.map_err(|errno| Failure {
            stage,
            errno,
            detail: 0,
        })
    }
}
