//! Runs one of our own tests in a process of its own, so that it can be killed
//! or given a file system of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
