//! What the configuration says about sandboxes. Plain data.

use std::path::PathBuf;

use glass_model::{Resources, SandboxKind, SandboxPolicy, WallBuild};

use crate::defaults;

/// How much of git is protected inside a writable sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum GitLevel {
    /// Nothing.
    None,
    /// What git executes or believes: hooks, configuration, pointers. Commits
    /// are possible.
    #[default]
    HooksAndConfig,
    /// Everything that `.git` resolves to.
    All,
}

/// The settings of the sandbox. Paths may begin with `~/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What holds where nobody asked for anything else.
    pub default: SandboxPolicy,
    /// The widest that an agent may ask for without approval.
    pub grant: SandboxPolicy,
    /// Directories that may be workspaces, with everything below them; a
    /// component may have `*`. Empty means any directory but `/`, the home
    /// directory, what contains it, and the system's own. `/` and the home
    /// directory must be listed by themselves to count.
    pub workspaces: Vec<String>,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// What is unreadable inside, wherever it is.
    pub hidden: Vec<String>,
    /// What is unwritable inside, even where a writable path contains it.
    pub readonly: Vec<String>,
    /// What is unwritable in a workspace, relative to it, when it is there.
    pub workspace_readonly: Vec<String>,
    /// What must not come to be in a workspace, relative to it, because it
    /// would be believed later; unwritable when it is there.
    pub workspace_reserved: Vec<String>,
    /// Variables that do not enter a sandbox; `*` stands for anything.
    pub scrub: Vec<String>,
    /// How much of git is protected where `block_git_writes` is not asked for.
    pub git: GitLevel,
    /// What one command may use.
    pub resources: Resources,
    /// The weakest walls that may be used.
    pub minimum_mode: WallBuild,
}

impl Default for Settings {
    fn default() -> Settings {
        let policy = SandboxPolicy {
            kind: SandboxKind::WorkspaceReadWrite,
            network_access: Some(false),
            block_git_writes: Some(false),
            disable_tmp_write: Some(false),
            ..SandboxPolicy::default()
        };
        let owned =
            |list: &[(&str, &str)]| list.iter().map(|(name, _)| (*name).to_owned()).collect();
        Settings {
            default: policy.clone(),
            grant: policy,
            workspaces: Vec::new(),
            home: None,
            hidden: owned(defaults::HIDDEN),
            readonly: owned(defaults::READONLY),
            workspace_readonly: owned(defaults::WORKSPACE_READONLY),
            workspace_reserved: owned(defaults::WORKSPACE_RESERVED),
            scrub: defaults::SCRUB
                .iter()
                .map(|name| (*name).to_owned())
                .collect(),
            git: GitLevel::default(),
            resources: Resources {
                core_bytes: Some(0),
                ..Resources::default()
            },
            minimum_mode: WallBuild::LandlockOnly,
        }
    }
}
