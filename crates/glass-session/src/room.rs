//! A room: the place of all commands of a session that have the same rights. It
//! has its own warm shell, its own directory for pipes, and its own walls.

use crate::sandbox::Enclosure;
use crate::shell::WarmShell;
use crate::state::RoomId;
use glass_model::{SandboxKind, SandboxPolicy};
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// The key of the room without walls.
const BARE_KEY: &str = "bare";

/// What the commands with certain rights share.
pub(crate) struct Room {
    pub(crate) id: RoomId,
    /// Tells rooms apart, also for the next daemon.
    pub(crate) key: String,
    /// The rights of its commands; not known of a room that the last daemon
    /// left, until a command comes.
    pub(crate) policy: Option<SandboxPolicy>,
    /// Where its shell finds its pipes and leaves what it exports.
    pub(crate) dir: PathBuf,
    pub(crate) shell: Option<WarmShell>,
    /// Its walls, once they are planned.
    pub(crate) enclosure: Option<Enclosure>,
    /// What its last shell exported, once that is known; a room that has none
    /// is given what may cross from the room before it.
    pub(crate) env: Option<Vec<Vec<u8>>>,
    /// Where its shell is.
    pub(crate) cwd: Option<String>,
    /// Whether the shell's death is our doing, so that its code means nothing.
    pub(crate) shell_killed: bool,
    /// Whether the last command may have changed what the shell exports, and
    /// the shell has not been asked since.
    pub(crate) exports_unsure: bool,
    /// Whether the shell was asked what it exports and has not answered.
    pub(crate) exports_asked: bool,
}

impl Room {
    pub(crate) fn new(id: RoomId, key: String, session_dir: &std::path::Path) -> Room {
        let dir = if key == BARE_KEY {
            session_dir.to_owned()
        } else {
            session_dir.join(&key)
        };
        Room {
            id,
            key,
            policy: None,
            dir,
            shell: None,
            enclosure: None,
            env: None,
            cwd: None,
            shell_killed: false,
            exports_unsure: false,
            exports_asked: false,
        }
    }
}

/// The key of the room for these rights: equal for equal rights, and safe as a
/// file name.
pub(crate) fn room_key(policy: &SandboxPolicy, workspace: &str) -> String {
    if policy.kind == SandboxKind::InsecureNone {
        return BARE_KEY.to_owned();
    }
    let digest = Sha256::digest(format!("{policy:?} {workspace:?}"));
    digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
