//! What is seen of a session from outside: its processes, its branch, and why a
//! command is quiet.

use super::desk::Desk;
use glass_proto::shellglass::v1::session_event::Event;
use glass_proto::shellglass::v1::{CreateSessionRequest, Session, SessionMode};
use shellglass_tests::{Daemon, PATIENCE, TestSession};
use std::net::TcpListener;

#[tokio::test]
async fn what_runs_is_listed_and_leaves_the_list() {
    let daemon = Daemon::start("");
    let mut desk = Desk::bare(&daemon, "bash").await;
    desk.keys("sleep 1234 | cat\r").await;
    let is_listed = |shown: &Session, wanted: &str| {
        let mut processes = shown.processes.iter();
        processes.any(|process| process.command == wanted && process.source == "direct")
    };
    let both = |shown: &Session| is_listed(shown, "sleep 1234") && is_listed(shown, "cat");
    desk.session.until("both are listed", both).await;
    desk.is_in_front("sleep 1234").await;
    desk.keys("\x03").await;
    desk.ended("sleep").await;
    desk.session
        .until("none is", |shown| shown.processes.is_empty())
        .await;
}

#[tokio::test]
async fn the_branch_is_that_of_the_directory() {
    let daemon = Daemon::start("");
    let mut desk = Desk::bare(&daemon, "bash").await;
    let made = "git init -q -b trunk repository && cd repository\r";
    assert_eq!(desk.typed(made).await.exit_code, Some(0));
    desk.session
        .until("it is on trunk", |shown| shown.git_branch == "trunk")
        .await;
    desk.typed("git checkout -q -b side/way\r").await;
    desk.session
        .until("it is aside", |shown| shown.git_branch == "side/way")
        .await;
    desk.typed("cd /\r").await;
    desk.session
        .until("it is on none", |shown| shown.git_branch.is_empty())
        .await;
}

/// Where HEAD is, as a table of git's own says it: on `trunk`.
const TABLE: &[u8] = b"REFT\x01\x00\x10\x00\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x01\
    r\x00\x009\x00#HEAD\x00\x10refs/heads/trunk\x00\x00\x1c\x00\x01";

#[tokio::test]
async fn the_branch_is_known_where_references_are_in_tables() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Line).await;
    // Not every git can make one, so the first is made by hand.
    let git = daemon.home().join("made/.git");
    std::fs::create_dir_all(git.join("reftable")).unwrap();
    std::fs::write(git.join("HEAD"), "ref: refs/heads/.invalid\n").unwrap();
    std::fs::write(git.join("reftable/tables.list"), "1.ref\n").unwrap();
    std::fs::write(git.join("reftable/1.ref"), TABLE).unwrap();
    let is_on = |branch: &'static str| move |shown: &Session| shown.git_branch == branch;
    assert_eq!(session.run("cd made").await.code, Some(0));
    session.until("it is on trunk", is_on("trunk")).await;
    let can = session
        .run("cd ..; git init -q --ref-format=reftable -b main real && cd real")
        .await;
    if can.code != Some(0) {
        let said = session.run("git --version").await.stdout;
        let version = said.trim_start_matches("git version ").split('.');
        let version: Vec<u32> = version.map_while(|number| number.parse().ok()).collect();
        assert!(version < vec![2, 45], "{said} makes such tables: {can:?}");
        return;
    }
    session.until("it is on main", is_on("main")).await;
    let commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x";
    let many = "for i in 1 2 3 4 5 6 7 8 9; do git branch some/branch-$i; done";
    let side = format!("{commit} && {many} && git checkout -q -b side/way");
    assert_eq!(session.run(&side).await.code, Some(0));
    session.until("it is aside", is_on("side/way")).await;
    let tree = "git worktree add -q ../tree -b apart && cd ../tree";
    assert_eq!(session.run(tree).await.code, Some(0));
    session.until("it is in a worktree", is_on("apart")).await;
    let detached = session
        .run("git checkout -q --detach && git rev-parse HEAD")
        .await;
    let begins = detached.stdout[..8].to_owned();
    let at = |shown: &Session| shown.git_branch == begins;
    session.until("it is on no branch", at).await;
}

#[tokio::test]
async fn a_quiet_command_says_what_it_waits_for() {
    let daemon = Daemon::start("");
    let mut desk = Desk::bare(&daemon, "bash").await;
    for (command, reason, keys) in [
        ("cat", "terminal", "\x04"),
        ("stty -echo; cat; stty echo", "password", "\x04"),
        ("sh -c 'while :; do :; done'", "cpu", "\x03"),
    ] {
        desk.keys(&format!("{command}\r")).await;
        let waits =
            |shown: &Session| shown.active_command == command && shown.quiet_reason == reason;
        desk.session.until(reason, waits).await;
        desk.keys(keys).await;
        desk.ended(command).await;
        desk.session
            .until("it is not quiet", |shown| shown.quiet_reason.is_empty())
            .await;
    }
    let told = desk.events().await.into_iter();
    let quiet = told.filter_map(|event| match event.event {
        Some(Event::Status(status)) if status.status == "quiet" => Some(status.detail),
        _ => None,
    });
    let quiet: Vec<String> = quiet.collect();
    assert!(
        quiet.iter().any(|detail| detail.starts_with("password")),
        "{quiet:?}"
    );
}

#[tokio::test]
async fn sessions_without_a_terminal_are_looked_at_alike() {
    let daemon = Daemon::start("");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it has one").port();
    let network = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3");
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let session = TestSession::with(&daemon, "bash", mode).await;
        for (command, process, reason) in [
            ("while :; do :; done", "", "cpu"),
            ("sh -c 'while :; do :; done'", "sh -c", "cpu"),
            (network.as_str(), "cat", "network"),
        ] {
            let running = session.submit(command).await;
            let is_seen = |shown: &Session| {
                let mut listed = shown.processes.iter();
                let is_listed = listed.any(|one| one.command.starts_with(process));
                (process.is_empty() || is_listed)
                    && shown.quiet_reason == reason
                    && shown.quiet_since_unix_ms > shown.created_unix_ms
            };
            session.until(command, is_seen).await;
            assert!(session.cancel(None).await);
            running.end().await;
            let rests = |shown: &Session| {
                shown.processes.is_empty()
                    && shown.quiet_reason.is_empty()
                    && shown.quiet_since_unix_ms == 0
            };
            session.until("nothing runs", rests).await;
        }
    }
}

#[tokio::test]
async fn what_a_command_left_behind_is_listed_until_it_is_gone() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let ran = session
        .run("mkfifo gate; sh -c 'read line < gate' > out 2>&1 &")
        .await;
    assert_eq!(ran.code, Some(0));
    let left = |shown: &Session| shown.processes.len() == 1 && !shown.running;
    session.until("it is listed", left).await;
    std::fs::write(daemon.home().join("gate"), "go\n").expect("it reads");
    session
        .until("it is gone", |shown| shown.processes.is_empty())
        .await;
}

#[tokio::test]
async fn the_branch_is_known_without_a_terminal_and_before_a_command() {
    let daemon = Daemon::start("");
    let made = "git init -q -b trunk repository && cd repository";
    let first = TestSession::with(&daemon, "bash", SessionMode::Line).await;
    assert_eq!(first.run(made).await.code, Some(0));
    let on_trunk = |shown: &Session| shown.git_branch == "trunk";
    first.until("the line session is on trunk", on_trunk).await;
    let request = CreateSessionRequest {
        working_directory: daemon.home().join("repository").display().to_string(),
        ..CreateSessionRequest::default()
    };
    let second = TestSession::create(&daemon, request).await;
    let shown = second
        .until("so is one that has run nothing", on_trunk)
        .await;
    assert_eq!(shown.last_shell_id, 0);
    second.run("git checkout -q -b side").await;
    second
        .until("it has moved", |shown| shown.git_branch == "side")
        .await;
}

#[tokio::test]
async fn a_long_silence_without_a_terminal_is_an_event_once() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let running = session.submit("while :; do :; done").await;
    let deadline = std::time::Instant::now() + PATIENCE;
    while session.remarks("quiet").await.is_empty() {
        assert!(std::time::Instant::now() < deadline, "nobody says it");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert!(session.cancel(None).await);
    running.end().await;
    let said = session.remarks("quiet").await;
    let cpu = said.iter().filter(|remark| remark.starts_with("cpu: "));
    assert_eq!(cpu.count(), 1, "{said:?}");
    let reason = |remark: &String| remark.split(':').next().map(str::to_owned);
    let mut reasons: Vec<_> = said.iter().map(reason).collect();
    reasons.sort();
    reasons.dedup();
    assert_eq!(reasons.len(), said.len(), "one is told twice: {said:?}");
}

#[tokio::test]
async fn what_runs_behind_a_tmux_client_is_listed() {
    let daemon = Daemon::start("[views]\nunlisted_programs = []\n");
    let mut first = Desk::bare(&daemon, "bash").await;
    let tmux = "env -u TMUX tmux -f /dev/null -S server.sock";
    first
        .keys(&format!("{tmux} new-session 'sleep 4321; true'\r"))
        .await;
    let shows = |shown: &Session| {
        let mut processes = shown.processes.iter();
        processes.any(|one| one.command == "sleep 4321" && one.source == "tmux")
    };
    let inside = first.session.until("the server is ours", shows).await;
    let mut clients = inside.processes.iter();
    assert!(
        clients.any(|one| one.command.starts_with("tmux") && one.source == "direct"),
        "{inside:?}"
    );
    // The server belongs to the first session, its client to the second.
    let mut second = Desk::bare(&daemon, "bash").await;
    second.keys(&format!("{tmux} attach\r")).await;
    second.session.until("the server is elsewhere", shows).await;
    second.keys("\x02d").await;
    second.ended("attach").await;
    let left = |shown: &Session| shown.processes.is_empty();
    second.session.until("it has left", left).await;
    // One that is no client is not shown what a server does, whatever its name.
    second
        .keys("sh -c 'printf \"tmux: client\" > /proc/$$/comm; read x'\r")
        .await;
    let pretends = |shown: &Session| shown.quiet_reason == "terminal";
    second.session.until("somebody pretends", pretends).await;
    let shown = second.session.shown().await;
    assert!(!shows(&shown), "{shown:?}");
    first.keys("\x02d").await;
    first.ended("new-session").await;
    let ended = first.typed(&format!("{tmux} kill-server\r")).await;
    assert_eq!(ended.exit_code, Some(0));
}

#[tokio::test]
async fn what_is_in_every_pane_is_not_listed() {
    let daemon = Daemon::start("");
    let mut desk = Desk::bare(&daemon, "bash").await;
    let tmux = "env -u TMUX tmux -f /dev/null -S server.sock";
    // A pane with a shell at its prompt, beside one with two commands.
    let panes = "split-window 'sleep 4321 & tail -f /dev/null'";
    desk.keys(&format!("{tmux} new-session bash \\; {panes}\r"))
        .await;
    let is_listed = |shown: &Session, command: &str| {
        let mut processes = shown.processes.iter();
        processes.any(|one| one.command == command && one.source == "tmux")
    };
    let shows = |shown: &Session| is_listed(shown, "tail -f /dev/null");
    let shown = desk.session.until("what runs is shown", shows).await;
    assert!(!is_listed(&shown, "sleep 4321"), "{shown:?}");
    assert!(!is_listed(&shown, "bash"), "{shown:?}");
    desk.keys("\x02d").await;
    desk.ended("new-session").await;
    let ended = desk.typed(&format!("{tmux} kill-server\r")).await;
    assert_eq!(ended.exit_code, Some(0));
}
