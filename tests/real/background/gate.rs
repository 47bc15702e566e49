//! A background command passes the gate like any other.

use super::Behind;
use glass_proto::agent::v1::BackgroundShellSpawnResult;
use glass_proto::agent::v1::background_shell_spawn_result::Result as Spawned;
use glass_proto::shellglass::v1::{
    CreateSessionRequest, Empty, ResolveApprovalRequest, SpawnBackgroundRequest,
};
use shellglass_tests::calls::{token, with_token};
use shellglass_tests::{PATIENCE, TestSession};
use std::time::Instant;

/// An agent's session whose doubtful commands wait for a person.
async fn watched() -> (Behind, String) {
    let daemon = shellglass_tests::Daemon::start("[policy]\n");
    let agent = token(daemon.home(), "agent");
    let mut client = daemon.client().await;
    let request = CreateSessionRequest {
        working_directory: daemon.home().to_string_lossy().into_owned(),
        ..CreateSessionRequest::default()
    };
    let made = client.create_session(with_token(request, &agent)).await;
    let id = made.expect("a session is made").into_inner().session_id;
    let session = TestSession { client, id };
    (Behind { daemon, session }, agent)
}

fn ask(
    behind: &Behind,
    request: SpawnBackgroundRequest,
    agent: &str,
) -> tokio::task::JoinHandle<BackgroundShellSpawnResult> {
    let (mut client, agent) = (behind.client(), agent.to_owned());
    tokio::spawn(async move {
        let answer = client.spawn_background(with_token(request, &agent)).await;
        answer.expect("it is accepted").into_inner()
    })
}

/// Answers the one question that there is.
async fn resolve(behind: &Behind, approve: bool) {
    let mut client = behind.client();
    let deadline = Instant::now() + PATIENCE;
    let approval_id = loop {
        let waiting = client.list_approvals(Empty {}).await.unwrap().into_inner();
        if let Some(approval) = waiting.approvals.first() {
            break approval.approval_id.clone();
        }
        assert!(Instant::now() < deadline, "nobody is asked");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    };
    let request = ResolveApprovalRequest {
        approval_id,
        approve,
        reason: "not today".to_owned(),
        scope: 0,
    };
    client
        .resolve_approval(request)
        .await
        .expect("it is answered");
}

#[tokio::test]
async fn a_doubtful_one_is_answered_when_a_person_has_answered() {
    let (behind, agent) = watched().await;
    let asked = ask(&behind, behind.request("make-something; cat"), &agent);
    resolve(&behind, true).await;
    let id = match asked.await.unwrap().result {
        Some(Spawned::Success(success)) => success.shell_id,
        other => panic!("not started: {other:?}"),
    };
    behind.wrote(id, "on\n\u{4}").await;
    assert_eq!(behind.ended(id).await, Some(0));
    // What is not there is told on standard error, whose place beside standard
    // output is not certain.
    let output = behind.output(id).await;
    assert!(output.lines().any(|line| line == "on"), "{output}");
}

#[tokio::test]
async fn a_refusal_is_told_and_nothing_runs() {
    let (behind, agent) = watched().await;
    let asked = ask(&behind, behind.request("touch ran; make-something"), &agent);
    resolve(&behind, false).await;
    match asked.await.unwrap().result {
        Some(Spawned::Rejected(rejected)) => {
            assert!(rejected.reason.contains("not today"), "{rejected:?}");
        }
        other => panic!("not refused: {other:?}"),
    }
    assert!(!behind.daemon.home().join("ran").exists());
    assert_eq!(behind.listed().await, []);
}

#[tokio::test]
async fn what_waits_takes_no_input_and_can_be_cancelled() {
    let (behind, agent) = watched().await;
    let asked = ask(&behind, behind.request("make-something; cat"), &agent);
    let deadline = Instant::now() + PATIENCE;
    let id = loop {
        let mut client = behind.client();
        let waiting = client.list_approvals(Empty {}).await.unwrap().into_inner();
        if let Some(approval) = waiting.approvals.first() {
            break approval.shell_id;
        }
        assert!(Instant::now() < deadline, "nobody is asked");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    };
    let said = behind.not_written(id, "x").await;
    assert!(said.contains("has not begun"), "{said}");
    assert!(behind.cancel(id).await);
    match asked.await.unwrap().result {
        Some(Spawned::Error(error)) => assert!(error.error.contains("cancelled"), "{error:?}"),
        other => panic!("not cancelled: {other:?}"),
    }
}
