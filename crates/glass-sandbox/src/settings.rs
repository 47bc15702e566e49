//! What the configuration says about sandboxes. Plain data.

use std::path::{Path, PathBuf};

use glass_model::{Resources, SandboxKind, SandboxPolicy, WallBuild};

use crate::listing::Listings;
use crate::place::{Place, absolute};
use crate::{defaults, pattern};

/// Processes and threads of one shell behind walls, where nobody says otherwise:
/// more than builds and browsers use, and few enough for a machine to live with.
const TASKS_MAX: u64 = 4096;

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

impl Settings {
    /// The home directory without symbolic links.
    pub(crate) fn home_place(&self) -> Option<PathBuf> {
        let home = self.home.as_deref().filter(|home| home.is_absolute())?;
        Some(std::fs::canonicalize(home).unwrap_or_else(|_| home.to_path_buf()))
    }

    /// The paths that entries of a list stand for, existing or not.
    pub(crate) fn paths(&self, list: &[String]) -> Vec<PathBuf> {
        let home = self.home_place();
        let usable = list
            .iter()
            .filter(|entry| home.is_some() || !entry.starts_with('~'));
        usable
            .map(|entry| absolute(entry, Path::new("/"), home.as_deref()))
            .flat_map(|path| pattern::expand(&path))
            .collect()
    }

    /// What is hidden wherever it is, and exists.
    pub(crate) fn hidden_places(&self) -> Vec<Place> {
        let mut home = self.home_place().map(|home| Listings::below(&home));
        let mut paths = self.paths(&self.hidden);
        paths.retain(|path| home.as_mut().is_none_or(|home| home.may_hold(path)));
        paths
            .iter()
            .filter_map(|path| Place::resolve(path).ok())
            .collect()
    }
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
                tasks: Some(TASKS_MAX),
                ..Resources::default()
            },
            minimum_mode: WallBuild::LandlockOnly,
        }
    }
}
