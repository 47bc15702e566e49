//! Plans walls: which rights a command has, and which mounts make them true.
//!
//! The order of things: a [`Workspace`] is found; what was asked for, what the
//! session asked for and the configured default are laid over each other and
//! compared with what the caller may have ([`resolve`]); the result is turned
//! into mounts by looking at the file system ([`plan`]); before each command
//! in a sandbox that lives, [`verify`] looks whether its masks still stand;
//! after it, [`denials`] says what the walls refused.
//!
//! Nothing here starts a process or builds a wall, and nothing reads the
//! environment: what is needed is passed in. The file system is read, and
//! written only where a mask needs something to stand on (a [`Placeholder`]).
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a failing test panics"))]

mod bell;
mod crossing;
mod defaults;
mod denial;
mod draft;
mod effective;
mod environment;
mod git;
mod ignored;
mod landlock;
mod layout;
mod listing;
mod pattern;
mod place;
mod placeholder;
mod plan;
mod planted;
mod refusal;
mod report;
mod settings;
mod sockets;
mod system;
mod verify;
mod wider;
mod workspace;

pub use crossing::{believed_in, crossing, grows, is_obeyed, safe_directory};
pub use denial::denials;
pub use effective::{Effective, resolve};
pub use environment::EnvChanges;
pub use ignored::mapped;
pub use pattern::matches;
pub use place::Place;
pub use placeholder::Placeholder;
pub use plan::{Facts, Plan, plan};
pub use planted::{Distrust, Look, Makers, Repositories, distrust, protectable};
pub use refusal::Refusal;
pub use report::{debug_denials, debug_report};
pub use settings::{GitLevel, Settings};
pub use verify::{Verification, is_settled, verify};
pub use workspace::Workspace;
