//! What a command cost and left behind.

use crate::redaction::projections::{TOKEN, TOKEN_SHOWN};
use glass_proto::agent::v1::Receipt;
use glass_proto::shellglass::v1::session_event::Event as Body;
use glass_proto::shellglass::v1::{SearchRequest, SessionMode};
use shellglass_tests::calls::success;
use shellglass_tests::{Daemon, TestSession};

/// What the text below has, in bytes.
const HELD_BYTES: u64 = 30_000_000;

/// Holds that much in one process for a while, and works for it.
const GREEDY: &str =
    "bash -c 'x=$(head -c 30000000 /dev/zero | tr \"\\0\" x); sleep 2; echo ${#x}'";

async fn receipt(session: &TestSession, command: &str) -> Option<Receipt> {
    success(session.result(session.request(command)).await).receipt
}

#[tokio::test]
async fn what_a_command_used_is_known() {
    let daemon = Daemon::start("");
    for (mode, is_sampled) in [(SessionMode::Line, false), (SessionMode::Pipe, true)] {
        let session = TestSession::with(&daemon, "bash", mode).await;
        // Neither the greed nor the work of this one is the next one's.
        let first = receipt(&session, GREEDY).await.expect("it ran for long");
        let peak = first.peak_memory_bytes.expect("known");
        assert!(peak >= HELD_BYTES, "{mode:?} {first:?}");
        assert_eq!(first.peak_memory_is_sampled, is_sampled, "{mode:?}");
        let cpu = first.cpu_user_us.expect("known") + first.cpu_system_us.expect("known");
        assert!(cpu > 0, "{mode:?} {first:?}");
        assert!(first.written_bytes.is_some(), "{mode:?} {first:?}");
        assert_eq!(first.left_count, 0, "{mode:?} {first:?}");
        let second = receipt(&session, "sleep 0.5").await.expect("it ran");
        let peak = second.peak_memory_bytes.expect("known");
        assert!(peak < HELD_BYTES, "{mode:?} {second:?}");
    }
}

/// Starts a server that listens, and prints its number and its port.
fn server(more: &str) -> String {
    format!(
        "python3 -c 'import socket,time\n\
         s=socket.socket(); s.bind((\"127.0.0.1\",0)); s.listen()\n\
         open(\"port\",\"w\").write(str(s.getsockname()[1])); time.sleep(1e3)' {more} \
         >/dev/null 2>&1 & until [ -s port ]; do sleep 0.01; done; echo $!; cat port"
    )
}

#[tokio::test]
async fn what_lives_on_is_named_with_its_ports_and_without_secrets() {
    let daemon = Daemon::start("");
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let session = TestSession::with(&daemon, "bash", mode).await;
        let ran = success(session.result(session.request(&server(TOKEN))).await);
        let (pid, port) = ran.stdout.split_once('\n').expect("two lines");
        let receipt = ran.receipt.expect("something lives on");
        assert_eq!(receipt.left_count, 1, "{mode:?} {receipt:?}");
        let left = &receipt.left[0];
        assert_eq!((left.pid.to_string().as_str(), left.ports.len()), (pid, 1));
        assert_eq!(left.ports[0].to_string(), port);
        assert!(left.command.contains("python3 -c "), "{left:?}");
        assert!(!left.command.contains('\n'), "{left:?}");
        // Neither the token nor a part of it.
        assert!(!left.command.contains(&TOKEN[..8]), "{left:?}");
        // What it left is its own alone.
        let next = self::receipt(&session, "sleep 0.05").await;
        assert_eq!(next.map_or(0, |next| next.left_count), 0, "{mode:?}");
        // The same everywhere.
        let history = session.history().await;
        assert_eq!(history.executions[0].receipt.as_ref(), Some(&receipt));
        let exits = history
            .events
            .iter()
            .filter_map(|event| match &event.event {
                Some(Body::Exit(exit)) => exit.receipt.clone(),
                _ => None,
            });
        assert_eq!(exits.collect::<Vec<_>>().first(), Some(&receipt));
        let request = SearchRequest {
            text: "s.listen".to_owned(),
            session_id: session.id.clone(),
            ..SearchRequest::default()
        };
        let searched = session.client.clone().search(request).await.unwrap();
        let found = searched.into_inner().results.remove(0).execution;
        assert_eq!(found.unwrap().receipt.as_ref(), Some(&receipt));
        std::fs::remove_file(daemon.home().join("port")).unwrap();
        session.dispose().await;
    }
}

#[tokio::test]
async fn a_receipt_survives_the_daemon_and_is_part_of_a_stream() {
    let mut daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let told = session
        .told("sleep 0.2 & echo; wait; sleep 1000 >/dev/null &")
        .await;
    let receipt = told.exit().receipt.clone().expect("something lives on");
    assert_eq!(receipt.left_count, 1, "{receipt:?}");
    daemon.crash_and_restart();
    let session = TestSession {
        client: daemon.client().await,
        id: session.id.clone(),
    };
    let history = session.history().await;
    assert_eq!(history.executions[0].receipt.as_ref(), Some(&receipt));
    let line = daemon.cli(&["history", &session.id]).quiet();
    assert!(line.contains("still alive: "), "{line}");
    session.dispose().await;
}

#[tokio::test]
async fn a_secret_in_a_command_line_is_not_in_a_receipt() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let command = format!(
        "sh -c 'read x' {TOKEN} <> <(sleep 1000) >/dev/null 2>&1 & \
         until grep -q {TOKEN} /proc/$!/cmdline; do sleep 0.01; done"
    );
    let receipt = receipt(&session, &command).await.expect("it lives on");
    let shown = |left: &glass_proto::agent::v1::LeftProcess| left.command.contains(TOKEN_SHOWN);
    assert!(receipt.left.iter().any(shown), "{receipt:?}");
    session.dispose().await;
}
