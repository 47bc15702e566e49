//! The daemon may die at any moment; what runs in the background does not.

use super::{Behind, exit};
use glass_proto::shellglass::v1::WaitRequest;

#[tokio::test]
async fn input_and_output_go_on_after_a_crash() {
    let mut behind = Behind::start("").await;
    let command = "while read -r line; do echo \"got $line\"; done; echo end";
    let id = behind.spawn(command).await;
    behind.wrote(id, "before\n").await;
    behind.until_written(id, "got before\n").await;
    for round in ["first", "second"] {
        behind.restart().await;
        let listed = behind.listed().await;
        assert_eq!(listed.len(), 1, "{listed:?}");
        assert!(listed[0].running && listed[0].accepts_stdin);
        behind.wrote(id, &format!("{round}\n")).await;
        behind.until_written(id, &format!("got {round}\n")).await;
    }
    behind.wrote(id, "\u{4}").await;
    assert_eq!(behind.ended(id).await, Some(0));
    let expected = "got before\ngot first\ngot second\nend\n";
    assert_eq!(behind.output(id).await, expected);
}

#[tokio::test]
async fn what_was_written_just_before_a_crash_is_read() {
    let mut behind = Behind::start("").await;
    let id = behind.spawn("sleep 0.5; cat").await;
    behind.wrote(id, "kept\n\u{4}").await;
    behind.restart().await;
    assert_eq!(behind.ended(id).await, Some(0));
    assert_eq!(behind.output(id).await, "kept\n");
    let said = behind.not_written(id, "x").await;
    assert!(said.contains("is over"), "{said}");
}

#[tokio::test]
async fn input_that_was_ended_before_a_crash_stays_ended() {
    let mut behind = Behind::start("").await;
    let id = behind.spawn("cat; echo read; exec sleep 1000").await;
    behind.wrote(id, "\u{4}").await;
    behind.until_written(id, "read\n").await;
    behind.restart().await;
    let said = behind.not_written(id, "x").await;
    assert!(said.contains("has ended"), "{said}");
    behind.wrote(id, "\u{3}").await;
    assert_eq!(behind.ended(id).await, Some(130));
}

#[tokio::test]
async fn an_end_without_a_daemon_is_told_by_the_next() {
    let mut behind = Behind::start("").await;
    let go = behind.dir().join("go");
    let command = "until test -e go; do sleep 0.01; done; echo went; exit 6";
    let id = behind.spawn(command).await;
    behind.daemon.kill();
    std::fs::write(go, "").unwrap();
    behind.daemon.spawn();
    behind.daemon.wait_until_ready();
    behind.session.client = behind.daemon.client().await;
    let went = WaitRequest {
        pattern: "went".to_owned(),
        ..exit(id)
    };
    assert_eq!(behind.wait(went).await.reason, "pattern");
    assert_eq!(behind.ended(id).await, Some(6));
}
