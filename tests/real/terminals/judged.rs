//! Commands for a terminal pass the gate as everywhere else.

use super::viewer::{terminal, terminal_request};
use glass_proto::shellglass::v1::{ApprovalScope, CreateSessionRequest, ExecuteRequest};
use shellglass_tests::calls::rejected;
use shellglass_tests::{Daemon, TestSession};

const ASKING: &str = "[policy]\nperson = \"ask\"\n";

#[tokio::test]
async fn the_gate_is_the_same_as_everywhere() {
    let daemon = Daemon::start(ASKING);
    let session = terminal(&daemon, "bash").await;
    let running = session.result(session.request("rm -r important"));
    let refusing = session.answer(false, ApprovalScope::Once);
    let (refused, asked) = tokio::join!(running, refusing);
    assert_eq!(asked.command, "rm -r important");
    assert_eq!(rejected(refused), "a person refused it");
    let allowing = session.answer(true, ApprovalScope::Once);
    let (ran, _) = tokio::join!(session.run("touch made; echo ran"), allowing);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "ran\r\n"));
    assert!(daemon.home().join("made").exists());
}

#[tokio::test]
async fn an_answer_for_the_session_is_for_the_task_that_asked() {
    let daemon = Daemon::start(ASKING);
    let request = CreateSessionRequest {
        task_id: "a".to_owned(),
        ..terminal_request(&daemon, "bash")
    };
    let session = TestSession::create(&daemon, request).await;
    let of_task = |task: &str, command: &str| {
        let request = ExecuteRequest {
            task_id: task.to_owned(),
            ..session.request(command)
        };
        session.result(request)
    };
    let (_, asked) = tokio::join!(
        of_task("b", "touch one"),
        session.answer(true, ApprovalScope::Session)
    );
    assert_eq!(asked.task_id, "b");
    of_task("b", "touch two").await;
    assert!(daemon.home().join("two").exists(), "nobody was asked again");
    let (refused, asked) = tokio::join!(
        of_task("a", "touch three"),
        session.answer(false, ApprovalScope::Once)
    );
    assert_eq!(asked.task_id, "a");
    assert_eq!(rejected(refused), "a person refused it");
}
