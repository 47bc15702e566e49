//! What cannot be done is told, with what to do instead.

use super::{Behind, exit};
use glass_proto::agent::v1::background_shell_spawn_result::Result as Spawned;
use glass_proto::shellglass::v1::{ReadOutputRequest, SpawnBackgroundRequest, WaitRequest};
use shellglass_tests::calls::{refused, token, with_token};
use tonic::Code;

#[tokio::test]
async fn nothing_is_written_where_nobody_reads() {
    let behind = Behind::start("").await;
    assert!(
        behind
            .not_written(4_000_000, "x")
            .await
            .contains("there is no execution 4000000")
    );

    let mut request = behind.request("read -r line; echo \"read $?\"; exec sleep 1000");
    request.args.as_mut().unwrap().enable_write_shell_stdin_tool = false;
    let Spawned::Success(closed) = behind.answer(request).await else {
        panic!("not started");
    };
    behind.until_written(closed.shell_id, "read 1\n").await;
    let said = behind.not_written(closed.shell_id, "x").await;
    assert!(
        said.contains("was started without standard input"),
        "{said}"
    );
    assert!(said.contains("enable_write_shell_stdin_tool"), "{said}");
    assert!(behind.cancel(closed.shell_id).await);

    let over = behind.spawn("true").await;
    behind.ended(over).await;
    assert!(behind.not_written(over, "x").await.contains("is over"));

    let foreground = behind.session.run("true").await.shell_id;
    let said = behind.not_written(foreground, "x").await;
    assert!(said.contains("is over"), "{said}");
    let (running, _stream) = behind.session.begin("sleep 1000").await;
    let said = behind.not_written(running, "x").await;
    assert!(
        said.contains("was started without standard input"),
        "{said}"
    );
    assert!(behind.cancel(running).await);
}

#[tokio::test]
async fn input_that_has_ended_stays_so() {
    let behind = Behind::start("").await;
    let id = behind
        .spawn("cat >/dev/null; echo read; exec sleep 1000")
        .await;
    let said = behind.not_written(id, "ab\u{4}cd").await;
    assert!(
        said.contains("has ended; 3 of 5 bytes were taken"),
        "{said}"
    );
    behind.until_written(id, "read\n").await;
    assert!(
        behind
            .not_written(id, "\u{4}")
            .await
            .contains("0 of 1 bytes")
    );
    // There still is something to interrupt.
    behind.wrote(id, "\u{3}").await;
    assert_eq!(behind.ended(id).await, Some(130));

    let id = behind.spawn("exec <&-; echo closed; sleep 1000").await;
    behind.until_written(id, "closed\n").await;
    assert!(behind.not_written(id, "x").await.contains("has ended"));
    assert!(behind.cancel(id).await);
}

#[tokio::test]
async fn a_command_that_does_not_read_takes_what_fits_and_the_rest_is_told() {
    let behind = Behind::start("").await;
    let id = behind.spawn("sleep 1000").await;
    let said = behind.not_written(id, &"x".repeat(100_000)).await;
    assert!(
        said.contains("does not read: 65536 of 100000 bytes were taken"),
        "{said}"
    );
    assert!(behind.not_written(id, "y").await.contains("0 of 1 bytes"));
    let said = behind.not_written(id, &"x".repeat((1 << 20) + 1)).await;
    assert!(
        said.contains("1048577 bytes are too many at once"),
        "{said}"
    );
    // The session's task is free for others meanwhile.
    assert!(behind.cancel(id).await);
}

#[tokio::test]
async fn waits_that_make_no_sense_are_refused() {
    let behind = Behind::start("").await;
    let id = behind.spawn("sleep 1000").await;
    let mut client = behind.client();
    let unknown = client.wait(exit(4_000_000)).await;
    refused(unknown, Code::NotFound);
    let bad = [
        WaitRequest {
            pattern: "(".to_owned(),
            ..exit(id)
        },
        WaitRequest {
            pattern: "x".repeat(5_000),
            ..exit(id)
        },
        WaitRequest {
            pattern: r"(\w{1000}){1000}".to_owned(),
            ..exit(id)
        },
        WaitRequest {
            port: 65_536,
            ..exit(id)
        },
        WaitRequest {
            file: "a\0b".to_owned(),
            ..exit(id)
        },
        WaitRequest {
            file: "x".repeat(5_000),
            ..exit(id)
        },
    ];
    for request in bad {
        refused(client.wait(request).await, Code::InvalidArgument);
    }
    let beyond = WaitRequest {
        pattern: "x".to_owned(),
        offset: Some(u64::MAX),
        timeout_ms: 100,
        ..exit(id)
    };
    assert_eq!(behind.wait(beyond).await.reason, "timeout");
    let read = ReadOutputRequest {
        shell_id: id,
        offset: Some(1 << 60),
        ..ReadOutputRequest::default()
    };
    let page = client.read_output(read).await.unwrap().into_inner();
    assert_eq!((page.output.as_str(), page.running), ("", true));
    assert!(behind.cancel(id).await);
}

#[tokio::test]
async fn commands_that_cannot_be_started_are_refused_and_leave_no_session() {
    let behind = Behind::start("").await;
    let mut client = behind.client();
    for command in ["", " \n", "a\0b"] {
        let spawned = client.spawn_background(behind.request(command)).await;
        refused(spawned, Code::InvalidArgument);
    }
    let long = format!(": {}", "x".repeat(70_000));
    refused(
        client.spawn_background(behind.request(&long)).await,
        Code::InvalidArgument,
    );
    let mut nowhere = behind.request("true");
    nowhere.session_id = "s-aaaaaaaaaaaaaaaa".to_owned();
    refused(client.spawn_background(nowhere).await, Code::NotFound);
    let mut elsewhere = behind.request("true");
    elsewhere.args.as_mut().unwrap().working_directory = "/not/there".to_owned();
    match behind.answer(elsewhere).await {
        Spawned::Error(error) => assert!(!error.error.is_empty()),
        other => panic!("not an error: {other:?}"),
    }
    assert_eq!(behind.listed().await, []);
    // A long command runs where nobody wants to write to it.
    let mut closed: SpawnBackgroundRequest = behind.request(&long);
    closed.args.as_mut().unwrap().enable_write_shell_stdin_tool = false;
    let Spawned::Success(success) = behind.answer(closed).await else {
        panic!("not started");
    };
    assert_eq!(behind.ended(success.shell_id).await, Some(0));
}

#[tokio::test]
async fn an_agent_reaches_no_command_of_a_persons() {
    let behind = Behind::start("").await;
    let id = behind.spawn("cat").await;
    let agent = token(behind.daemon.home(), "agent");
    let mut client = behind.client();
    refused(
        client.wait(with_token(exit(id), &agent)).await,
        Code::PermissionDenied,
    );
    let args = glass_proto::agent::v1::WriteShellStdinArgs {
        shell_id: id,
        chars: "x".to_owned(),
    };
    let written = client.write_stdin(with_token(args, &agent)).await;
    refused(written, Code::PermissionDenied);
    let spawned = client
        .spawn_background(with_token(behind.request("true"), &agent))
        .await;
    refused(spawned, Code::PermissionDenied);
    assert!(behind.cancel(id).await);
    assert_eq!(behind.output(id).await, "");
}
