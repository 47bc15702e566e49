//! Calls that make no sense.

use super::check_well;
use glass_proto::agent::v1::shell_result::Result as Kind;
use glass_proto::shellglass::v1::{
    CancelRequest, CreateSessionRequest, ReadOutputRequest, SessionMode, SessionRef,
};
use shellglass_tests::calls::{refused, success};
use shellglass_tests::{Daemon, TestSession};
use tonic::Code;

const UNKNOWN: &str = "s-aaaaaaaaaaaaaaaa";

fn in_directory(path: &str) -> CreateSessionRequest {
    CreateSessionRequest {
        working_directory: path.to_owned(),
        ..CreateSessionRequest::default()
    }
}

#[tokio::test]
async fn an_unknown_session_is_not_found() {
    let daemon = Daemon::start("");
    let mut client = daemon.client().await;
    for id in [
        UNKNOWN,
        "x",
        "../../etc/passwd",
        "s-",
        &"s-x".repeat(10_000),
        "s-\u{0}",
    ] {
        let reference = SessionRef {
            session_id: id.to_owned(),
        };
        refused(client.get_session(reference.clone()).await, Code::NotFound);
        refused(client.dispose_session(reference).await, Code::NotFound);
        let session = TestSession {
            client: client.clone(),
            id: id.to_owned(),
        };
        let message = refused(
            session.try_run(session.request("true")).await,
            Code::NotFound,
        );
        assert!(message.len() < 300, "{message}");
        let cancel = CancelRequest {
            session_id: id.to_owned(),
            ..CancelRequest::default()
        };
        refused(client.cancel(cancel).await, Code::NotFound);
    }
    let unknown = CancelRequest {
        shell_id: Some(4_000_000_000),
        ..CancelRequest::default()
    };
    refused(client.cancel(unknown).await, Code::NotFound);
    let unknown = CancelRequest {
        tool_call_id: "never asked".to_owned(),
        ..CancelRequest::default()
    };
    refused(client.cancel(unknown).await, Code::NotFound);
    let unknown = ReadOutputRequest {
        shell_id: 4_000_000_000,
        ..ReadOutputRequest::default()
    };
    refused(client.read_output(unknown).await, Code::NotFound);
    assert!(
        daemon
            .cli(&["history", UNKNOWN])
            .failed_with(1)
            .contains(UNKNOWN)
    );
    daemon
        .cli(&["run", "--session", UNKNOWN, "true"])
        .failed_with(125);
    check_well(&daemon).await;
}

#[tokio::test]
async fn a_missing_directory_is_named() {
    let daemon = Daemon::start("");
    let mut client = daemon.client().await;
    let file = daemon.home().join("file");
    std::fs::write(&file, "").unwrap();
    for path in [
        "/no/such/directory",
        file.to_str().unwrap(),
        "relative",
        "/nul\0byte",
    ] {
        let made = client.create_session(in_directory(path)).await;
        let message = refused(made, Code::InvalidArgument);
        assert!(message.contains("directory"), "{message}");
    }
    let ran = daemon.cli(&["session", "create", "--cwd", "/no/such/directory"]);
    assert!(ran.failed_with(1).contains("/no/such/directory"));
    let ran = daemon.cli(&["run", "--cwd", "/no/such/directory", "true"]);
    assert!(ran.failed_with(125).contains("/no/such/directory"));
    check_well(&daemon).await;
}

#[tokio::test]
async fn a_directory_that_went_away_is_told() {
    let daemon = Daemon::start("");
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let gone = daemon.home().join("gone");
        std::fs::create_dir(&gone).unwrap();
        let session = TestSession::with(&daemon, "bash", mode).await;
        session.run(&format!("cd {}", gone.display())).await;
        std::fs::remove_dir(&gone).unwrap();
        // The session goes on where it can.
        assert_eq!(session.run("echo on").await.stdout, "on\n", "{mode:?}");
        session.run("cd /usr").await;
        assert_eq!(session.run("pwd").await.stdout, "/usr\n", "{mode:?}");
    }
    check_well(&daemon).await;
}

#[tokio::test]
async fn commands_that_no_shell_can_be_given_are_refused() {
    let daemon = Daemon::start("[limits]\ncommand_bytes_max = 1000\n");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let run = |command: &str| session.try_run(session.request(command));
    let message = refused(run("echo a\0b").await, Code::InvalidArgument);
    assert!(
        message.contains("NUL") && message.contains("offset 6"),
        "{message}"
    );
    for empty in ["", " ", "\n\t "] {
        refused(run(empty).await, Code::InvalidArgument);
    }
    let long = format!("echo {}", "x".repeat(1000));
    let message = refused(run(&long).await, Code::InvalidArgument);
    assert!(message.contains("1000"), "{message}");
    let request = session.with_args("true", |args| args.tool_call_id = "a\0".to_owned());
    refused(session.try_run(request).await, Code::InvalidArgument);
    let request = session.with_args("true", |args| args.working_directory = "/\0".to_owned());
    refused(session.try_run(request).await, Code::InvalidArgument);
    let request = session.with_args("true", |args| args.tool_call_id = "k".repeat(1 << 20));
    refused(session.try_run(request).await, Code::InvalidArgument);
    assert_eq!(session.history().await.executions.len(), 0);
    check_well(&daemon).await;
}

#[tokio::test]
async fn a_request_that_is_too_large_is_refused() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let huge = "x".repeat(20 << 20);
    let status = session.try_run(session.request(&huge)).await.unwrap_err();
    let code = status.code();
    assert!(
        matches!(code, Code::OutOfRange | Code::ResourceExhausted),
        "{status:?}"
    );
    check_well(&daemon).await;
}

#[tokio::test]
async fn an_empty_request_is_refused() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let mut request = session.request("true");
    request.args = None;
    refused(session.try_run(request).await, Code::InvalidArgument);
    let request = CreateSessionRequest {
        startup: "sideways".to_owned(),
        ..CreateSessionRequest::default()
    };
    let made = session.client.clone().create_session(request).await;
    refused(made, Code::InvalidArgument);
    check_well(&daemon).await;
}

#[tokio::test]
async fn what_a_session_is_asked_while_it_ends_is_answered() {
    let daemon = Daemon::start("");
    for _ in 0..10 {
        let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
        let runs: Vec<_> = (0..8)
            .map(|number| {
                let (mut client, request) = (session.client.clone(), session.request("sleep 0.01"));
                tokio::spawn(async move { (number, client.run(request).await) })
            })
            .collect();
        session.dispose().await;
        for run in runs {
            match run.await.unwrap().1 {
                Ok(result) => match result.into_inner().result {
                    Some(Kind::Success(_) | Kind::Failure(_)) => {}
                    other => panic!("not an end: {other:?}"),
                },
                Err(status) => {
                    refused::<()>(Err(status), Code::FailedPrecondition);
                }
            }
        }
    }
    check_well(&daemon).await;
}

#[tokio::test]
async fn a_long_command_that_is_allowed_runs() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let command = format!("x={}; echo ${{#x}}", "y".repeat(3 << 20));
    let result = success(session.result(session.request(&command)).await);
    assert_eq!(result.stdout, format!("{}\n", 3 << 20));
    assert_eq!(result.command, command);
}
