//! A terminal on another host: what `ssh` asks reaches the person who types.

use super::server::{Server, on_box};
use crate::terminals::viewer::{Viewer, open};
use glass_proto::shellglass::v1::{CreateSessionRequest, SessionMode};
use shellglass_tests::TestSession;
use shellglass_tests::calls::refused;
use shellglass_tests::program::ran;
use std::process::Command;
use tonic::Code;

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
