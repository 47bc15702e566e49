//! Walls, seen from outside: what is started behind them, what of it can be
//! ended, and what is refused.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use glass_model::{FileId, Mount, View, WaitStatus, WallBuild, Walls};
use glass_spawn::tree::{ChildLeft, Manner, Scope, Tag};
use glass_spawn::{Launched, SpawnError, Stage, tree};

use crate::fixture::{
    Home, all_of, end, failure, launch, living_below, pipe, read_all, read_line, until,
};

/// A workspace and what is around it.
pub struct Ground {
    pub home: Home,
    pub directory: tempfile::TempDir,
}

impl Ground {
    pub async fn new() -> Ground {
        // Not below /tmp: some walls here put another directory there.
        let directory = tempfile::Builder::new()
            .prefix("glass-walls-")
            .tempdir_in("/var/tmp")
            .expect("a directory");
        for name in ["ws", "ws/.git", "ws/sub", "out"] {
            fs::create_dir(directory.path().join(name)).expect("a directory");
        }
        for name in ["ws/.git/config", "ws/secret", "ws/sub/file", "out/canary"] {
            fs::write(directory.path().join(name), "original\n").expect("a file");
        }
        Ground {
            home: Home::new().await,
            directory,
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn mount(&self, name: &str, view: View) -> Mount {
        mount(&self.path(name), view)
    }

    /// A writable workspace with these mounts in it.
    pub fn walls(&self, more: Vec<Mount>) -> Walls {
        let mut mounts = vec![self.mount("ws", View::Writable)];
        mounts.extend(more);
        Walls {
            build: WallBuild::Namespaces,
            mounts,
            network: false,
            refuses_repositories: false,
        }
    }

    pub fn launch(&self, walls: Walls, script: &str) -> glass_spawn::Launch {
        let mut launch = launch(&["/bin/bash", "-c", script]);
        launch.plan.cwd = self.path("ws").into_os_string().into_encoded_bytes();
        launch.plan.walls = Some(walls);
        let root = self.directory.path().display();
        launch.plan.env.push(format!("ROOT={root}").into_bytes());
        launch
    }

    /// Runs a script behind walls, and gives what it said and how it ended.
    pub async fn run(&mut self, walls: Walls, script: &str) -> (String, WaitStatus) {
        let mut launch = self.launch(walls, script);
        let (out, out_end) = pipe();
        launch
            .child_fds
            .push((1, out_end.try_clone().expect("a copy")));
        launch.child_fds.push((2, out_end));
        let launched = self.home.keeper.spawn(launch).await.expect("it starts");
        let text = read_all(out).await;
        (text, self.home.exit_of(&launched).await)
    }

    /// Starts a script behind walls, which says a line when it is ready.
    pub async fn start(&self, launch: glass_spawn::Launch) -> (Launched, fs::File) {
        let mut launch = launch;
        let (out, out_end) = pipe();
        launch.child_fds.push((1, out_end));
        let launched = self.home.keeper.spawn(launch).await.expect("it starts");
        read_line(&out).await;
        (launched, out)
    }
}

pub fn mount(path: &Path, view: View) -> Mount {
    Mount {
        path: path.as_os_str().as_encoded_bytes().to_vec(),
        view,
        expected: None,
    }
}

pub fn expecting(mut mount: Mount, path: &Path) -> Mount {
    let meta = fs::metadata(path).expect("it is there");
    mount.expected = Some(FileId {
        device: meta.dev(),
        inode: meta.ino(),
    });
    mount
}

fn refused(result: Result<Launched, SpawnError>) -> (Stage, PathBuf, i32) {
    match failure(result) {
        SpawnError::Failed {
            stage,
            path,
            source,
        } => (stage, path, source.raw_os_error().unwrap_or(0)),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn walls_end_with_the_shell_and_its_status_is_exact() {
    let mut ground = Ground::new().await;
    let walls = ground.walls(vec![]);
    let (text, status) = ground.run(walls.clone(), "echo $$ $PPID; exit 7").await;
    assert_eq!((text.as_str(), status), ("2 0\n", WaitStatus::Exited(7)));
    let (_, status) = ground.run(walls, "kill -9 $$").await;
    assert_eq!(status, WaitStatus::Signaled(9));
}

#[tokio::test]
async fn walls_show_the_shell_as_the_child() {
    let ground = Ground::new().await;
    let walls = ground.walls(vec![]);
    let (launched, _out) = ground
        .start(ground.launch(walls, "mkfifo f; exec 9<>f; echo up; read line <&9"))
        .await;
    let init = launched.init.expect("there is one");
    let name = |pid: i32| fs::read_to_string(format!("/proc/{pid}/comm")).expect("it lives");
    assert_eq!(name(launched.child.pid), "bash\n");
    assert_eq!(name(init.pid), "glass-init\n");
    let listed = ground.home.keeper.list().await.expect("a list");
    assert_eq!(listed[0].init, Some(init));
    assert_eq!(listed[0].child, launched.child);
    let parents: Vec<i32> = tree::descendants(&launched.reaper)
        .iter()
        .map(|process| process.ppid)
        .collect();
    assert_eq!(parents, [launched.reaper.pid; 2], "nothing else is left");
    end(all_of(&launched, Manner::Kill)).await.expect("ended");
}

#[tokio::test]
async fn walls_keep_orphans_until_they_are_ended() {
    let mut ground = Ground::new().await;
    let walls = ground.walls(vec![]);
    let script = "(sleep 1000 & sleep 1000 & setsid -f sleep 1000); echo up";
    let (launched, _out) = ground.start(ground.launch(walls, script)).await;
    assert_eq!(ground.home.exit_of(&launched).await, WaitStatus::Exited(0));
    until("three orphans and init", || {
        living_below(&launched).len() == 4
    })
    .await;
    end(all_of(&launched, Manner::Kill)).await.expect("ended");
    ground.home.emptied(&launched).await;
    assert!(living_below(&launched).is_empty());
}

#[tokio::test]
async fn walls_end_by_themselves_when_the_last_orphan_does() {
    let mut ground = Ground::new().await;
    let walls = ground.walls(vec![]);
    let script = "(sleep 0.1 & sleep 0.2 &); echo up";
    let (launched, _out) = ground.start(ground.launch(walls, script)).await;
    ground.home.emptied(&launched).await;
    assert!(!launched.init.expect("one").is_alive());
}

#[tokio::test]
async fn a_command_behind_walls_is_ended_and_what_is_older_is_spared() {
    let ground = Ground::new().await;
    let walls = ground.walls(vec![]);
    let script = "export GLASS_TAG=1; (sleep 1001 &); echo up; read line; \
        export GLASS_TAG=2; (sleep 1002 &); sleep 1003 & echo two; read line; wait";
    let mut launch = ground.launch(walls, script);
    let (input_end, input) = std::io::pipe().expect("a pipe");
    launch.child_fds.push((0, input_end.into()));
    let (launched, out) = ground.start(launch).await;
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    let ticks = tree::now_ticks();
    let mut input = input;
    std::io::Write::write_all(&mut input, b"go\n").expect("it reads");
    read_line(&out).await;
    let mut order = all_of(&launched, Manner::Kill);
    order.scope = Scope::Since {
        ticks,
        tag: Tag {
            name: "GLASS_TAG".into(),
            value: "2".into(),
        },
        spare_child: true,
    };
    let ended = end(order).await.expect("ended");
    assert_eq!((ended.processes, ended.child), (2, ChildLeft::Stopped));
    assert!(launched.init.expect("one").is_alive());
    assert_eq!(living_below(&launched).len(), 3, "init, shell, older job");
    end(all_of(&launched, Manner::Kill)).await.expect("ended");
}

#[tokio::test]
async fn a_place_that_is_not_what_was_planned_is_refused() {
    let ground = Ground::new().await;
    for view in [View::ReadOnly, View::Writable] {
        let secret = ground.path("ws/secret");
        let mount = expecting(ground.mount("ws/secret", view), &secret);
        let walls = ground.walls(vec![mount]);
        replace(&ground, "ws/secret");
        let result = ground.home.keeper.spawn(ground.launch(walls, ":")).await;
        assert_eq!(refused(result), (Stage::Changed, secret, 116));
    }
}

#[tokio::test]
async fn whatever_is_at_a_hidden_place_is_hidden() {
    let mut ground = Ground::new().await;
    let secret = ground.path("ws/secret");
    let hidden = expecting(ground.mount("ws/secret", View::Hidden), &secret);
    let walls = ground.walls(vec![hidden]);
    replace(&ground, "ws/secret");
    let (text, _) = ground.run(walls.clone(), "cat secret").await;
    assert_eq!(text, "cat: secret: Permission denied\n");
    // What has gone needs no hiding, and is not made.
    fs::remove_file(&secret).expect("removed");
    let (text, _) = ground.run(walls, "cat secret").await;
    assert_eq!(text, "cat: secret: No such file or directory\n");
}

#[tokio::test]
async fn a_hidden_place_that_is_saved_over_meanwhile_fails_no_launch() {
    let mut ground = Ground::new().await;
    let walls = ground.walls(vec![ground.mount("ws/secret", View::Hidden)]);
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (stopped, root) = (stop.clone(), ground.directory.path().join("ws"));
    let saving = std::thread::spawn(move || {
        let mut saves = 0;
        while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
            fs::write(root.join("new"), "new\n").expect("written");
            fs::rename(root.join("new"), root.join("secret")).expect("renamed");
            saves += 1;
        }
        saves
    });
    for _ in 0..20 {
        let (text, status) = ground.run(walls.clone(), "echo up").await;
        assert_eq!((text.as_str(), status), ("up\n", WaitStatus::Exited(0)));
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(saving.join().expect("no panic") > 20);
}

/// As an editor saves.
fn replace(ground: &Ground, name: &str) {
    fs::write(ground.path("ws/new"), "new\n").expect("written");
    fs::rename(ground.path("ws/new"), ground.path(name)).expect("renamed");
}

#[tokio::test]
async fn a_place_behind_a_symbolic_link_is_refused() {
    let ground = Ground::new().await;
    std::os::unix::fs::symlink(ground.path("out"), ground.path("ws/link")).expect("a link");
    let eloop = 40;
    for (name, view) in [
        ("ws/link", View::Writable),
        ("ws/link/canary", View::Writable),
        ("ws/link/canary", View::ReadOnly),
        ("ws/link/canary", View::Hidden),
    ] {
        let walls = ground.walls(vec![ground.mount(name, view)]);
        let result = ground.home.keeper.spawn(ground.launch(walls, ":")).await;
        let (stage, path, errno) = refused(result);
        assert_eq!((stage, path), (Stage::Mount, ground.path(name)));
        assert_eq!(errno, eloop);
    }
    let other = View::Other {
        source: ground.path("ws/link").into_os_string().into_encoded_bytes(),
    };
    let walls = ground.walls(vec![ground.mount("ws/sub", other)]);
    let result = ground.home.keeper.spawn(ground.launch(walls, ":")).await;
    assert_eq!(refused(result).0, Stage::Mount);
    until("nothing is left behind", || {
        living_below_keeper(&ground) == 0
    })
    .await;
}

fn living_below_keeper(ground: &Ground) -> usize {
    let below = tree::descendants(&ground.home.keeper_process());
    below.iter().filter(|process| !process.dead).count()
}

#[tokio::test]
async fn a_place_that_is_missing_is_refused_and_not_made() {
    let ground = Ground::new().await;
    for view in [View::ReadOnly, View::Writable, View::Empty] {
        let walls = ground.walls(vec![ground.mount("ws/missing", view)]);
        let result = ground.home.keeper.spawn(ground.launch(walls, ":")).await;
        assert_eq!(
            refused(result),
            (Stage::Mount, ground.path("ws/missing"), 2)
        );
        assert!(!ground.path("ws/missing").exists());
    }
}

#[tokio::test]
async fn a_directory_is_not_handed_through_walls() {
    let ground = Ground::new().await;
    let mut launch = ground.launch(ground.walls(vec![]), ":");
    let directory = fs::File::open(ground.path("out")).expect("it is there");
    launch.child_fds.push((5, directory.into()));
    let result = ground.home.keeper.spawn(launch).await;
    assert_eq!(refused(result).0, Stage::Descriptors);
}

#[tokio::test]
async fn failures_behind_walls_have_their_names() {
    let ground = Ground::new().await;
    let mut launch = ground.launch(ground.walls(vec![]), ":");
    launch.plan.cwd = b"/no/such".to_vec();
    let result = ground.home.keeper.spawn(launch).await;
    assert_eq!(refused(result), (Stage::Directory, "/no/such".into(), 2));
    let mut launch = ground.launch(ground.walls(vec![]), ":");
    launch.plan.program = b"/no/such".to_vec();
    let result = ground.home.keeper.spawn(launch).await;
    assert_eq!(refused(result), (Stage::Execute, "/no/such".into(), 2));
    let mut walls = ground.walls(vec![]);
    walls.mounts[0].path = b"relative".to_vec();
    let result = ground.home.keeper.spawn(ground.launch(walls, ":")).await;
    assert!(matches!(failure(result), SpawnError::Refused { .. }));
    until("all of them end", || living_below_keeper(&ground) == 0).await;
}

#[tokio::test]
async fn what_walls_are_made_of_is_found_by_trying() {
    let ground = Ground::new().await;
    let features = ground.home.keeper.probe().await.expect("an answer");
    assert!(features.has_namespaces(), "{features:?}");
    assert!(features.has_landlock_only(), "{features:?}");
    until("no probe is left", || living_below_keeper(&ground) == 0).await;
}

/// All of this holds for an ordinary user as well as for root. When these
/// tests run as root, they run once more as somebody else.
#[test]
fn walls_stand_around_an_ordinary_user() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let directory = tempfile::tempdir_in("/var/tmp").expect("a directory");
    let open = fs::Permissions::from_mode(0o777);
    fs::set_permissions(directory.path(), open).expect("ours");
    let exe = directory.path().join("tests");
    fs::copy(std::env::current_exe().expect("this program"), &exe).expect("a copy");
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&exe)
        .args(["walls", "--test-threads=2"])
        .env("TMPDIR", directory.path())
        .env("HOME", "/")
        .output()
        .expect("setpriv");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    let passed = text.lines().filter(|line| line.ends_with("... ok")).count();
    assert!(passed > 20, "{text}");
}
