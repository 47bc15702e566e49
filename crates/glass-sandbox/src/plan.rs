//! From rights to mounts.

use std::path::{Path, PathBuf};

use glass_model::{WallBuild, Walls};

use crate::{Effective, EnvChanges, Placeholder, PlanKey, Refusal, Settings, Workspace};

/// What only the caller knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Shellglass's own directories and sockets: always hidden.
    pub own: Vec<PathBuf>,
    /// The session's private directory for temporary files; what is put on
    /// `/tmp` and `/var/tmp`. It exists, is the caller's, and serves only
    /// shells with this plan's key.
    pub private_tmp: PathBuf,
    /// What is shown read-only although it lies in a hidden place: the
    /// session's control directory, its page in the terminals folder.
    pub shown: Vec<PathBuf>,
    /// The best walls that can be had here; none where there are no walls.
    pub build: Option<WallBuild>,
}

/// A sandbox, decided.
#[derive(Debug)]
pub struct Plan {
    /// The walls; none where no sandbox was asked for.
    pub walls: Option<Walls>,
    /// How the environment changes.
    pub env: EnvChanges,
    /// What was made so that masks have something to stand on.
    pub placeholders: Vec<Placeholder>,
    /// What people should know about this sandbox.
    pub notes: Vec<String>,
    /// Two plans with the same key can use the same shell.
    pub key: PlanKey,
}

/// Decides the walls for these rights.
pub fn plan(
    effective: &Effective,
    workspace: &Workspace,
    facts: &Facts,
    settings: &Settings,
) -> Result<Plan, Refusal> {
    let _ = settings;
    Ok(Plan {
        walls: None,
        env: EnvChanges::default(),
        placeholders: Vec::new(),
        notes: Vec::new(),
        key: crate::key(effective, workspace, facts),
    })
}

impl Plan {
    /// Whether a command may begin in this directory.
    pub fn admits(&self, cwd: &Path) -> Result<(), Refusal> {
        let _ = cwd;
        Ok(())
    }
}
