//! A home, a workspace, and what is planned for them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use glass_model::{Mount, Role, SandboxKind, SandboxPolicy, View, WallBuild};
use glass_sandbox::{Effective, Facts, Plan, Refusal, Settings, Workspace};

/// Every plan sees every socket of the machine, those of other tests included.
static SOCKETS: RwLock<()> = RwLock::new(());

pub struct Fixture {
    _sockets: Sockets,
    dir: tempfile::TempDir,
    pub settings: Settings,
    pub facts: Facts,
}

/// What a test may do with sockets.
enum Sockets {
    Leave {
        _guard: RwLockReadGuard<'static, ()>,
    },
    Bind {
        _guard: RwLockWriteGuard<'static, ()>,
    },
}

impl Fixture {
    pub fn new() -> Fixture {
        let guard = SOCKETS.read();
        let _guard = guard.unwrap_or_else(PoisonError::into_inner);
        Fixture::with(Sockets::Leave { _guard })
    }

    /// For a test that binds sockets; it is the only one that runs meanwhile.
    pub fn with_sockets() -> Fixture {
        let guard = SOCKETS.write();
        let _guard = guard.unwrap_or_else(PoisonError::into_inner);
        Fixture::with(Sockets::Bind { _guard })
    }

    fn with(sockets: Sockets) -> Fixture {
        let dir = tempfile::tempdir_in(base()).unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in ["home", "ws", "out", "own/room", "private"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        Fixture {
            settings: Settings {
                home: Some(root.join("home")),
                ..Settings::default()
            },
            facts: Facts {
                own: vec![root.join("own")],
                private_tmp: root.join("private"),
                shown: vec![root.join("own/room")],
                build: Some(WallBuild::Namespaces),
                repositories: Vec::new(),
            },
            dir,
            _sockets: sockets,
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub fn git(&self, directory: &str, arguments: &[&str]) {
        let output = Command::new("git")
            .arg("-C")
            .arg(self.path(directory))
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "t")))
            .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "t@t")))
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
    }

    /// A repository with one commit in it.
    pub fn repository(&self, directory: &str) {
        fs::create_dir_all(self.path(directory)).unwrap();
        self.git(directory, &["init", "-q", "-b", "main"]);
        self.write(&format!("{directory}/tracked.txt"), "tracked\n");
        self.git(directory, &["add", "-A"]);
        self.git(directory, &["commit", "-qm", "one"]);
    }

    pub fn workspace(&self) -> Workspace {
        self.workspace_at("ws")
    }

    pub fn workspace_at(&self, name: &str) -> Workspace {
        let path = self.path(name);
        Workspace::find(Some(&path), &path, &self.settings).unwrap()
    }

    pub fn resolve(&self, policy: &SandboxPolicy, role: Role) -> Result<Effective, Refusal> {
        glass_sandbox::resolve(Some(policy), None, &self.settings, role, &self.workspace())
    }

    pub fn try_plan(&self, policy: &SandboxPolicy) -> Result<Plan, Refusal> {
        let effective = self.resolve(policy, Role::Person)?;
        glass_sandbox::plan(&effective, &self.workspace(), &self.facts, &self.settings)
    }

    pub fn plan(&self, policy: &SandboxPolicy) -> Plan {
        self.try_plan(policy).unwrap()
    }
}

/// Where fixtures are made: not in `/tmp`, which every sandbox has for itself.
fn base() -> PathBuf {
    let usual = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    if !usual.starts_with("/tmp") && !usual.starts_with("/var/tmp") {
        return usual;
    }
    // Where the project itself lies in such a place: root can write here, and
    // everybody else at home.
    let others = [Some(PathBuf::from("/var/lib")), std::env::home_dir()];
    let mut others = others.into_iter().flatten();
    let is_usable = |path: &PathBuf| tempfile::tempdir_in(path).is_ok();
    others
        .find(is_usable)
        .expect("there is a place for fixtures")
}

pub fn readwrite() -> SandboxPolicy {
    SandboxPolicy {
        kind: SandboxKind::WorkspaceReadWrite,
        ..SandboxPolicy::default()
    }
}

pub fn readonly() -> SandboxPolicy {
    SandboxPolicy {
        kind: SandboxKind::WorkspaceReadOnly,
        ..SandboxPolicy::default()
    }
}

pub fn block_git() -> SandboxPolicy {
    SandboxPolicy {
        block_git_writes: Some(true),
        ..readwrite()
    }
}

pub fn mounts(plan: &Plan) -> &[Mount] {
    &plan.walls.as_ref().unwrap().mounts
}

pub fn path_of(mount: &Mount) -> &Path {
    Path::new(OsStr::from_bytes(&mount.path))
}

/// How a path looks inside: the last mount above it decides. None is the
/// host's, read-only.
pub fn view<'a>(plan: &'a Plan, path: &Path) -> Option<&'a View> {
    let above = mounts(plan).iter().rev();
    let mut above = above.filter(|mount| path.starts_with(path_of(mount)));
    above.next().map(|mount| &mount.view)
}

pub fn is_mount(plan: &Plan, path: &Path) -> bool {
    mounts(plan).iter().any(|mount| path_of(mount) == path)
}

pub fn check(plan: &Plan, path: &Path, expected: View) {
    assert_eq!(view(plan, path), Some(&expected), "{}", path.display());
}

/// Checks that neither a path nor anything on the way to it from the workspace
/// can be renamed: each is a mount point.
pub fn check_pinned(plan: &Plan, path: &Path, workspace: &Path) {
    for above in path.ancestors().take_while(|above| *above != workspace) {
        assert!(is_mount(plan, above), "{} can be renamed", above.display());
    }
}
