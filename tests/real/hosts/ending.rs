//! A command elsewhere is ended whole, or its end is said to be unknown.

use super::server::{Server, is_gone, session};
use glass_proto::shellglass::v1::session_event::Event as Body;
use shellglass_tests::calls::rest;
use shellglass_tests::eventually;

/// A number of seconds that nobody else sleeps for.
fn mark() -> String {
    format!("{}", 100_000 + std::process::id() % 90_000 + rand_tail())
}

fn rand_tail() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(200_000, Ordering::Relaxed)
}

#[tokio::test]
async fn a_cancel_leaves_nothing_on_the_other_host() {
    let server = Server::start();
    let daemon = server.daemon("");
    let session = session(&daemon).await;
    let mark = mark();
    let begun = server.file("begun");
    // In the foreground, in the background, in a session of its own, orphaned, and
    // deaf to what is asked politely.
    let command = format!(
        "sleep {mark} & setsid sleep {mark} & (setsid sh -c 'trap \"\" TERM INT; sleep {mark}' &) \
         touch {}; sleep {mark}; touch {}",
        begun.display(),
        server.file("went-on").display()
    )
    .replace("&) touch", "&); touch");
    let ended = session.cancel_when(&command, || begun.exists()).await;
    assert!(ended.aborted, "{ended:?}");
    assert_eq!(ended.code, None);
    assert!(is_gone(&format!("sleep {mark}")), "something is left");
    assert!(!server.file("went-on").exists());
    let events = session.history().await.events;
    let is_stuck = |body: &Body| matches!(body, Body::Status(status) if status.status == "stuck");
    let stuck = events
        .iter()
        .filter_map(|event| event.event.as_ref())
        .any(is_stuck);
    assert!(!stuck, "{events:?}");
    // The session goes on.
    assert_eq!(session.run("echo on").await.stdout, "on\n");
}

#[tokio::test]
async fn a_lost_connection_is_an_unknown_end_and_ends_the_command() {
    let server = Server::start();
    let daemon = server.daemon("");
    let session = session(&daemon).await;
    let mark = mark();
    let begun = server.file("begun");
    let touch = format!("touch {}", begun.display());
    let command = format!("echo before; {touch}; sleep {mark}; echo after");
    let (id, mut stream) = session.begin(&command).await;
    eventually("it runs", || begun.exists()).await;
    session.expect_output(id, "before\n").await;
    server.cut();
    let told = rest(&mut stream).await;
    let exit = told.exit();
    assert!(exit.code_unknown && !exit.aborted, "{exit:?}");
    assert_eq!(told.stdout(), b"before\n");
    let events = session.history().await.events;
    let lost = events.iter().find_map(|event| match &event.event {
        Some(Body::Status(status)) if status.status == "lost" => Some(status.detail.clone()),
        _ => None,
    });
    let lost = lost.expect("the loss is told");
    assert!(lost.contains("'box'"), "{lost}");
    let gone = || is_gone(&format!("sleep {mark}"));
    eventually("nothing is left on the other host", gone).await;
    assert_ne!(session.run("true").await.shell_id, id);
}

#[tokio::test]
async fn a_command_elsewhere_outlives_the_daemon() {
    let server = Server::start();
    let mut daemon = server.daemon("");
    let mut session = session(&daemon).await;
    let (begun, go) = (server.file("begun"), server.file("go"));
    let command = format!(
        "echo one; cd /usr; touch {}; until [ -e {} ]; do sleep 0.05; done; echo two; exit 8",
        begun.display(),
        go.display()
    );
    let request = session.with_args(&command, |args| args.tool_call_id = "call".to_owned());
    let (id, _stream) = session.begin_request(request.clone()).await;
    eventually("it runs", || begun.exists()).await;
    daemon.crash_and_restart();
    session.client = daemon.client().await;
    std::fs::write(&go, "").unwrap();
    let ended = session.try_run(request).await.unwrap();
    assert_eq!((ended.shell_id, ended.code), (id, Some(8)), "{ended:?}");
    assert_eq!(ended.stdout, "one\ntwo\n");
    assert_eq!(session.run("pwd").await.stdout, "/usr\n");
}

#[tokio::test]
async fn a_command_that_outlived_the_daemon_can_be_cancelled() {
    let server = Server::start();
    let mut daemon = server.daemon("");
    let mut session = session(&daemon).await;
    let (begun, mark) = (server.file("begun"), mark());
    let command = format!("touch {}; sleep {mark}", begun.display());
    let request = session.with_args(&command, |args| args.tool_call_id = "call".to_owned());
    let (_, _stream) = session.begin_request(request.clone()).await;
    eventually("it runs", || begun.exists()).await;
    daemon.crash_and_restart();
    session.client = daemon.client().await;
    let reference = session.reference();
    let disposed = session.client.clone().dispose_session(reference).await;
    disposed.expect("it is disposed of");
    assert!(is_gone(&format!("sleep {mark}")), "something is left");
}
