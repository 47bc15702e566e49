//! Ctrl+C, and what is asked for while a command waits.

use rustix::process::Signal;
use serde_json::Value;
use shellglass_tests::Daemon;
use shellglass_tests::program::{finish, is_alive, piped, signal, wait_until};

/// A command that says that it has begun, and what its process is.
const SLOW: &str = "echo $$ >begun; sleep 1000; touch next";

fn wait_for_begun(daemon: &Daemon) -> u32 {
    let begun = daemon.home().join("begun");
    let pid = || std::fs::read_to_string(&begun).unwrap_or_default();
    wait_until("the command has begun", || pid().ends_with('\n'));
    let process = pid().trim().parse().unwrap();
    std::fs::remove_file(&begun).unwrap();
    process
}

#[test]
fn ctrl_c_cancels_the_command_and_exits_with_130() {
    let daemon = Daemon::start("");
    let id = daemon.cli(&["session", "create"]).quiet();
    for flags in [
        &[][..],
        &["--json"][..],
        &["--mode", "line"][..],
        &["--session", id.trim()][..],
        &["--json", "--session", id.trim()][..],
    ] {
        for how in [Signal::INT, Signal::TERM, Signal::HUP] {
            let child = piped(daemon.line().arg("run").args(flags).arg(SLOW));
            let process = wait_for_begun(&daemon);
            signal(child.id(), how);
            let ran = finish(child);
            assert_eq!(ran.status, 130, "{flags:?} {how:?}: {ran:?}");
            assert!(!is_alive(process), "{flags:?}");
            if flags.contains(&"--json") {
                let printed: Value = serde_json::from_slice(&ran.stdout).unwrap();
                assert_eq!(printed["failure"]["aborted"], Value::Bool(true));
                let reason = &printed["failure"]["abortReason"];
                assert_eq!(reason, "SHELL_ABORT_REASON_USER_ABORT");
            }
        }
    }
    assert!(!daemon.home().join("next").exists());
    let ran = daemon.cli(&["run", "--session", id.trim(), "echo on"]);
    assert_eq!(ran.quiet(), "on\n");
}

#[test]
fn ctrl_c_while_the_command_waits_keeps_it_from_running() {
    let daemon = Daemon::start("");
    let id = daemon.cli(&["session", "create"]).quiet();
    let id = id.trim();
    for flags in [&[][..], &["--json"][..]] {
        let first = piped(daemon.line().args(["run", "--session", id, SLOW]));
        wait_for_begun(&daemon);
        let mut line = daemon.line();
        line.args(["run", "--session", id])
            .args(flags)
            .arg("touch next");
        let second = piped(&mut line);
        // Whether it is in the queue is not shown; once it has connected, it
        // is there in a moment, and before that Ctrl+C has to work as well.
        wait_until("the second one has connected", || is_connected(second.id()));
        std::thread::sleep(std::time::Duration::from_millis(100));
        signal(second.id(), Signal::INT);
        let ran = finish(second);
        assert_eq!(ran.status, 130, "{flags:?}: {ran:?}");
        daemon.cli(&["cancel", id]);
        assert_eq!(finish(first).status, 130);
        let ran = daemon.cli(&["run", "--session", id, "echo on"]);
        assert_eq!(ran.quiet(), "on\n");
        assert!(!daemon.home().join("next").exists(), "{flags:?}");
    }
}

/// Whether a process has a socket open.
fn is_connected(pid: u32) -> bool {
    let Ok(descriptors) = std::fs::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    descriptors.flatten().any(|entry| {
        std::fs::read_link(entry.path())
            .is_ok_and(|target| target.to_string_lossy().starts_with("socket:"))
    })
}

#[test]
fn a_second_ctrl_c_leaves_at_once() {
    let daemon = Daemon::start("[limits]\ncancel_grace_ms = 8000\n");
    let stubborn = "perl -e '$SIG{INT} = sub {}; open F, q(>begun); print F qq($$\\n); \
                    close F; sleep 1 while 1'";
    let child = piped(daemon.line().args(["run", stubborn]));
    wait_for_begun(&daemon);
    let began = std::time::Instant::now();
    signal(child.id(), Signal::INT);
    // The first one must have been taken before the second is sent.
    std::thread::sleep(std::time::Duration::from_millis(300));
    signal(child.id(), Signal::INT);
    let ran = finish(child);
    assert_eq!(ran.status, 130, "{ran:?}");
    assert!(ran.stderr.contains("hint: "), "{ran:?}");
    assert!(began.elapsed() < std::time::Duration::from_secs(7));
}

#[test]
fn a_program_that_took_its_shells_place_can_tidy_up() {
    let daemon = Daemon::start("[limits]\ncancel_grace_ms = 20000\n");
    let tidy = "perl -e '$SIG{INT} = sub { open G, q(>tidied); exit }; open F, q(>begun); \
                print F qq($$\\n); close F; sleep 1 while 1'";
    let id = daemon.cli(&["session", "create"]).quiet();
    let replaced = format!("exec {tidy}");
    for (flags, command) in [
        // A shell gives its place to the last command of all.
        (&["--mode", "auto"][..], tidy),
        (&["--mode", "line"], tidy),
        (&["--mode", "pipe"], tidy),
        (&["--mode", "line"], &replaced),
        (&["--session", id.trim()], &replaced),
    ] {
        let child = piped(daemon.line().arg("run").args(flags).arg(command));
        let process = wait_for_begun(&daemon);
        signal(child.id(), Signal::INT);
        let ran = finish(child);
        assert_eq!(ran.status, 130, "{flags:?} {command}: {ran:?}");
        assert!(!is_alive(process), "{flags:?} {command}");
        let tidied = std::fs::remove_file(daemon.home().join("tidied"));
        assert!(tidied.is_ok(), "{flags:?} {command}");
    }
}

#[test]
fn cancel_stops_a_session_or_one_execution() {
    let daemon = Daemon::start("");
    let id = daemon.cli(&["session", "create"]).quiet();
    let id = id.trim();
    let child = piped(daemon.line().args(["run", "--session", id, SLOW]));
    let process = wait_for_begun(&daemon);
    let ran = daemon.cli(&["cancel", id]);
    assert_eq!((ran.status, ran.out().as_str()), (0, ""));
    assert!(ran.stderr.contains("cancelled"), "{ran:?}");
    assert!(!is_alive(process));
    assert_eq!(finish(child).status, 130);
    let ran = daemon.cli(&["cancel", id]);
    assert!(
        ran.status == 0 && ran.stderr.contains("nothing was running"),
        "{ran:?}"
    );
    let child = piped(daemon.line().args(["run", "--session", id, SLOW]));
    let process = wait_for_begun(&daemon);
    let shown = daemon.cli(&["session", "show", id, "--json"]).quiet();
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let number = shown["lastShellId"].to_string();
    assert_eq!(daemon.cli(&["cancel", &number]).status, 0);
    assert!(!is_alive(process));
    assert_eq!(finish(child).status, 130);
    daemon.cli(&["cancel", "s-aaaaaaaaaaaaaaaa"]).failed_with(1);
    daemon.cli(&["cancel", "999999"]).failed_with(1);
}
