//! Before a host has answered: who leaves, what changes meanwhile, and a host that
//! runs only what it wants.

use super::super::terminals::one_command::{on_terminal, session_of};
use super::super::terminals::viewer::{Viewer, open};
use super::server::{Server, is_gone, on_box, session};
use glass_proto::shellglass::v1::{AttachOpen, CreateSessionRequest, SessionMode, View};
use rustix::process::Signal;
use shellglass_tests::calls::rest;
use shellglass_tests::program::{finish, piped, ran, signal, wait_until};
use shellglass_tests::{Daemon, TestSession, eventually, processes};
use std::process::Command;

/// A terminal on `box`.
async fn terminal(daemon: &Daemon) -> TestSession {
    let request = CreateSessionRequest {
        mode: SessionMode::Pty.into(),
        working_directory: "/usr".to_owned(),
        ..on_box()
    };
    TestSession::create(daemon, request).await
}

#[tokio::test]
async fn a_command_that_is_cancelled_on_the_way_never_runs() {
    let server = Server::start();
    server.hold();
    let daemon = server.daemon("");
    let session = session(&daemon).await;
    let ran = server.file("ran").display().to_string();
    let touch = format!("touch {ran}");
    let ended = session.cancel_when(&touch, || server.is_held()).await;
    assert!(ended.aborted && ended.code.is_none(), "{ended:?}");
    assert!(is_gone(&server.file("held").display().to_string()));
    let request = on_terminal(&session, &touch);
    std::fs::remove_file(server.file("held")).unwrap();
    let (id, mut stream) = session.begin_request(request).await;
    eventually("it is on the way", || server.is_held()).await;
    assert!(session.cancel(Some(id)).await);
    assert!(rest(&mut stream).await.exit().aborted);
    assert!(is_gone(&server.file("held").display().to_string()));
    server.let_go();
    assert_eq!(session.run("echo on").await.stdout, "on\n");
    assert!(!server.file("ran").exists(), "it ran after all");
}

#[test]
fn who_types_ctrl_c_on_the_way_has_run_nothing() {
    let server = Server::start();
    server.hold();
    let daemon = server.daemon("");
    let ran = server.file("ran").display().to_string();
    for flags in [&[][..], &["--tty"][..]] {
        let _ = std::fs::remove_file(server.file("held"));
        let mut run = daemon.command();
        run.args(["run", "--host", "box"]).args(flags);
        let child = piped(run.arg(format!("touch {ran}")));
        wait_until("it is on the way", || server.is_held());
        signal(child.id(), Signal::INT);
        let left = finish(child);
        assert_eq!(left.status, 130, "{flags:?}: {left:?}");
        wait_until("nobody is on the way", || {
            is_gone(&server.file("held").display().to_string())
        });
    }
    server.let_go();
    assert!(!server.file("ran").exists(), "it ran after all");
}

#[tokio::test]
async fn ctrl_c_in_a_terminal_on_the_way_ends_it() {
    let server = Server::start();
    server.hold();
    let daemon = server.daemon("");
    let session = terminal(&daemon).await;
    let mut viewer = Viewer::open(&session.client, open(&session)).await;
    viewer.ready().await;
    eventually("it is on the way", || server.is_held()).await;
    viewer.type_in("\x03").await;
    assert_ne!(viewer.end().await, Some(0));
    let gone = || is_gone(&server.file("held").display().to_string());
    eventually("nobody is on the way", gone).await;
}

#[tokio::test]
async fn a_size_that_changes_on_the_way_is_the_one_there() {
    let server = Server::start();
    server.hold();
    let daemon = server.daemon("");
    let terminal = terminal(&daemon).await;
    let mut viewer = Viewer::open(&terminal.client, open(&terminal)).await;
    viewer.ready().await;
    eventually("it is on the way", || server.is_held()).await;
    viewer.resize(101, 37).await;
    let shown = terminal.until("it has the size", |it| (it.cols, it.rows) == (101, 37));
    shown.await;
    std::fs::remove_file(server.file("held")).unwrap();
    let one = session(&daemon).await;
    let (id, mut stream) = one.begin_request(on_terminal(&one, "stty size")).await;
    let behind = session_of(&one, id).await;
    let console = AttachOpen {
        view: View::Console.into(),
        ..open(&behind)
    };
    let console = Viewer::open(&one.client, console).await;
    eventually("it is on the way, too", || server.is_held()).await;
    console.resize(103, 39).await;
    eventually("its terminal has the size", || {
        size_of_relay(&daemon) == "39 103\n"
    })
    .await;
    server.let_go();
    viewer.until("\u{1e}").await;
    viewer.type_in("stty size; exit 3\r").await;
    viewer.until("37 101").await;
    assert_eq!(viewer.end().await, Some(3));
    let told = rest(&mut stream).await;
    let said = String::from_utf8(told.stdout()).unwrap();
    assert!(said.ends_with("39 103\r\n"), "{said:?}");
}

#[tokio::test]
async fn a_host_that_runs_only_what_it_wants_runs_no_command_and_says_what_it_says() {
    let mut server = Server::start();
    server.force("echo 'only mail here'; exit 0");
    let daemon = server.daemon("");
    let session = session(&daemon).await;
    let ran = server.file("ran").display().to_string();
    let touch = format!("touch {ran}");
    for request in [session.request(&touch), on_terminal(&session, &touch)] {
        let told = session.try_run(request).await.unwrap();
        let why = told.spawn_error.clone().unwrap_or_default();
        assert!(why.contains("no shell for us: only mail here"), "{told:?}");
        assert!(why.contains("hint: "), "{told:?}");
        assert_eq!(told.code, None, "{told:?}");
    }
    assert!(!server.file("ran").exists());
    // In a terminal a person sees what it says, and how it ends.
    let terminal = terminal(&daemon).await;
    let mut viewer = Viewer::open(&terminal.client, open(&terminal)).await;
    viewer.until("only mail here").await;
    assert_eq!(viewer.end().await, Some(0));
}

/// The size of the terminal that a command of this daemon is to have elsewhere, as `stty` says it.
fn size_of_relay(daemon: &Daemon) -> String {
    let home = daemon.home().display().to_string();
    let mut all = processes().into_iter();
    let relay = all.find(|(_, line)| line.contains(" relay ") && line.contains(&home));
    let Some((pid, _)) = relay else {
        return String::new();
    };
    let stty = format!("stty size </proc/{pid}/fd/0");
    ran(Command::new("sh").args(["-c", &stty])).out()
}
