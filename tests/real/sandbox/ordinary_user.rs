//! All of it again, without the powers of root.

use super::{probe, stage};
use shellglass_tests::program;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// A user that every system has a name for.
const USER: u32 = 1;

/// Shows the user the compiler, which may lie where only root can go, and
/// becomes that user. The mount is gone with the process.
const BECOME: &str = "mount --bind \"$1\" \"$2\" && shift 2 && \
    exec setpriv --reuid=1 --regid=1 --clear-groups \"$@\"";

#[test]
fn every_test_of_the_walls_holds_for_an_ordinary_user() {
    if !stage::is_root() {
        // Then all the other tests are what this one would show.
        return;
    }
    let place = stage::place();
    let own = place.path().join("own");
    for name in ["own", "rust", "bin", "home"] {
        std::fs::create_dir(place.path().join(name)).unwrap();
    }
    for folder in ["own", "home"] {
        std::os::unix::fs::chown(place.path().join(folder), Some(USER), Some(USER)).unwrap();
    }
    let corpus = copied(&probe::folder(), place.path(), "corpus");
    let wheels = copied(&super::work::wheels(), place.path(), "wheels");
    let bin = place.path().join("bin");
    let tests = program_copied(&std::env::current_exe().unwrap(), &bin.join("tests"));
    let program = program_copied(&program(), &bin.join("shellglass"));
    let mut command = Command::new("unshare");
    command
        .args([
            "--mount",
            "--propagation",
            "private",
            "sh",
            "-c",
            BECOME,
            "sh",
        ])
        .arg(sysroot())
        .arg(place.path().join("rust"))
        .arg(tests)
        .args([
            "sandbox::",
            "--skip",
            "ordinary_user",
            "--test-threads",
            "2",
        ])
        .env("SHELLGLASS_BIN", program)
        .env("SHELLGLASS_TEST_PLACE", own)
        .env("SHELLGLASS_TEST_CORPUS", corpus)
        .env("SHELLGLASS_TEST_WHEELS", wheels)
        .env("SHELLGLASS_TEST_RUST", place.path().join("rust"))
        .env("HOME", place.path().join("home"))
        .env("PATH", super::runner::search_path())
        .current_dir("/");
    if let Some(weak) = super::walls_off::weak_program() {
        let weak = program_copied(&weak, &bin.join("weak"));
        command.env(super::walls_off::WEAK_PROGRAM, weak);
    }
    let output = command.output().expect("unshare is there");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // A filter that matches nothing would succeed too.
    let passed = said.rsplit("test result: ok. ").next().unwrap_or_default();
    let passed: u32 = passed
        .split(' ')
        .next()
        .unwrap_or_default()
        .parse()
        .unwrap_or(0);
    assert!(passed >= 20, "{said}");
}

fn sysroot() -> String {
    let asked = Command::new("rustc").args(["--print", "sysroot"]).output();
    let answer = asked.expect("there is a Rust compiler").stdout;
    String::from_utf8(answer).unwrap().trim().to_owned()
}

fn copied(from: &Path, place: &Path, name: &str) -> std::path::PathBuf {
    let to = place.join(name);
    let copied = Command::new("cp")
        .arg("-r")
        .args([from, &to])
        .status()
        .unwrap();
    assert!(copied.success(), "{} is there", from.display());
    to
}

fn program_copied(from: &Path, to: &Path) -> std::path::PathBuf {
    std::fs::copy(from, to).unwrap();
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o755)).unwrap();
    to.to_owned()
}
