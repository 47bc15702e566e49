//! Runs one of our own tests in a process of its own, so that it can be killed
//! or given a file system of its own.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Names the directory that a child works in.
const DIR: &str = "GLASS_STORE_TEST_DIR";

/// This test program, set to run one ignored test.
pub fn of_test(name: &str, dir: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    as_child(&mut command, name, dir);
    command
}

/// The same, in a mount namespace of its own, where it may mount. None, loudly,
/// where this machine does not allow that.
pub fn of_test_with_mounts(name: &str, dir: &Path) -> Option<Command> {
    let root = rustix::process::geteuid().is_root();
    let how: &[&str] = if root { &["-m"] } else { &["-U", "-r", "-m"] };
    let allowed = Command::new("unshare")
        .args(how)
        .args(["mount", "-t", "tmpfs", "none", "/mnt"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !allowed {
        eprintln!("NOT TESTED: {name}: this machine does not let us mount a small file system");
        return None;
    }
    let mut command = Command::new("unshare");
    command.args(how).arg(std::env::current_exe().unwrap());
    as_child(&mut command, name, dir);
    Some(command)
}

/// Starts a test as a child that says `writing` and then numbers, kills it after
/// a while, and gives the last number: how much it knew to be done.
pub fn kill_after(name: &str, dir: &Path, life: Duration) -> u64 {
    let mut child = of_test(name, dir).stdout(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok);
    assert!(
        told.any(|line| line.contains("writing")),
        "the child did not begin"
    );
    let killer = std::thread::spawn(move || {
        let since = Instant::now();
        // Sleeping would always kill it at the same distance from a tick.
        while since.elapsed() < life {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    });
    let last = told.filter_map(|line| line.parse().ok()).last();
    killer.join().unwrap();
    last.unwrap_or(0)
}

fn as_child(command: &mut Command, name: &str, dir: &Path) {
    command
        .args([
            "--exact",
            name,
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(DIR, dir);
}

/// The directory that this process was given; none when a person runs the
/// child's test by itself.
pub fn dir() -> Option<PathBuf> {
    std::env::var_os(DIR).map(PathBuf::from)
}

/// Mounts a file system in a namespace of our own.
pub fn mount(args: &[&str]) {
    assert!(
        Command::new("mount").args(args).status().unwrap().success(),
        "mount {args:?}"
    );
}
