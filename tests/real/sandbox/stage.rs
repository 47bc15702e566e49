//! A place for one case: a workspace that is a repository, an outside with a
//! canary, a home that is a decoy, and a process that must not be touched.

use super::outside::{Outside, Sockets, unique};
use super::probe::Variables;
use shellglass_tests::program::wait_until;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// Stands for the daemon or any other process of the host: a secret in its
/// environment, descriptors outside, and a terminal.
const VICTIM: &str = "
import os,pty,signal,time
keep=b'SBX-HEAP-SECRET'*10
f=open('victim_fd.txt','a')
m,s=pty.openpty(); os.set_inheritable(s,True)
for n in (signal.SIGUSR1,signal.SIGURG): signal.signal(n,lambda *a:open('victim.sig','w').write('x'))
open('victim.tmp','w').write(os.ttyname(s)); os.rename('victim.tmp','victim.pts')
end=time.time()+600
while time.time()<end and os.getppid()!=1: time.sleep(0.2)
";

/// A directory for daemons and cases that no sandbox makes writable or private
/// by itself: `/tmp` is both.
pub fn place() -> TempDir {
    let parent = match std::env::var_os("SHELLGLASS_TEST_PLACE") {
        Some(given) => PathBuf::from(given),
        None if is_root() => PathBuf::from("/var/lib"),
        None if !env!("CARGO_TARGET_TMPDIR").starts_with("/tmp") => {
            PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        }
        None => std::env::home_dir().expect("a user has a home"),
    };
    let place = tempfile::Builder::new().prefix("sg-").tempdir_in(parent);
    let place = place.expect("there is a place for fixtures");
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    place
}

/// Whether the tests run as root.
pub fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

/// The place of one case.
pub struct Stage {
    /// What the policy may make writable.
    pub workspace: PathBuf,
    /// What it may not.
    pub outside: PathBuf,
    /// What the case's scripts are told.
    pub variables: Variables,
    victim: Child,
    _sockets: Sockets,
}

impl Stage {
    /// Builds one below `place`, beside all others.
    pub fn build(place: &Path, host: &Outside, stages: &[String]) -> Stage {
        let root = place.join(format!("case-{}", unique()));
        let (workspace, outside) = (root.join("ws"), root.join("out"));
        folders(&workspace, &outside);
        files(&workspace, &outside);
        repositories(&workspace, &outside);
        for stage in stages {
            more(&workspace, stage);
        }
        let mut variables = host.variables().clone();
        variables.extend(names(&workspace, &outside));
        let sockets = Sockets::bind(&outside.join("run"), &mut variables);
        let victim = victim(&outside, &mut variables);
        Stage {
            workspace,
            outside,
            variables,
            victim,
            _sockets: sockets,
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // It is ours; a probe that got out may have ended it.
        let _ = self.victim.kill();
        self.victim.wait().unwrap();
        let root = self
            .workspace
            .parent()
            .expect("a workspace is below its case");
        // What is left goes with the place that it is in.
        let _ = std::fs::remove_dir_all(root);
    }
}

fn folders(workspace: &Path, outside: &Path) {
    let evil = |path: PathBuf| PathBuf::from(format!("{}-evil", path.display()));
    let inside = ["nested_ro", "secret_dir", ".vscode"].map(|name| workspace.join(name));
    let names = ["home", "bin", "run", "ro_extra", "rw_extra", "main"];
    let further = names.map(|name| outside.join(name));
    let evils = [workspace.to_owned(), outside.join("rw_extra")].map(evil);
    for folder in inside.iter().chain(&further).chain(&evils) {
        std::fs::create_dir_all(folder).unwrap();
    }
}

fn files(workspace: &Path, outside: &Path) {
    let write = |path: PathBuf, text: &str| std::fs::write(path, text).unwrap();
    write(
        outside.join("canary"),
        "CANARY-012345678901234567890123456789\n",
    );
    write(outside.join("decoy"), "decoy\n");
    write(outside.join("ro_extra/readme"), "readme\n");
    write(outside.join("main/f"), "x");
    write(workspace.join("tracked.txt"), "tracked\n");
    write(
        workspace.join("secret_dir/.env.secret"),
        "SBX_IGNORED_CONTENT=1\n",
    );
    write(workspace.join(".agentignore"), "secret_dir/.env.secret\n");
    write(workspace.join(".vscode/tasks.json"), "{}\n");
}

fn repositories(workspace: &Path, outside: &Path) {
    let main = outside.join("main");
    for repository in [workspace, &main] {
        git(repository, &["init", "-q", "-b", "main"]);
        git(repository, &["add", "-A"]);
        git(repository, &["commit", "-qm", "one"]);
    }
    let worktree = workspace.join("wt");
    git(
        &main,
        &["worktree", "add", "-q", &worktree.to_string_lossy()],
    );
}

/// What only some cases have.
fn more(workspace: &Path, stage: &str) {
    match stage {
        "hooks_path" => {
            std::fs::create_dir(workspace.join("custom_hooks")).unwrap();
            std::fs::write(workspace.join("custom_hooks/pre-commit"), "exit 0\n").unwrap();
            git(workspace, &["config", "core.hooksPath", "custom_hooks"]);
        }
        "included_config" => {
            std::fs::write(workspace.join("included.gitconfig"), "").unwrap();
            git(
                workspace,
                &["config", "include.path", "../included.gitconfig"],
            );
        }
        "ignore_list" => {
            std::fs::write(workspace.join(".shellglassignore"), "*.key\n").unwrap();
        }
        "lonely_head" => {
            std::fs::create_dir(workspace.join("lonely")).unwrap();
            std::fs::write(workspace.join("lonely/HEAD"), "no repository\n").unwrap();
        }
        "nested_repository" => git(workspace, &["init", "-q", "nested_repo"]),
        "hard_link" => {
            let secret = workspace.join("secret_dir/.env.secret");
            std::fs::hard_link(secret, workspace.join("other_name.txt")).unwrap();
        }
        other => panic!("an unknown stage: {other}"),
    }
}

/// Runs git as nobody in particular.
pub fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(arguments);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "t");
        command.env(format!("GIT_{role}_EMAIL"), "t@t");
    }
    let output = command.output().expect("git is there");
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
}

fn names(workspace: &Path, outside: &Path) -> Variables {
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let path = super::runner::search_path();
    let pairs = [
        ("WORKSPACE", text(workspace.to_owned())),
        ("OUTSIDE", text(outside.to_owned())),
        ("CANARY", text(outside.join("canary"))),
        ("DECOY", text(outside.join("decoy"))),
        ("HOME", text(outside.join("home"))),
        ("RO_EXTRA", text(outside.join("ro_extra"))),
        ("RW_EXTRA", text(outside.join("rw_extra"))),
        ("RO_NESTED", text(workspace.join("nested_ro"))),
        ("AGENT_WS_CONFIG", ".shellglass.toml".to_owned()),
        ("AGENT_WS_CONFIG2", ".vscode/tasks.json".to_owned()),
        ("IGNORED_FILE", "secret_dir/.env.secret".to_owned()),
        ("WT", text(workspace.join("wt"))),
        ("MAIN_GIT", text(outside.join("main/.git"))),
        ("PATH", format!("{}:{path}", text(outside.join("bin")))),
        ("LANG", "C.UTF-8".to_owned()),
    ];
    pairs.map(|(name, value)| (name.to_owned(), value)).into()
}

fn victim(outside: &Path, variables: &mut Variables) -> Child {
    let tag = format!("sg-victim-{}-{}", std::process::id(), unique());
    let child = Command::new("python3")
        .args(["-c", VICTIM, &tag])
        .env("SBX_DAEMON_SECRET", "s3cr3t")
        .current_dir(outside)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("python3 is there");
    let terminal = outside.join("victim.pts");
    wait_until("the victim is there", || terminal.exists());
    variables.insert("VICTIM_PID".to_owned(), child.id().to_string());
    variables.insert("VICTIM_TAG".to_owned(), tag);
    let terminal = std::fs::read_to_string(terminal).unwrap();
    variables.insert("VICTIM_PTS".to_owned(), terminal);
    child
}
