//! More kinds of rights in one session than it keeps shells for.

use super::desk::{Desk, none, rw};
use glass_proto::agent::v1::SandboxPolicy;
use glass_proto::shellglass::v1::SessionMode;

/// More than the rooms that a session keeps.
const KINDS: usize = 20;

#[tokio::test]
async fn each_of_many_policies_has_its_own_rights_and_no_others() {
    let desk = Desk::open(SessionMode::Pipe).await;
    let place = |kind: usize| desk.outside(&format!("kind-{kind}"));
    for kind in 0..=KINDS {
        std::fs::create_dir(place(kind)).unwrap();
    }
    let runs = (0..KINDS).map(|kind| {
        let desk = &desk;
        let policy = SandboxPolicy {
            additional_readwrite_paths: vec![place(kind).display().to_string()],
            ..rw()
        };
        let command = format!(
            "echo x > {}/granted; (echo x > {}/stolen) 2>/dev/null; true",
            place(kind).display(),
            place(kind + 1).display(),
        );
        async move { desk.run(policy, &command).await }
    });
    // Together, so that many wait while others run.
    let mut waiting: Vec<_> = runs.map(Box::pin).collect();
    let mut ended = Vec::new();
    std::future::poll_fn(|cx| {
        waiting.retain_mut(|run| match run.as_mut().poll(cx) {
            std::task::Poll::Ready(end) => {
                ended.push(end);
                false
            }
            std::task::Poll::Pending => true,
        });
        match waiting.is_empty() {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    for (at, ended) in ended.iter().enumerate() {
        assert_eq!(ended.code, Some(0), "{at}: {ended:#?}");
    }
    for kind in 0..=KINDS {
        assert_eq!(place(kind).join("granted").exists(), kind < KINDS, "{kind}");
        assert!(!place(kind).join("stolen").exists(), "{kind}");
    }
    // The session itself goes on, in every room.
    desk.works(none(), "true").await;
    desk.works(rw(), "true").await;
}

#[tokio::test]
async fn the_shells_of_all_rooms_outlive_the_daemon() {
    let mut desk = Desk::open(SessionMode::Pipe).await;
    desk.works(rw(), "walled() { echo in the walls; }").await;
    desk.works(none(), "bare() { echo in the open; }").await;
    desk.field.daemon.crash_and_restart();
    desk.session.client = desk.field.daemon.client().await;
    for _ in 0..2 {
        let walled = desk.run(rw(), "walled").await;
        let history = desk.session.history().await.events;
        assert_eq!(walled.stdout, "in the walls\n", "{walled:#?} {history:#?}");
        assert_eq!(desk.works(none(), "bare").await, "in the open\n");
    }
    let ended = desk.run(rw(), "echo x > /etc/shellglass-test").await;
    assert_ne!(ended.code, Some(0), "{ended:#?}");
}
