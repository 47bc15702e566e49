//! What the daemon and the keeper log, and that neither needs its log.

use shellglass_tests::program::{Home, is_alive, signal, wait_until};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

/// A device on which nothing can be written, as on a disk that is full.
const FULL: &str = "/dev/full";

#[test]
fn a_daemon_goes_on_when_its_log_cannot_be_written() {
    let home = Home::default();
    let full = OpenOptions::new().write(true).open(FULL).unwrap();
    let mut serve = home.line();
    serve.args(["serve", "--listen", "none", "--log", "trace"]);
    serve
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(full);
    let mut daemon = serve.spawn().unwrap();
    let socket = home.path().join("run/daemon.sock");
    wait_until("it listens", || {
        let listens = UnixStream::connect(&socket).is_ok();
        assert!(listens || is_alive(daemon.id()), "it has died of its log");
        listens
    });
    assert_eq!(home.cli(&["run", "echo fine"]).quiet(), "fine\n");
    assert_eq!(home.daemons(), [daemon.id()], "it is still the same");
    signal(daemon.id(), rustix::process::Signal::TERM);
    wait_until("it ends", || daemon.try_wait().unwrap().is_some());
}

#[test]
fn the_keeper_logs_who_came_and_went_and_no_command() {
    let home = Home::default();
    home.cli(&["run", "echo a-word-of-a-command"]).quiet();
    let path = home.path().join("data/keeper.log");
    let log = || std::fs::read_to_string(&path).unwrap_or_default();
    assert!(log().contains("the keeper listens"), "{}", log());
    assert!(log().contains("a daemon is here"), "{}", log());
    let [daemon] = home.daemons()[..] else {
        panic!("there is one daemon");
    };
    signal(daemon, rustix::process::Signal::KILL);
    wait_until("the keeper says so", || {
        log().contains("the daemon is gone")
    });
    home.cli(&["run", "true"]).quiet();
    let text = log();
    assert_eq!(text.matches("a daemon is here").count(), 2, "{text}");
    assert!(!text.contains("a-word-of-a-command"), "{text}");
    assert_eq!(
        File::open(&path).unwrap().metadata().unwrap().mode() & 0o777,
        0o600
    );
}
