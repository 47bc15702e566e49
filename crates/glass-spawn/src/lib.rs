//! Starts processes, keeps them when the daemon is gone, and ends whole trees
//! of them.
//!
//! # How it works
//!
//! A *keeper* is a small process of its own. It starts every child through a
//! *reaper*, a forked copy of itself that adopts whatever the child leaves
//! behind, so that a launch's process tree is always closed. The keeper holds
//! duplicates of the descriptors that a daemon needs to go on reading after a
//! crash. The daemon talks to it over a Unix socket, through [`Keeper`];
//! the process itself runs [`keeper::run`].
//!
//! Ending a tree ([`tree::end`]) needs no keeper: everything below the reaper
//! is stopped until nothing new appears, and is then killed.
//!
//! # The protocol's version
//!
//! Both sides begin with the version that they speak and the oldest that they
//! still understand; they go on when neither's version is below the other's
//! oldest. Fields that are not known are skipped and requests that are not
//! known are refused one by one, so an older keeper's children can be adopted
//! by a newer daemon.

pub mod activity;
mod aside;
mod cgroup;
mod channel;
mod client;
mod cover;
mod features;
#[cfg(fuzzing)]
pub mod fuzzing;
pub mod keeper;
mod limits;
mod process;
mod procfs;
mod report;
mod stage;
#[allow(unsafe_code, reason = "forking; see the module's invariant")]
mod sys;
pub mod terminal;
pub mod tree;
mod walls;
mod wire;

pub use aside::{Aside, Streams};
pub use cgroup::oom_kills;
pub use client::{
    ConnectError, HeldError, Keeper, KeeperEvent, KeeperGone, Launch, LaunchInfo, Launched,
    SpawnError, StartError, start_keeper,
};
pub use cover::{CoverError, cover};
pub use features::{Features, Support};
pub use limits::{
    GATE_FD, GATE_WORD, KEEPER_IDLE, KEEPER_UNCLAIMED, PROTOCOL_OLDEST, PROTOCOL_VERSION,
};
pub use process::{Delivery, ProcessRef};
pub use stage::Stage;
pub use sys::{async_fd, give_memory_back, settle_names};
pub use tree::peer_descends_from;
#[cfg(feature = "weak-walls")]
pub use walls::wall_is_off;
