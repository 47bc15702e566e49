//! How a process is to be started, and how it ended.

use crate::{Resources, Walls};

/// Everything that a new process needs, decided before it exists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchPlan {
    /// The program's absolute path.
    pub program: Vec<u8>,
    /// Its arguments, with its own name first.
    pub argv: Vec<Vec<u8>>,
    /// Its environment, as `NAME=VALUE`.
    pub env: Vec<Vec<u8>>,
    /// Its working directory.
    pub cwd: Vec<u8>,
    /// The name of the cgroup to start it in, below the keeper's own; empty
    /// for none. Where cgroups cannot be had, it starts without.
    pub cgroup: String,
    /// What it may use.
    pub resources: Resources,
    /// Whether its standard input is a terminal that becomes its own: Ctrl+C
    /// there reaches it, and so does its closing.
    pub takes_terminal: bool,
    /// The walls around it; none starts it as a plain child.
    pub walls: Option<Walls>,
}

/// How a process ended, as the kernel says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitStatus {
    /// With this code.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
    /// It ended and nobody could learn how.
    Unknown,
}
