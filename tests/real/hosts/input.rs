//! What callers write reaches a command on another host, and never keeps it from being
//! ended.

use super::server::{Server, is_gone, session};
use glass_proto::agent::v1::background_shell_spawn_result::Result as Spawned;
use glass_proto::agent::v1::write_shell_stdin_result::Result as Written;
use glass_proto::agent::v1::{BackgroundShellSpawnArgs, WriteShellStdinArgs};
use glass_proto::shellglass::v1::{
    CancelRequest, ReadOutputRequest, SpawnBackgroundRequest, WaitRequest,
};
use shellglass_tests::{PATIENCE, TestSession};
use std::time::Instant;

async fn spawn(session: &TestSession, command: &str) -> u32 {
    let request = SpawnBackgroundRequest {
        session_id: session.id.clone(),
        args: Some(BackgroundShellSpawnArgs {
            command: command.to_owned(),
            enable_write_shell_stdin_tool: true,
            ..BackgroundShellSpawnArgs::default()
        }),
        ..SpawnBackgroundRequest::default()
    };
    let answer = session.client.clone().spawn_background(request).await;
    match answer.expect("it is accepted").into_inner().result {
        Some(Spawned::Success(success)) => success.shell_id,
        other => panic!("not started: {other:?}"),
    }
}

/// Writes; where there is no room for all of it, says so.
async fn write(session: &TestSession, shell_id: u32, chars: &str) -> Written {
    let chars = chars.to_owned();
    let args = WriteShellStdinArgs { shell_id, chars };
    let answer = session.client.clone().write_stdin(args).await;
    let answer = answer.expect("the call is accepted").into_inner();
    answer.result.expect("an answer has a kind")
}

async fn wrote(session: &TestSession, shell_id: u32, chars: &str) {
    // It begins when the other host has answered.
    let deadline = Instant::now() + PATIENCE;
    loop {
        match write(session, shell_id, chars).await {
            Written::Success(_) => return,
            Written::Error(error) => assert!(Instant::now() < deadline, "{error:?}"),
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

async fn ended(session: &TestSession, shell_id: u32) -> Option<i32> {
    let request = WaitRequest {
        shell_id,
        exit: true,
        ..WaitRequest::default()
    };
    let answer = tokio::time::timeout(PATIENCE, session.client.clone().wait(request)).await;
    let answer = answer.expect("it ends in time").expect("it is accepted");
    answer.into_inner().exit_code
}

async fn until_written(session: &TestSession, shell_id: u32, text: &str) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let request = ReadOutputRequest {
            shell_id,
            offset: Some(0),
            ..ReadOutputRequest::default()
        };
        let page = session.client.clone().read_output(request).await;
        let output = page.expect("output can be read").into_inner().output;
        if output.contains(text) {
            return output;
        }
        assert!(Instant::now() < deadline, "no {text:?} in {output:?}");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn what_is_written_arrives_until_its_end() {
    let server = Server::start();
    let mut daemon = server.daemon("");
    let mut session = session(&daemon).await;
    let id = spawn(&session, "cat; echo over; exit 4").await;
    wrote(&session, id, "one \\n %s 'é'\n").await;
    until_written(&session, id, "one \\n %s 'é'\n").await;
    // The next daemon can write, too.
    daemon.crash_and_restart();
    session.client = daemon.client().await;
    wrote(&session, id, "two\n").await;
    until_written(&session, id, "two\n").await;
    wrote(&session, id, "\u{4}").await;
    assert_eq!(ended(&session, id).await, Some(4));
    let all = until_written(&session, id, "over").await;
    assert_eq!(all, "one \\n %s 'é'\ntwo\nover\n");
    // Longer than any pipe holds.
    let long = format!("{}\n", "0123456789".repeat(10_000));
    let id = spawn(&session, "wc -c; exit 2").await;
    let mut rest = long.as_str();
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(rest.len().min(10_000));
        wrote(&session, id, piece).await;
        rest = more;
    }
    wrote(&session, id, "\u{4}").await;
    assert_eq!(ended(&session, id).await, Some(2));
    until_written(&session, id, "100001").await;
    // Ctrl+C interrupts what runs there.
    let id = spawn(
        &session,
        "trap 'echo caught; exit 6' INT; echo set; cat; sleep 1000",
    )
    .await;
    until_written(&session, id, "set").await;
    wrote(&session, id, "\u{3}").await;
    assert_eq!(ended(&session, id).await, Some(6));
}

#[tokio::test]
async fn what_nobody_reads_does_not_keep_a_command_from_being_ended() {
    let server = Server::start();
    let daemon = server.daemon("");
    let session = session(&daemon).await;
    let mark = format!("sleep {}", 300_000 + std::process::id());
    let id = spawn(&session, &format!("echo set; {mark}; cat")).await;
    until_written(&session, id, "set").await;
    // Until there is no room any more, here and there.
    let piece = "x".repeat(10_000);
    let mut pieces = 0;
    while let Written::Success(_) = write(&session, id, &piece).await {
        pieces += 1;
        assert!(pieces < 1_000, "what is written goes nowhere");
    }
    let request = CancelRequest {
        shell_id: Some(id),
        ..CancelRequest::default()
    };
    let cancelled = tokio::time::timeout(PATIENCE, session.client.clone().cancel(request)).await;
    cancelled
        .expect("it is ended in time")
        .expect("it is ended");
    assert!(is_gone(&mark), "something is left");
}
