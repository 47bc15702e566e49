//! `shellglass attach` in a real terminal.

use super::tty::Tty;
use super::viewer::terminal;
use glass_proto::shellglass::v1::{SessionMode, SessionRef};
use rustix::process::{Pid, Signal, kill_process};
use shellglass_tests::{Daemon, TestSession, eventually, program::finish};
use std::process::Stdio;
use std::time::Duration;

/// Runs what blocks beside the runtime, which the daemon's clients need.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

/// Leaves by the key, or is told to go; the status that follows.
fn leave(tty: &mut Tty, signal: Option<Signal>) -> i32 {
    let Some(signal) = signal else {
        tty.type_in("\x1d");
        return 0;
    };
    kill_process(tty.pid(), signal).unwrap();
    128 + signal.as_raw()
}

/// The terminal is as it was before.
fn assert_restored(tty: &Tty) {
    let (before, after) = (&tty.before, tty.modes());
    assert_eq!(after.local_modes, before.local_modes);
    assert_eq!(after.input_modes, before.input_modes);
    assert_eq!(after.output_modes, before.output_modes);
    assert_eq!(after.control_modes, before.control_modes);
}

#[tokio::test]
async fn a_terminal_is_given_back_as_it_was() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let pipe = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    for (name, arguments) in [
        ("terminal", vec!["attach", "--write", session.id.as_str()]),
        ("watched terminal", vec!["attach", session.id.as_str()]),
        ("mirror", vec!["attach", pipe.id.as_str()]),
        ("console", vec!["attach", "--write", pipe.id.as_str()]),
    ] {
        for signal in [
            None,
            Some(Signal::TERM),
            Some(Signal::HUP),
            Some(Signal::INT),
        ] {
            let mut tty = Tty::start(&daemon, &arguments);
            eventually("keys come raw", || tty.is_raw()).await;
            tty.until(if matches!(name, "mirror" | "console") {
                "\x1b]633;B"
            } else {
                "\x1bc"
            });
            let status = leave(&mut tty, signal);
            assert_eq!(tty.wait(), status, "{name} {signal:?}");
            assert_restored(&tty);
            assert!(tty.text().contains("\x1b[?25h"), "the cursor is shown");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_that_takes_nothing_can_be_left() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    for signal in [None, Some(Signal::TERM)] {
        let mut tty = Tty::start(&daemon, &["attach", "--write", &session.id]);
        tty.until("\x1bc");
        // From here on nobody reads: far more comes than can wait on the way.
        let flood = "head -c 4000000 /dev/zero | tr '\\0' x; echo";
        assert_eq!(session.run(flood).await.code, Some(0));
        // So the status line, which says something else each time, finds no room.
        for _ in 0..3 {
            session.run("cd \"$(mktemp -d -p .)\"").await;
        }
        let status = leave(&mut tty, signal);
        assert_eq!(tty.wait_unread(), status, "{signal:?}");
        assert_restored(&tty);
    }
}

#[tokio::test]
async fn the_alternate_screen_and_the_mouse_are_left_behind() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut tty = Tty::start(&daemon, &["attach", "--write", &session.id]);
    tty.until(">");
    tty.type_in("printf '\\e[?1049h\\e[?1000h\\e[?25l'; echo he''re\r");
    tty.until("here\r\n");
    tty.forget();
    tty.type_in("\x1d");
    assert_eq!(tty.wait(), 0);
    let last = tty.text();
    for undone in ["\x1b[?1049l", "\x1b[?1000l", "\x1b[?25h"] {
        assert!(last.contains(undone), "{last:?}");
    }
}

#[tokio::test]
async fn what_is_typed_and_a_new_size_reach_the_session() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut tty = Tty::start(&daemon, &["attach", "--write", &session.id]);
    tty.until(">");
    tty.type_in("echo $((6*7)); stty size\r");
    tty.until("42\r\n");
    // A row is for the status line.
    tty.until("29 80\r\n");
    tokio::time::sleep(Duration::from_millis(600)).await;
    tty.resize(97, 33);
    for _ in 0..200 {
        tty.type_in("stty size\r");
        tokio::time::sleep(Duration::from_millis(50)).await;
        if tty.text().contains("32 97\r\n") {
            break;
        }
    }
    tty.until("32 97\r\n");
    tty.type_in("exit 5\r");
    assert_eq!(tty.wait(), 0);
    assert!(tty.text().contains("the session is over"));
}

#[tokio::test]
async fn ctrl_c_in_a_watched_session_cancels_and_keys_do_nothing() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let mut tty = Tty::start(&daemon, &["attach", &session.id]);
    tty.until("\x1b]633;B");
    tty.type_in("touch typed\r");
    tty.until("\x07");
    let request = session.request("echo begun; sleep 600");
    let running = session.try_run(request);
    let cancelling = aside(move || {
        tty.until("begun\r\n");
        tty.type_in("\x03");
        tty.until("\x1b]633;D");
        tty
    });
    let (ran, mut tty) = tokio::join!(running, cancelling);
    assert!(ran.expect("it is accepted").aborted);
    assert!(!daemon.home().join("typed").exists());
    let reference = SessionRef {
        session_id: session.id.clone(),
    };
    session
        .client
        .clone()
        .dispose_session(reference)
        .await
        .unwrap();
    assert_eq!(tty.wait(), 0, "it ends with the session");
}

#[tokio::test]
async fn attach_finds_a_daemon_again_that_was_killed() {
    let mut daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut tty = Tty::start(&daemon, &["attach", "--write", &session.id]);
    tty.until(">");
    tty.type_in("x=kept; echo bef''ore\r");
    tty.until("before\r\n");
    tty.forget();
    daemon.crash_and_restart();
    tty.until("before");
    tty.type_in("echo \"[$x]\"; exit\r");
    tty.until("[kept]\r\n");
    assert_eq!(tty.wait(), 0);
}

#[tokio::test]
async fn what_cannot_be_attached_to_is_said_before_the_terminal_changes() {
    let daemon = Daemon::start("");
    let run = |arguments: &[&str]| {
        let mut command = daemon.command();
        command.args(arguments).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command.spawn().unwrap())
    };
    run(&["attach", "s-nobody"]).failed_with(1);
    run(&["attach", "--write", "s-nobody"]).failed_with(1);
}

#[tokio::test]
async fn attach_without_a_terminal_prints_what_it_sees() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Line).await;
    session.run("echo words").await;
    let mut client = session.client.clone();
    let reference = SessionRef {
        session_id: session.id.clone(),
    };
    client.dispose_session(reference).await.unwrap();
    let mut command = daemon.command();
    command.args(["attach", &session.id]).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = finish(command.spawn().unwrap());
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.out().contains("words\r\n"));
}

#[tokio::test]
async fn what_is_typed_before_the_key_that_leaves_arrives() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    for round in 0..5 {
        let mark = daemon.home().join(format!("typed-{round}"));
        let mut tty = Tty::start(&daemon, &["attach", "--write", &session.id]);
        tty.until(">");
        tty.type_in(&format!("touch {}\r\x1d", mark.display()));
        assert_eq!(tty.wait(), 0);
        eventually("it was typed", || mark.exists()).await;
    }
}

#[tokio::test]
async fn the_key_that_leaves_is_heard_behind_keys_that_nobody_takes() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut tty = Tty::start(&daemon, &["attach", "--write", &session.id]);
    tty.until(">");
    let pid = Pid::from_raw(daemon.pid().cast_signed()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    // More than the daemon's socket and its connection hold.
    tty.pour(&[b'x'; 3 << 20]);
    tty.pour(b"\x1d");
    let status = tty.wait();
    kill_process(pid, Signal::CONT).unwrap();
    assert_eq!(status, 0);
    let said = tty.text();
    let last = said.lines().last().unwrap_or_default();
    assert!(last.contains("has not taken the last"), "{last:?}");
}

#[tokio::test]
async fn what_is_typed_while_the_daemon_is_away_reaches_the_next_one() {
    let mut daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let arguments = ["attach", "--write", "--no-status", &session.id];
    let mut tty = Tty::start(&daemon, &arguments);
    tty.until(">");
    let (pid, before) = (tty.pid(), sockets(tty.pid()));
    daemon.kill();
    eventually("it has noticed", || sockets(pid) < before).await;
    tty.type_in("echo ar''rived\r");
    daemon.spawn();
    daemon.wait_until_ready();
    tty.until("arrived\r\n");
    tty.type_in("\x1d");
    assert_eq!(tty.wait(), 0);
}

/// How many sockets a process has.
fn sockets(pid: Pid) -> usize {
    let directory = format!("/proc/{}/fd", pid.as_raw_nonzero());
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    let links = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    let is_socket = |link: &std::path::PathBuf| link.to_string_lossy().starts_with("socket:");
    links.filter(is_socket).count()
}
