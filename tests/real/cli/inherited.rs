//! A daemon that is started with its socket, as systemd starts one.

use rustix::process::Signal;
use shellglass_tests::processes;
use shellglass_tests::program::{Home, Ran, is_alive, piped, ran, signal, wait_until};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// Opens the socket, makes it descriptor 3, and becomes the program.
const ACTIVATE: &str = r#"
import os, socket, sys
path, pid, program = sys.argv[1], sys.argv[2], sys.argv[3:]
os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
if os.path.exists(path): os.remove(path)
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
os.dup2(listener.fileno(), 3)
os.set_inheritable(3, True)
os.environ["LISTEN_FDS"] = "1"
os.environ["LISTEN_PID"] = pid or str(os.getpid())
os.execv(program[0], program)
"#;

/// `serve`, with a socket at this path that is meant for this process; an empty
/// number is its own.
fn activated(home: &Home, socket: &Path, pid: &str) -> Command {
    let serve = home.line();
    let mut command = Command::new("python3");
    command.args(["-c", ACTIVATE]).arg(socket).arg(pid);
    command.arg(serve.get_program()).arg("serve");
    for (name, value) in serve.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("SHELLGLASS_DAEMON_LISTEN", "none");
    command.current_dir(home.path());
    command
}

fn socket_of(home: &Home) -> PathBuf {
    home.path().join("run/daemon.sock")
}

fn ended(mut daemon: Child) {
    signal(daemon.id(), Signal::TERM);
    wait_until("the daemon ends", || daemon.try_wait().unwrap().is_some());
}

/// The kernel's number of the socket that listens at a path.
fn inode(socket: &Path) -> String {
    let table = std::fs::read_to_string("/proc/net/unix").unwrap();
    let path = socket.to_string_lossy().into_owned();
    let mut rows = table.lines().filter(|row| row.ends_with(&path));
    let row = rows.next().expect("somebody listens there");
    row.split_whitespace().nth(6).unwrap().to_owned()
}

/// The processes below a home that have this socket open.
fn holders(home: &Home, inode: &str) -> Vec<u32> {
    let name = format!("socket:[{inode}]");
    let path = home.path().to_string_lossy().into_owned();
    let holds = |pid: &u32| {
        let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd"));
        descriptors.into_iter().flatten().flatten().any(|entry| {
            std::fs::read_link(entry.path()).is_ok_and(|target| target.as_os_str() == &*name)
        })
    };
    let ours = processes()
        .into_iter()
        .filter(|(pid, line)| line.contains(&path) || line.contains(" serve") && is_alive(*pid));
    ours.map(|(pid, _)| pid).filter(holds).collect()
}

#[test]
fn a_daemon_serves_the_socket_that_it_was_started_with_and_leaves_it() {
    let home = Home::default();
    let socket = socket_of(&home);
    let daemon = piped(&mut activated(&home, &socket, ""));
    // The socket is there before the daemon is: a client only has to wait.
    wait_until("the socket is opened", || {
        UnixStream::connect(&socket).is_ok()
    });
    let said = home.cli(&[
        "run",
        "echo through; env | grep ^LISTEN_ || echo nothing of it",
    ]);
    assert_eq!(said.quiet(), "through\nnothing of it\n");
    assert_eq!(home.daemons(), [daemon.id()], "no other was started");
    let holders = holders(&home, &inode(&socket));
    assert_eq!(holders, [daemon.id()], "neither keeper nor shells have it");
    ended(daemon);
    assert!(socket.exists(), "it belongs to who has opened it");
}

#[test]
fn a_daemon_refuses_a_socket_where_nobody_looks_for_it() {
    let home = Home::default();
    let elsewhere = home.path().join("run/other.sock");
    let refused: Ran = ran(&mut activated(&home, &elsewhere, ""));
    let said = refused.failed_with(2);
    assert!(said.contains("other.sock"), "{said}");
    assert!(said.contains("ListenStream="), "{said}");
}

#[test]
fn a_socket_that_was_meant_for_another_process_is_not_taken() {
    let home = Home::default();
    let elsewhere = home.path().join("run/other.sock");
    let daemon = piped(&mut activated(&home, &elsewhere, "1"));
    let socket = socket_of(&home);
    wait_until("it opens its own", || UnixStream::connect(&socket).is_ok());
    ended(daemon);
    assert!(!socket.exists(), "its own goes with it");
}
