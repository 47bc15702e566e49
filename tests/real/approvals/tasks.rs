//! An idle session may serve another task. What a person allowed one task's
//! agent for the session is nothing to another's.

use super::Watched;
use glass_proto::shellglass::v1::{ApprovalScope, CreateSessionRequest, ExecuteRequest};
use shellglass_tests::calls::{rejected, success};

/// A command of a task, in whichever session is free.
fn of_task(watched: &Watched, task: &str, command: &str) -> ExecuteRequest {
    ExecuteRequest {
        session_id: String::new(),
        task_id: task.to_owned(),
        ..watched.session.with_args(command, |args| {
            args.working_directory = watched.daemon.home().display().to_string();
        })
    }
}

/// Asks, and refuses; the command must have waited.
async fn is_asked_about(watched: &Watched, request: ExecuteRequest) {
    let asked = watched.ask(request);
    let waiting = watched.until_waiting(1).await.remove(0);
    assert_eq!(waiting.session_id, watched.session.id, "they share it");
    watched
        .answer(&waiting.approval_id, false, ApprovalScope::Once)
        .await;
    rejected(asked.await.unwrap());
}

/// An agent's session of the task `a`, in which `touch` was allowed for the
/// session.
async fn shared() -> Watched {
    let watched = Watched::start("").await;
    let spec = CreateSessionRequest {
        shell: "bash".to_owned(),
        startup: "none".to_owned(),
        task_id: "a".to_owned(),
        working_directory: watched.daemon.home().display().to_string(),
        ..CreateSessionRequest::default()
    };
    watched.session.dispose().await;
    let watched = watched.with_session(spec).await;
    let asked = watched.ask(of_task(&watched, "a", "touch one"));
    let waiting = watched.until_waiting(1).await.remove(0);
    assert_eq!(
        (waiting.session_id, waiting.task_id.as_str()),
        (watched.session.id.clone(), "a")
    );
    watched
        .answer(&waiting.approval_id, true, ApprovalScope::Session)
        .await;
    success(asked.await.unwrap());
    watched
}

#[tokio::test]
async fn an_answer_for_the_session_is_for_the_task_that_asked() {
    let watched = shared().await;
    success(
        watched
            .ask(of_task(&watched, "a", "touch two"))
            .await
            .unwrap(),
    );
    is_asked_about(&watched, of_task(&watched, "b", "touch three")).await;
    // Nor where it names the session.
    let named = ExecuteRequest {
        session_id: watched.session.id.clone(),
        ..of_task(&watched, "b", "touch three")
    };
    is_asked_about(&watched, named).await;
    assert!(!watched.marker("three").exists());
    // Its own answers hold beside the others.
    let asked = watched.ask(of_task(&watched, "b", "mkdir four"));
    let id = watched.until_waiting(1).await[0].approval_id.clone();
    watched.answer(&id, true, ApprovalScope::Session).await;
    success(asked.await.unwrap());
    success(
        watched
            .ask(of_task(&watched, "b", "mkdir five"))
            .await
            .unwrap(),
    );
    is_asked_about(&watched, of_task(&watched, "a", "mkdir six")).await;
    success(
        watched
            .ask(of_task(&watched, "a", "touch seven"))
            .await
            .unwrap(),
    );
}

#[tokio::test]
async fn the_audit_names_the_task_that_asked_and_not_whose_session_it_is() {
    let watched = shared().await;
    success(
        watched
            .ask(of_task(&watched, "b", "echo hi"))
            .await
            .unwrap(),
    );
    let lines = watched.daemon.cli(&["audit", "--json"]).quiet();
    let who = |command: &str| -> Vec<String> {
        let entries = lines.lines().map(|line| {
            let entry: serde_json::Value = serde_json::from_str(line).unwrap();
            entry
        });
        let entries = entries.filter(|entry| entry["command"] == command);
        entries
            .map(|entry| entry["askedBy"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    assert!(
        who("touch one").iter().all(|who| who == "agent:a"),
        "{lines}"
    );
    assert!(!who("echo hi").is_empty(), "{lines}");
    assert!(who("echo hi").iter().all(|who| who == "agent:b"), "{lines}");
}
