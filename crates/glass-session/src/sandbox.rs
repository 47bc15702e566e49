//! What a daemon knows about sandboxes, and the walls of one room.

use crate::context::{Context, make_private};
use crate::errors::NoWalls;
use glass_model::{
    Mount, Resources, Role, SandboxKind, SandboxPolicy, Session, View, WallBuild, Walls,
};
use glass_sandbox::{Effective, Facts, Plan, Refusal, Workspace};
use glass_spawn::Features;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What lets ordinary users have namespaces, where a distribution forbids them.
const USER_NS_SWITCH: &str = "sysctl kernel.apparmor_restrict_unprivileged_userns=0";

/// How a daemon makes sandboxes.
#[derive(Clone, Debug, Default)]
pub struct Sandboxing {
    /// What the configuration says.
    pub settings: glass_sandbox::Settings,
    /// Our own directories and sockets, which no sandbox shows.
    pub own: Vec<PathBuf>,
    /// Variables of our own environment that enter a sandbox; `*` stands for
    /// anything.
    pub inherit: Vec<String>,
}

/// What a shell is started with.
pub(crate) struct Setting {
    pub(crate) env: Vec<Vec<u8>>,
    pub(crate) cwd: String,
    pub(crate) walls: Option<Walls>,
}

/// The walls of a room: what was decided, and what it came to.
pub(crate) struct Enclosure {
    pub(crate) effective: Effective,
    pub(crate) plan: Plan,
    /// Where the policy wants reports.
    reports: Option<OwnedFd>,
}

impl Enclosure {
    /// Plans the walls of a room. Looks at the file system for as long as it
    /// takes.
    pub(crate) fn plan(
        sandboxing: &Sandboxing,
        policy: &SandboxPolicy,
        workspace: &Workspace,
        facts: &Facts,
        room_dir: &Path,
    ) -> Result<Enclosure, Refusal> {
        let settings = &sandboxing.settings;
        // Whether the caller may have these rights was decided when the command
        // was accepted.
        #[cfg_attr(
            not(feature = "weak-walls"),
            expect(unused_mut, reason = "for tests only")
        )]
        let mut effective =
            glass_sandbox::resolve(Some(policy), None, settings, Role::Person, workspace)?;
        #[cfg(feature = "weak-walls")]
        if glass_spawn::wall_is_off("git") {
            effective.git = glass_sandbox::GitLevel::None;
        }
        // What a path led to when the rights were given, it must lead to now: a
        // command may have put a link there since.
        if effective.policy != *policy {
            return Err(Refusal::Path {
                path: workspace.path().to_path_buf(),
                why: "a path of the policy leads elsewhere than when it was granted".to_owned(),
            });
        }
        let reports = policy
            .debug_output_dir
            .as_deref()
            .map(open_directory)
            .transpose()?;
        let mut plan = glass_sandbox::plan(&effective, workspace, facts, settings)?;
        // The shell opens its pipes there, and leaves what it exports.
        plan.show_writable(room_dir, facts)?;
        Ok(Enclosure {
            effective,
            plan,
            reports,
        })
    }

    /// Leaves a report, if the policy asks for any. The commands can write where
    /// it goes, so what they put there is replaced, and no link is followed.
    pub(crate) fn report(&self, name: &str, text: &str) {
        let Some(directory) = &self.reports else {
            return;
        };
        if let Err(error) = write_new_at(directory.as_fd(), Path::new(name), text.as_bytes()) {
            tracing::warn!(%error, name, "a report could not be left");
        }
    }

    /// The walls to build.
    pub(crate) fn walls(&self) -> Option<Walls> {
        self.plan.walls.clone()
    }

    /// All masks, for walls of which nobody knows which still stand.
    pub(crate) fn masks(&self) -> Vec<Mount> {
        let mounts = self.plan.walls.iter().flat_map(|walls| &walls.mounts);
        mounts
            .filter(|mount| matches!(mount.view, View::ReadOnly | View::Hidden))
            .cloned()
            .collect()
    }

    /// The directory to begin in: this one, if it is there inside, or else the
    /// workspace.
    pub(crate) fn directory(&self, cwd: &str, workspace: &Workspace) -> String {
        let cwd = Path::new(cwd);
        let mounts = self.plan.walls.iter().flat_map(|walls| &walls.mounts);
        let private = mounts.rev().find_map(|mount| {
            let View::Other { source } = &mount.view else {
                return None;
            };
            let at = Path::new(std::ffi::OsStr::from_bytes(&mount.path));
            let below = cwd.strip_prefix(at).ok()?;
            Some(Path::new(std::ffi::OsStr::from_bytes(source)).join(below))
        });
        let is_there = match private {
            Some(outside) => outside.is_dir(),
            None => glass_sandbox::safe_directory(cwd, workspace).is_some(),
        };
        let chosen = if is_there { cwd } else { workspace.path() };
        chosen.to_string_lossy().into_owned()
    }
}

impl Context {
    /// The best walls that can be had here and that the configuration accepts.
    pub(crate) fn wall_build(&self) -> Option<WallBuild> {
        let minimum = self.settings.sandboxing.settings.minimum_mode;
        if self.features.has_namespaces() {
            return Some(WallBuild::Namespaces);
        }
        let accepted = minimum == WallBuild::LandlockOnly && self.features.has_landlock_only();
        accepted.then_some(WallBuild::LandlockOnly)
    }

    /// Whether walls for this policy can be built here; never says yes to
    /// weaker ones.
    pub(crate) fn can_enforce(&self, policy: &SandboxPolicy) -> Result<(), NoWalls> {
        let (why, otherwise) = match (policy.kind, self.wall_build()) {
            (SandboxKind::InsecureNone, _)
            | (_, Some(WallBuild::Namespaces))
            | (SandboxKind::WorkspaceReadOnly, Some(WallBuild::LandlockOnly)) => return Ok(()),
            (_, Some(WallBuild::LandlockOnly)) => (
                "a writable workspace needs user namespaces to protect what is in it, and they \
                 cannot be had here; nothing was run",
                "ask for a read-only sandbox ('--sandbox ro')",
            ),
            (_, None) => (
                "no sandbox can be built on this machine; nothing was run",
                "ask for TYPE_INSECURE_NONE ('--sandbox none') if the command may run without \
                 walls",
            ),
        };
        Err(NoWalls {
            why: why.to_owned(),
            hint: format!("allow user namespaces ('{USER_NS_SWITCH}'), or {otherwise}"),
        })
    }

    /// What only we know about a room's walls.
    pub(crate) fn facts(&self, private_tmp: PathBuf, session: &Session) -> Facts {
        let page = self.page_dir(session);
        Facts {
            own: self.settings.sandboxing.own.clone(),
            private_tmp,
            // One that cannot be made cannot be shown.
            shown: page
                .filter(|dir| make_private(dir).is_ok())
                .into_iter()
                .collect(),
            build: self.wall_build(),
            repositories: self.repositories.known(),
        }
    }

    /// What a launch may use.
    pub(crate) fn resources(&self) -> Resources {
        self.settings.sandboxing.settings.resources.clone()
    }
}

/// Opens a directory that has no link on the way to it.
fn open_directory(path: &str) -> Result<OwnedFd, Refusal> {
    let flags = OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(CWD, path, flags, Mode::empty(), resolve).map_err(|error| Refusal::Read {
        path: path.into(),
        source: error.into(),
    })
}

/// Writes a file where commands can write too: whatever they put there is
/// replaced, and not written to.
pub(crate) fn write_new_at(
    directory: BorrowedFd<'_>,
    name: &Path,
    text: &[u8],
) -> std::io::Result<()> {
    use std::io::Write as _;
    match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    let file = rustix::fs::openat(directory, name, flags, mode)?;
    std::fs::File::from(file).write_all(text)
}

/// Whether a policy has walls at all.
pub(crate) fn has_walls(policy: &SandboxPolicy) -> bool {
    policy.kind != SandboxKind::InsecureNone
}

/// Whether a policy names files to be ignored. What ran without walls reports a mapping with
/// nothing in it, and may be asked for again as it was.
fn ignores_something(policy: &SandboxPolicy) -> bool {
    let mapping = policy.ignore_mapping_json.as_deref();
    mapping.is_some_and(|json| json.trim() != "{}")
}

/// Refuses restrictions where there are no walls: only walls restrict.
pub(crate) fn check_restricts_nothing(policy: &SandboxPolicy) -> Result<(), NoWalls> {
    let restricts = policy.network_access == Some(false)
        || policy.block_git_writes == Some(true)
        || policy.disable_tmp_write == Some(true)
        || ignores_something(policy)
        || !policy.readonly_paths.is_empty();
    if !restricts {
        return Ok(());
    }
    Err(NoWalls {
        why: "the policy restricts what only a sandbox could, and there is none".to_owned(),
        hint: "ask for TYPE_WORKSPACE_READWRITE, or leave the restrictions out".to_owned(),
    })
}

/// A refusal in one text, with what to do next.
pub(crate) fn explain(refusal: Refusal) -> String {
    let NoWalls { why, hint } = refusal.into();
    format!("{why}\nhint: {hint}")
}

/// What works here, in the words of the contract.
pub(crate) fn feature_names(features: &Features) -> Vec<String> {
    let named = [
        ("user_ns", &features.user_ns),
        ("mount_ns", &features.mount_ns),
        ("pid_ns", &features.pid_ns),
        ("net_ns", &features.net_ns),
        ("seccomp", &features.seccomp),
        ("idmap", &features.idmap),
        ("cgroup_memory", &features.cgroup_memory),
        ("cgroup_pids", &features.cgroup_pids),
    ];
    let mut names: Vec<String> = named
        .iter()
        .filter(|(_, support)| support.works())
        .map(|(name, _)| (*name).to_owned())
        .collect();
    names.extend(features.landlock_abi.map(|abi| format!("landlock:{abi}")));
    names
}
