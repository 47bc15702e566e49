//! Directories, sockets, daemons and configurations that cannot be used.

use super::check_well;
use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::program::{Home, piped, ran, wait_until};
use shellglass_tests::{Daemon, TestSession};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

fn mode_of(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// A daemon that runs as nobody, whom permissions bind.
struct Unprivileged(Home);

impl Unprivileged {
    fn line(&self) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
        command.arg(self.0.path().join("shellglass"));
        command.env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command
            .env("SHELLGLASS_HOME", self.0.path())
            .env("HOME", self.0.path());
        command.current_dir(self.0.path());
        command
    }
}

/// None where this test may not become another user.
fn unprivileged() -> Option<Unprivileged> {
    let home = Home::default();
    if !rustix::process::getuid().is_root() {
        return None;
    }
    // The program may lie where nobody else can go.
    std::fs::copy(shellglass_tests::program(), home.path().join("shellglass")).unwrap();
    std::os::unix::fs::chown(home.path(), Some(65_534), Some(65_534)).unwrap();
    Some(Unprivileged(home))
}

#[test]
fn a_directory_that_may_not_be_entered_is_refused() {
    let Some(user) = unprivileged() else { return };
    let closed = user.0.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    mode_of(&closed, 0o700);
    let closed = closed.to_str().unwrap();
    let inside = format!("{closed}/inside");
    for path in [closed, &inside] {
        let made = ran(user.line().args(["session", "create", "--cwd", path]));
        assert!(
            made.failed_with(126).contains("may not be entered"),
            "{made:?}"
        );
        let run = ran(user.line().args(["run", "--cwd", path, "true"]));
        assert!(
            run.failed_with(126).contains("may not be entered"),
            "{run:?}"
        );
    }
    let id = ran(user.line().args(["session", "create"])).quiet();
    let run = ran(user
        .line()
        .args(["run", "--session", id.trim(), "--cwd", closed, "true"]));
    assert!(run.failed_with(125).contains(closed), "{run:?}");
    let run = ran(user.line().args(["run", "--session", id.trim(), "echo on"]));
    assert_eq!(run.quiet(), "on\n");
}

#[test]
fn a_data_directory_that_cannot_be_written_is_an_error() {
    let Some(user) = unprivileged() else { return };
    let data = user.0.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::os::unix::fs::chown(&data, Some(65_534), Some(65_534)).unwrap();
    mode_of(&data, 0o500);
    for arguments in [&["serve"][..], &["serve", "--detach"]] {
        let served = ran(user.line().args(arguments));
        assert!(matches!(served.status, 1 | 125), "{served:?}");
        assert!(served.stderr.contains("data"), "{served:?}");
        assert!(served.stderr.contains("hint: "), "{served:?}");
    }
    let run = ran(user.line().args(["run", "true"]));
    assert!(run.failed_with(125).contains("data"), "{run:?}");
    mode_of(&data, 0o700);
    assert_eq!(ran(user.line().args(["run", "echo on"])).quiet(), "on\n");
}

#[test]
fn a_data_directory_on_a_disk_that_cannot_be_written_is_an_error() {
    if !rustix::process::getuid().is_root() {
        return;
    }
    let home = Home::default();
    std::fs::create_dir(home.path().join("data")).unwrap();
    let line = home.line();
    for arguments in ["serve", "serve --detach", "run true"] {
        // The mount is this process's own and goes with it.
        let script = format!(
            "mount -t tmpfs -o ro none data && exec {} {arguments}",
            shellglass_tests::program().display()
        );
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "sh", "-c", &script])
            .current_dir(home.path());
        for (name, value) in line.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let refused = ran(&mut command);
        assert!(matches!(refused.status, 1 | 125), "{refused:?}");
        assert!(
            refused.stderr.contains("data") && refused.stderr.contains("hint: "),
            "{refused:?}"
        );
    }
    assert_eq!(home.daemons(), Vec::<u32>::new());
}

#[test]
fn a_socket_path_that_is_too_long_is_an_error() {
    let home = Home::default();
    let long = home.path().join("x".repeat(100));
    std::fs::create_dir(&long).unwrap();
    let mut line = home.line();
    line.env("SHELLGLASS_HOME", &long);
    for (arguments, status) in [
        (&["run", "true"][..], 125),
        (&["serve"], 1),
        (&["serve", "--detach"], 1),
        (&["session", "list"], 1),
    ] {
        let mut line = home.line();
        line.env("SHELLGLASS_HOME", &long).args(arguments);
        let refused = ran(&mut line);
        assert!(refused.failed_with(status).contains("107"), "{refused:?}");
    }
    let socket = long.join("daemon.sock");
    let refused = home.cli(&["serve", "--socket", socket.to_str().unwrap()]);
    assert!(refused.failed_with(1).contains("107"), "{refused:?}");
}

#[tokio::test]
async fn a_second_daemon_on_the_same_directory_is_refused() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let (_, _stream) = session.begin("sleep 1000").await;
    let other = daemon.home().join("other.sock");
    for arguments in [
        &["serve"][..],
        &["serve", "--detach"],
        &["serve", "--socket", other.to_str().unwrap()],
    ] {
        let refused = ran(daemon.line().args(arguments));
        let said = refused.failed_with(1);
        assert!(
            said.contains("in use") && said.contains(&daemon.pid().to_string()),
            "{said}"
        );
    }
    assert!(!other.exists());
    let shown = session.shown().await;
    assert!(shown.running, "{shown:?}");
    check_well(&daemon).await;
}

#[test]
fn a_configuration_that_does_not_parse_is_named_with_its_line() {
    let home = Home::default();
    let file = home.path().join("config/config.toml").display().to_string();
    for (config, line, words) in [
        (
            "[limits]\nqueue_max = 8\nqueu_max = 9\n",
            3,
            &["`limits.queu_max`", "`limits.queue_max`"][..],
        ),
        ("[limts]\nqueue_max = 8\n", 1, &["limts", "limits"]),
        (
            "\n[limits]\nqueue_max = \"many\"\n",
            3,
            &["limits.queue_max"],
        ),
        ("[limits]\nqueue_max = -1\n", 2, &["limits.queue_max"]),
        ("[session]\nmode = \"fast\"\n", 2, &["session.mode", "pipe"]),
        (
            "[session]\nenv = { \"A=B\" = \"x\" }\n",
            2,
            &["session.env"],
        ),
        ("[daemon]\nlisten = \"somewhere\"\n", 2, &["daemon.listen"]),
        ("[limits\n", 1, &[]),
        ("a = = b\n", 1, &[]),
        (
            "[limits]\nqueue_max = 8\nqueue_max = 9\n",
            3,
            &["duplicate"],
        ),
        ("moode = 1\n", 1, &["moode"]),
    ] {
        home.configure(config);
        for (arguments, status) in [
            (&["run", "true"][..], 125),
            (&["serve"], 1),
            (&["serve", "--detach"], 1),
            (&["config", "show"], 1),
            (&["session", "list"], 1),
        ] {
            let refused = home.cli(arguments);
            let said = refused.failed_with(status);
            assert!(
                said.contains(&format!("{file}:{line}:")),
                "{config}: {said}"
            );
            for word in words {
                assert!(said.contains(word), "{config}: no {word} in {said}");
            }
        }
    }
    std::fs::write(home.path().join("config/config.toml"), b"\xff\xfe").unwrap();
    assert!(home.cli(&["run", "true"]).failed_with(125).contains(&file));
    home.configure("");
    let mut line = home.line();
    line.env("SHELLGLASS_LIMITS_QUEUE_MAX", "many")
        .args(["run", "true"]);
    let refused = ran(&mut line);
    assert!(
        refused
            .failed_with(125)
            .contains("SHELLGLASS_LIMITS_QUEUE_MAX")
    );
    let refused = home.cli(&["serve", "--config", "/no/such/file.toml"]);
    assert!(refused.failed_with(1).contains("/no/such/file.toml"));
    assert_eq!(home.daemons(), Vec::<u32>::new());
    assert_eq!(home.cli(&["run", "echo on"]).quiet(), "on\n");
}

#[test]
fn a_runtime_directory_of_others_is_not_used() {
    let home = Home::default();
    let run = home.path().join("run");
    std::fs::create_dir(&run).unwrap();
    mode_of(&run, 0o777);
    let refused = home.cli(&["run", "true"]);
    assert!(refused.failed_with(125).contains("run"), "{refused:?}");
    home.cli(&["serve"]).failed_with(1);
    mode_of(&run, 0o700);
    assert_eq!(home.cli(&["run", "echo on"]).quiet(), "on\n");
}

#[test]
fn a_socket_that_a_dead_daemon_left_is_replaced() {
    let home = Home::default();
    home.cli(&["run", "true"]).quiet();
    let pid = home.daemons()[0];
    shellglass_tests::program::signal(pid, rustix::process::Signal::KILL);
    wait_until("it is dead", || home.daemons().is_empty());
    assert!(home.path().join("run/daemon.sock").exists());
    assert_eq!(home.cli(&["run", "echo on"]).quiet(), "on\n");
    // A file in its place is not.
    shellglass_tests::program::signal(home.daemons()[0], rustix::process::Signal::KILL);
    wait_until("it is dead", || home.daemons().is_empty());
    let child = piped(home.line().args(["run", "echo again"]));
    assert_eq!(shellglass_tests::program::finish(child).quiet(), "again\n");
}
