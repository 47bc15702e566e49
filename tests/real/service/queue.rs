//! Commands of one session wait for each other, first in first out, and only so
//! many of them.

use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::calls::{refused, rest};
use shellglass_tests::{Daemon, TestSession, eventually};
use tonic::Code;

/// Runs until the file is there.
fn until_file(name: &str) -> String {
    format!("while ! test -e {name}; do sleep 0.01; done")
}

#[tokio::test]
async fn commands_run_in_the_order_in_which_they_came() {
    let daemon = Daemon::start("");
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let session = TestSession::with(&daemon, "bash", mode).await;
        let (_, mut first) = session.begin(&until_file("go")).await;
        let mut streams = Vec::new();
        for number in 0..20 {
            // Accepted when the call answers, so the order is known.
            let request = session.request(&format!("echo {number} >>order"));
            streams.push(session.client.clone().execute(request).await.unwrap());
        }
        let shown = session.shown().await;
        assert!(shown.busy && shown.running, "{shown:?}");
        std::fs::write(daemon.home().join("go"), "").unwrap();
        assert_eq!(rest(&mut first).await.exit().code, 0);
        let mut ids = Vec::new();
        for stream in streams {
            let told = rest(&mut stream.into_inner()).await;
            assert_eq!(told.exit().code, 0);
            ids.push(told.start().shell_id);
        }
        assert!(ids.is_sorted(), "{ids:?}");
        let order = std::fs::read_to_string(daemon.home().join("order")).unwrap();
        let expected: String = (0..20).map(|number| format!("{number}\n")).collect();
        assert_eq!(order, expected, "{mode:?}");
        for name in ["go", "order"] {
            std::fs::remove_file(daemon.home().join(name)).unwrap();
        }
        let shown = session.until("idle again", |shown| !shown.busy).await;
        assert!(!shown.running, "{shown:?}");
    }
}

#[tokio::test]
async fn a_full_queue_refuses_and_what_waits_still_runs() {
    let daemon = Daemon::start("[limits]\nqueue_max = 3\n");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let (_, mut first) = session.begin(&until_file("go")).await;
    let mut waiting = Vec::new();
    for number in 0..3 {
        let request = session.request(&format!("echo {number}"));
        waiting.push(session.client.clone().execute(request).await.unwrap());
    }
    let message = refused(
        session.try_run(session.request("echo 4")).await,
        Code::ResourceExhausted,
    );
    assert!(message.contains("3 commands wait"), "{message}");
    std::fs::write(daemon.home().join("go"), "").unwrap();
    assert_eq!(rest(&mut first).await.exit().code, 0);
    for (number, stream) in waiting.into_iter().enumerate() {
        let told = rest(&mut stream.into_inner()).await;
        assert_eq!(told.stdout(), format!("{number}\n").as_bytes());
    }
    assert_eq!(session.run("echo again").await.stdout, "again\n");
    let commands: Vec<String> = session
        .history()
        .await
        .executions
        .into_iter()
        .map(|execution| execution.command)
        .collect();
    assert_eq!(commands[1..], ["echo 0", "echo 1", "echo 2", "echo again"]);
}

#[tokio::test]
async fn a_burst_does_not_outgrow_the_queue() {
    let daemon = Daemon::start("[limits]\nqueue_max = 4\n");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let (_, mut first) = session.begin(&until_file("go")).await;
    let calls: Vec<_> = (0..64)
        .map(|number| {
            let mut client = session.client.clone();
            let request = session.request(&format!("echo {number} >>ran"));
            tokio::spawn(async move { client.execute(request).await })
        })
        .collect();
    let mut accepted = Vec::new();
    for call in calls {
        match call.await.unwrap() {
            Ok(stream) => accepted.push(stream.into_inner()),
            Err(status) => {
                refused::<()>(Err(status), Code::ResourceExhausted);
            }
        }
    }
    assert_eq!(accepted.len(), 4);
    std::fs::write(daemon.home().join("go"), "").unwrap();
    rest(&mut first).await.exit();
    for mut stream in accepted {
        assert_eq!(rest(&mut stream).await.exit().code, 0);
    }
    let ran = std::fs::read_to_string(daemon.home().join("ran")).unwrap();
    assert_eq!(ran.lines().count(), 4);
}

#[tokio::test]
async fn sessions_do_not_wait_for_each_other() {
    let daemon = Daemon::start("");
    let slow = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let quick = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let (_, mut stream) = slow.begin(&until_file("go")).await;
    assert_eq!(quick.run("echo quick").await.stdout, "quick\n");
    std::fs::write(daemon.home().join("go"), "").unwrap();
    assert_eq!(rest(&mut stream).await.exit().code, 0);
}

#[tokio::test]
async fn a_caller_that_leaves_does_not_end_its_command() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let (_, stream) = session
        .begin("until test -e go; do sleep 0.01; done; echo >ran")
        .await;
    drop(stream);
    std::fs::write(daemon.home().join("go"), "").unwrap();
    let ran = daemon.home().join("ran");
    eventually("the command goes on alone", || ran.exists()).await;
    assert_eq!(session.run("echo next").await.stdout, "next\n");
}
