//! A terminal on another host: what `ssh` asks reaches the person who types.

use super::server::{Server, on_box};
use crate::terminals::viewer::{Viewer, open};
use glass_proto::shellglass::v1::attach_output::Output;
use glass_proto::shellglass::v1::{CreateSessionRequest, SessionMode};
use shellglass_tests::TestSession;
use shellglass_tests::calls::refused;
use shellglass_tests::program::ran;
use std::process::Command;
use tonic::Code;

#[tokio::test]
async fn a_person_types_the_password_of_an_account() {
    if !rustix::process::geteuid().is_root() {
        // Nobody else can give a server accounts of its own.
        eprintln!("not tried: a server with passwords needs root");
        return;
    }
    let server = Server::with_password("correct horse");
    let daemon = server.daemon("");
    let request = CreateSessionRequest {
        mode: SessionMode::Pty.into(),
        working_directory: "/usr".to_owned(),
        ..on_box()
    };
    let session = TestSession::create(&daemon, request).await;
    let mut viewer = Viewer::open(&session.client, open(&session)).await;
    viewer.until("ann@127.0.0.1's password:").await;
    // Whoever looks is told that something secret is asked for.
    while !viewer.others.iter().any(is_hidden_question) {
        assert!(viewer.step().await.is_some(), "nobody is told");
    }
    viewer.forget();
    viewer.type_in("wrong horse\r").await;
    viewer.until("try again").await;
    viewer.until("'s password:").await;
    viewer.type_in("correct horse\r").await;
    viewer.until("\u{1e}").await;
    viewer.type_in("echo \"$USER at $(pwd)\"; exit 7\r").await;
    viewer.until("ann at /usr").await;
    assert_eq!(viewer.end().await, Some(7));
    for typed in ["correct horse", "wrong horse"] {
        assert!(!viewer.text().contains(typed), "it is shown");
        let mut grep = Command::new("grep");
        let kept = ran(grep.args(["-rlaF", typed]).arg(daemon.home()));
        assert_eq!(kept.out(), "");
    }
}

fn is_hidden_question(output: &Output) -> bool {
    match output {
        Output::Property(property) => {
            property.name == "question" && property.value.starts_with("hidden ")
        }
        _ => false,
    }
}

#[tokio::test]
async fn a_person_answers_what_ssh_asks_and_types_there() {
    let server = Server::start();
    let daemon = server.daemon("");
    server.know_nobody();
    server.lock_key("open sesame");
    let request = CreateSessionRequest {
        mode: SessionMode::Pty.into(),
        working_directory: "/usr".to_owned(),
        ..on_box()
    };
    let session = TestSession::create(&daemon, request).await;
    let shown = session.shown().await;
    assert_eq!(shown.host, "box");
    assert_eq!(shown.integration, "none: the shell is on another host");
    let mut viewer = Viewer::open(&session.client, open(&session)).await;
    viewer.until("continue connecting (yes/no").await;
    viewer.type_in("yes\r").await;
    viewer.until("Enter passphrase for key").await;
    viewer.type_in("open sesame\r").await;
    // Its start files have printed their last: from here on nothing throws keys away.
    viewer.until("\u{1e}").await;
    // Nothing is handed over to a shell that we do not drive, or run here instead.
    let answer = session.client.clone().run(session.request("true")).await;
    refused(answer, Code::InvalidArgument);
    viewer
        .type_in("echo at $(pwd) on $(tty | cut -c1-8) via ${SSH_CONNECTION:+ssh}; exit 9\r")
        .await;
    viewer.until("at /usr on /dev/pts via ssh").await;
    assert_eq!(viewer.end().await, Some(9));
    // What was typed without an echo is nowhere.
    let kept = ran(Command::new("grep")
        .args(["-rlaF", "open sesame"])
        .arg(daemon.home()));
    assert_eq!(kept.out(), "");
}
