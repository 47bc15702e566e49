//! How large a terminal is.

use super::viewer::{Viewer, open, terminal};
use glass_proto::shellglass::v1::{AttachOpen, SessionRef};
use shellglass_tests::{Daemon, PATIENCE, TestSession};
use std::time::{Duration, Instant};

fn sized(session: &TestSession, cols: u32, rows: u32) -> AttachOpen {
    AttachOpen {
        cols,
        rows,
        ..open(session)
    }
}

/// Asks the kernel, in the terminal, until it says this.
async fn until_size(viewer: &mut Viewer, expected: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        viewer.forget();
        viewer.type_in("echo \"<$(stty size)>\"\r").await;
        viewer.until(" ").await;
        while !viewer.text().contains(">\r\n") {
            viewer.step().await.expect("the view goes on");
        }
        if viewer.text().contains(&format!("<{expected}>")) {
            return;
        }
        assert!(Instant::now() < deadline, "{:?}", viewer.text());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_terminal_is_as_small_as_the_smallest_who_types() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut one = Viewer::open(&session.client, sized(&session, 100, 40)).await;
    one.ready().await;
    until_size(&mut one, "40 100").await;
    let mut other = Viewer::open(&session.client, sized(&session, 90, 50)).await;
    other.ready().await;
    until_size(&mut one, "40 90").await;
    let watching = AttachOpen {
        read_only: true,
        ..sized(&session, 10, 10)
    };
    let mut watcher = Viewer::open(&session.client, watching).await;
    watcher.ready().await;
    let mut unmeasured = Viewer::open(&session.client, sized(&session, 0, 0)).await;
    unmeasured.ready().await;
    until_size(&mut one, "40 90").await;
    drop(other);
    until_size(&mut one, "40 100").await;
    let reference = SessionRef {
        session_id: session.id.clone(),
    };
    let shown = session.client.clone().get_session(reference).await;
    let shown = shown.unwrap().into_inner();
    assert_eq!((shown.cols, shown.rows), (100, 40));
}

#[tokio::test]
async fn sizes_are_applied_once_they_rest() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut viewer = Viewer::open(&session.client, sized(&session, 80, 30)).await;
    viewer.ready().await;
    viewer
        .type_in("trap 'echo \"w$(stty size)w\"' WINCH; echo read''y\r")
        .await;
    viewer.until("ready\r\n").await;
    tokio::time::sleep(Duration::from_millis(600)).await;
    viewer.forget();
    for cols in 81..=120 {
        viewer.resize(cols, 31).await;
    }
    // A trap of bash waits for the prompt's next key.
    let deadline = Instant::now() + PATIENCE;
    while !viewer.text().contains("w31 120w") {
        assert!(Instant::now() < deadline, "{:?}", viewer.text());
        viewer.type_in("\r").await;
        viewer.until("> ").await;
        viewer.step().await.expect("the view goes on");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let seen: Vec<u32> = (81..=120)
        .filter(|cols| viewer.text().contains(&format!("w31 {cols}w")))
        .collect();
    assert_eq!(seen, [81, 120], "the first and the last");
}

#[tokio::test]
async fn absurd_sizes_do_no_harm() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut viewer = Viewer::open(&session.client, sized(&session, u32::MAX, 1)).await;
    viewer.ready().await;
    viewer.resize(0, 7).await;
    viewer.resize(1, 1).await;
    viewer.resize(50, 20).await;
    until_size(&mut viewer, "20 50").await;
}
