//! `shellglass watch`: all sessions in a real terminal.

use super::tty::Tty;
use glass_proto::shellglass::v1::{
    CreateSessionRequest, Overview, SessionMode, WatchSessionsRequest,
};
use rustix::process::{Signal, kill_process};
use shellglass_tests::calls::{next, refused, rejected, success, token, with_token};
use shellglass_tests::program::ran;
use shellglass_tests::{Daemon, TestSession, eventually};
use tonic::Code;

/// Waiting for a terminal must not keep the clients from what they need.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

async fn named(daemon: &Daemon, name: &str, mode: SessionMode) -> TestSession {
    let request = CreateSessionRequest {
        name: name.to_owned(),
        shell: "bash".to_owned(),
        mode: mode.into(),
        startup: "none".to_owned(),
        working_directory: daemon.home().to_string_lossy().into_owned(),
        ..CreateSessionRequest::default()
    };
    TestSession::create(daemon, request).await
}

#[tokio::test]
async fn the_overview_follows_sessions_and_cancels_what_runs() {
    let mut daemon = Daemon::start("");
    let first = named(&daemon, "first", SessionMode::Pipe).await;
    let mut tty = Tty::start(&daemon, &["watch"]);
    let before = tty.before.clone();
    let mut tty = aside(move || {
        tty.until_line(&["first", "idle"]);
        tty
    })
    .await;
    let second = named(&daemon, "second\u{1b}[2J\u{202e}", SessionMode::Line).await;
    let running = second.submit("sleep 1234; true").await;
    let mut tty = aside(move || {
        let name = "second<U+001B>[2J";
        let line = tty.until_line(&[name, "line", "runs", "sleep"]);
        assert!(!line.contains('\u{202e}'), "{line:?}");
        tty.until_line(&["2 sessions, 1 running"]);
        // What it is about stands in the question.
        tty.type_in("jc");
        tty.until_line(&["cancel what runs in", "y or n"]);
        tty.type_in("y");
        tty
    })
    .await;
    assert!(running.end().await.aborted);
    // The daemon goes and comes, and so does what it says.
    daemon.kill();
    let mut tty = aside(move || {
        tty.until_line(&["the daemon is gone"]);
        tty
    })
    .await;
    daemon.spawn();
    daemon.wait_until_ready();
    let mut tty = aside(move || {
        tty.until_line(&["q quit"]);
        tty.until_line(&["first", "idle"]);
        tty.type_in("q");
        tty
    })
    .await;
    assert_eq!(tty.wait(), 0);
    let after = tty.modes();
    assert_eq!(after.local_modes, before.local_modes);
    assert_eq!(after.input_modes, before.input_modes);
    let text = tty.text();
    assert!(text.contains("\x1b[?1049l") && text.contains("\x1b[?25h"));
    assert!(
        !tty.lines().iter().any(|line| line.contains("first")),
        "it is gone"
    );
    drop(first);
}

#[tokio::test]
async fn a_session_is_opened_and_left_again() {
    let daemon = Daemon::start("");
    let session = named(&daemon, "work", SessionMode::Pipe).await;
    session.run("echo wo''rds").await;
    let mut tty = Tty::start(&daemon, &["watch"]);
    let mut tty = aside(move || {
        tty.until_line(&["work", "idle"]);
        tty.type_in("\r");
        tty.until("\x1b]633;B");
        tty.until_line(&["words"]);
        tty.type_in("\x1d");
        tty.until_line(&["q quit"]);
        tty.until_line(&["work", "idle"]);
        tty
    })
    .await;
    let before = tty.is_raw();
    kill_process(tty.pid(), Signal::TERM).unwrap();
    assert_eq!(tty.wait(), 128 + Signal::TERM.as_raw());
    assert!(before && !tty.is_raw(), "it is given back");
}

#[tokio::test]
async fn what_waits_is_shown_whole_and_answered() {
    let daemon = Daemon::start("[policy]\n");
    let agent = token(daemon.home(), "agent");
    let request = CreateSessionRequest {
        shell: "bash".to_owned(),
        startup: "none".to_owned(),
        working_directory: daemon.home().to_string_lossy().into_owned(),
        ..CreateSessionRequest::default()
    };
    let session = TestSession::create_as(&daemon.client().await, request, &agent).await;
    let ask = |command: &str| {
        let request = with_token(session.request(command), &agent);
        let mut client = session.client.clone();
        tokio::spawn(async move { client.run(request).await.expect("accepted").into_inner() })
    };
    let mut tty = Tty::start(&daemon, &["watch"]);
    let hidden = ask("touch first # \u{202e}");
    let mut tty = aside(move || {
        tty.until_line(&["| touch first # <U+202E>"]);
        tty.until_line(&["1 approvals waiting"]);
        tty.type_in("r");
        tty.until_line(&["refuse ask-", "y or n"]);
        tty.type_in("y");
        tty
    })
    .await;
    rejected(hidden.await.unwrap());
    let wanted = ask("touch second");
    let mut tty = aside(move || {
        tty.until_line(&["| touch second"]);
        tty.type_in("a");
        tty.until_line(&["approve ask-", "y or n"]);
        tty.type_in("y");
        tty
    })
    .await;
    success(wanted.await.unwrap());
    tty.type_in("\x03");
    assert_eq!(tty.wait(), 0);
    assert!(!daemon.home().join("first").exists());
    eventually("it ran", || daemon.home().join("second").exists()).await;
}

#[tokio::test]
async fn without_a_terminal_it_is_printed_once() {
    let daemon = Daemon::start("");
    let session = named(&daemon, "work\u{1b}c", SessionMode::Line).await;
    session.run("echo 1234; exit 3").await;
    for arguments in [vec!["watch"], vec!["watch", "--once"]] {
        let printed = ran(daemon.command().args(&arguments));
        assert_eq!(printed.status, 0, "{printed:?}");
        let text = printed.out();
        assert!(
            text.starts_with("1 sessions  1 commands  5 B  0 approvals"),
            "{text}"
        );
        for part in [
            &session.id,
            "work<U+001B>c",
            "idle",
            "line",
            "✗ 3 echo 1234",
        ] {
            assert!(text.contains(part), "no {part} in {text}");
        }
    }
}

#[tokio::test]
async fn who_watches_is_told_of_what_they_may_see_until_it_is_over() {
    let daemon = Daemon::start("");
    let agent = token(daemon.home(), "agent");
    let session = named(&daemon, "a person's", SessionMode::Pipe).await;
    let mut client = daemon.client().await;
    let all = with_token(WatchSessionsRequest::default(), &agent);
    let mut watched = client.watch_sessions(all).await.unwrap().into_inner();
    let first = next(&mut watched)
        .await
        .expect("it begins with how things are");
    assert!(first.sessions.is_empty(), "{first:?}");
    let only = WatchSessionsRequest {
        session_id: session.id.clone(),
    };
    let theirs = client
        .watch_sessions(with_token(only.clone(), &agent))
        .await;
    refused(theirs, Code::PermissionDenied);
    let nobody = WatchSessionsRequest {
        session_id: "s-nobody".to_owned(),
    };
    refused(client.watch_sessions(nobody).await, Code::NotFound);
    let mut watched = client.watch_sessions(only).await.unwrap().into_inner();
    let running = session.submit("sleep 1234").await;
    loop {
        let now: Overview = next(&mut watched).await.expect("it goes on");
        assert_eq!(now.sessions.len(), 1);
        if now.sessions[0].running_since_unix_ms > 0 {
            let shown = now.sessions[0].session.as_ref().unwrap();
            assert_eq!(shown.active_command, "sleep 1234");
            break;
        }
    }
    session.dispose().await;
    running.end().await;
    while let Some(now) = next(&mut watched).await {
        assert!(now.sessions.len() <= 1);
    }
}
