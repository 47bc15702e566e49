//! The units of our package, under a real service manager of a user.
//!
//! It runs in namespaces of its own for mounts, processes and groups, so that it
//! has nothing to do with the machine's, and all of it ends with the test.

use shellglass_tests::program;
use shellglass_tests::program::ran;
use std::path::Path;
use std::process::Command;

/// Makes a group that the manager will take for the whole hierarchy, and removes
/// it when everything inside has ended.
const OUTSIDE: &str = r#"
set -e
mkdir "$WORK/groups"
mount -t cgroup2 none "$WORK/groups"
group=$WORK/groups/shellglass-systemd-$$
mkdir "$group"
(echo 0 >"$group/cgroup.procs"
exec unshare --cgroup --mount --pid --fork --kill-child --mount-proc sh "$WORK/inside")
tries=0
until find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || [ $tries -gt 100 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
"#;

/// Begins a manager, and uses Shellglass as whoever has installed the package does.
const INSIDE: &str = r#"
set -e
mount -t cgroup2 none /sys/fs/cgroup
mount -t tmpfs none /run
# A manager of a user wants to see that the system has one, too.
mkdir -p /run/systemd/system "$XDG_RUNTIME_DIR"
chmod 700 "$XDG_RUNTIME_DIR"
systemd-analyze --user --man=no verify "$HOME/.config/systemd/user/shellglass.service"
/usr/lib/systemd/systemd --user --log-target=console </dev/null >"$WORK/manager.log" 2>&1 &
tries=0
until [ -S "$XDG_RUNTIME_DIR/systemd/private" ]; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || { cat "$WORK/manager.log" >&2; exit 1; }
    sleep 0.1
done
is_active() { systemctl --user is-active "$1" || true; }
systemctl --user start shellglass.socket
is_active shellglass.service
"$BIN" run 'echo by a service'
is_active shellglass.service
id=$("$BIN" session create)
"$BIN" run --session "$id" 'kept=yes; sleep 1000 & echo $! >"$WORK/child"'
systemctl --user restart shellglass.service
"$BIN" run --session "$id" 'echo after a restart: $kept'
systemctl --user stop shellglass.service 2>/dev/null
is_active shellglass.service
"$BIN" run --session "$id" 'echo after a stop: $kept; kill -0 "$(cat "$WORK/child")" && echo it runs'
is_active shellglass.service
"#;

const SAID: &str = "\
inactive
by a service
active
after a restart: yes
inactive
after a stop: yes
it runs
active
";

/// Puts our units where an administrator may, with the program that is tested.
fn install(home: &Path) {
    let units = home.join(".config/systemd/user");
    std::fs::create_dir_all(units.join("shellglass.service.d")).unwrap();
    let packaging = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging");
    for unit in ["shellglass.socket", "shellglass.service"] {
        std::fs::copy(packaging.join(unit), units.join(unit)).unwrap();
    }
    let start = format!(
        "[Service]\nExecStart=\nExecStart={} serve\n",
        program().display()
    );
    std::fs::write(units.join("shellglass.service.d/program.conf"), start).unwrap();
}

#[test]
fn a_service_begins_with_its_first_command_and_its_sessions_outlive_it() {
    let work = tempfile::tempdir().unwrap();
    let home = work.path().join("home");
    install(&home);
    std::fs::write(work.path().join("inside"), INSIDE).unwrap();
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "sh", "-c", OUTSIDE])
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("LANG", "C.UTF-8")
        .env("BIN", program())
        .env("WORK", work.path())
        .env("HOME", &home)
        .env("XDG_RUNTIME_DIR", "/run/user/1000")
        .env("SHELLGLASS_DAEMON_LISTEN", "none")
        .env("SHELLGLASS_SANDBOX_DEFAULT", "none");
    assert_eq!(ran(&mut command).quiet(), SAID);
}
