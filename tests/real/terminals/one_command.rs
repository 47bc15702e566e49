//! A terminal for one command of a session that has none.

use super::tty::Tty;
use super::viewer::{Viewer, open};
use glass_proto::agent::v1::sandbox_policy::Type;
use glass_proto::agent::v1::{SandboxPolicy, WriteShellStdinArgs};
use glass_proto::shellglass::v1::{
    AttachOpen, CancelRequest, CreateSessionRequest, ExecuteRequest, ListSessionsRequest,
    SessionMode, View, WaitRequest,
};
use shellglass_tests::calls::{failure, rest};
use shellglass_tests::{Daemon, TestSession, eventually, processes};

/// A request for a command with a terminal.
pub(crate) fn on_terminal(session: &TestSession, command: &str) -> ExecuteRequest {
    ExecuteRequest {
        tty: true,
        ..session.request(command)
    }
}

/// The session in which an execution has its terminal.
pub(crate) async fn session_of(session: &TestSession, shell_id: u32) -> TestSession {
    let mut client = session.client.clone();
    let listed = client.list_sessions(ListSessionsRequest::default()).await;
    let mut all = listed.unwrap().into_inner().sessions.into_iter();
    let found = all.find(|shown| shown.last_shell_id == shell_id);
    TestSession {
        client,
        id: found.expect("it has a session").session_id,
    }
}

/// Types for an execution.
pub(crate) async fn typed(session: &TestSession, shell_id: u32, chars: &str) {
    let args = WriteShellStdinArgs {
        shell_id,
        chars: chars.to_owned(),
    };
    session.client.clone().write_stdin(args).await.unwrap();
}

#[tokio::test]
async fn a_command_has_a_terminal_of_its_own_and_an_exact_end() {
    let daemon = Daemon::start("");
    std::fs::create_dir(daemon.home().join("below")).unwrap();
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let session = TestSession::with(&daemon, "bash", mode).await;
        session.run("cd below; export CARRIED=along").await;
        let command = "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && : </dev/tty && stty size; \
            echo \"$CARRIED $TERM ${PAGER-none} ${PWD##*/}\"; cd /; exit 7";
        let ran = session
            .try_run(on_terminal(&session, command))
            .await
            .unwrap();
        assert_eq!(ran.code, Some(7), "{mode:?} {ran:?}");
        assert_eq!(ran.stdout, "30 80\r\nalong xterm-256color none below\r\n");
        assert_eq!(ran.stderr, "");
        // What it does to its shell is its own affair.
        assert!(session.shown().await.working_directory.ends_with("/below"));
        // Everything that it wrote is there before its end is.
        let ran = session
            .try_run(on_terminal(&session, "seq 1 30000"))
            .await
            .unwrap();
        let expected: String = (1..=30_000).map(|n| format!("{n}\r\n")).collect();
        assert!(ran.stdout == expected, "{} bytes", ran.stdout.len());
        assert_eq!(ran.code, Some(0));
    }
}

#[tokio::test]
async fn what_is_typed_reaches_it_from_a_console_and_from_a_caller() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let command = "stty -echo; read -rp 'wo''rd? ' x; stty echo; echo \"got $x\"; stty size; \
        trap 'echo caught; exit 9' INT; while :; do read -r y; echo \"y=$y\"; done";
    let (id, mut stream) = session.begin_request(on_terminal(&session, command)).await;
    let behind = session_of(&session, id).await;
    let console = AttachOpen {
        cols: 97,
        rows: 33,
        view: View::Console.into(),
        ..open(&behind)
    };
    let mut person = Viewer::open(&behind.client, console).await;
    person.until("word? ").await;
    person.type_in("hidden\r").await;
    person.until("got hidden\r\n33 97\r\n").await;
    assert_eq!(person.text().matches("hidden").count(), 1, "without echo");
    typed(&session, id, "called\n").await;
    person.until("y=called\r\n").await;
    person.type_in("\x03").await;
    person.until("caught\r\n").await;
    let told = rest(&mut stream).await;
    assert_eq!(told.exit().code, 9);
    assert!(!told.exit().aborted);
}

#[tokio::test]
async fn a_cancel_ends_everything_that_it_has_started() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Line).await;
    let command =
        "sleep 611.5 & setsid sleep 611.5 & trap '' INT HUP TERM; sleep 611.5; sleep 611.5";
    let (id, mut stream) = session.begin_request(on_terminal(&session, command)).await;
    let sleeping = || {
        let all = processes();
        all.iter()
            .filter(|(_, line)| line.starts_with("sleep 611.5"))
            .count()
    };
    eventually("three sleep", || sleeping() == 3).await;
    let request = CancelRequest {
        shell_id: Some(id),
        ..CancelRequest::default()
    };
    let answer = session.client.clone().cancel(request).await.unwrap();
    assert!(answer.into_inner().cancelled);
    assert_eq!(sleeping(), 0);
    assert!(rest(&mut stream).await.exit().aborted);
}

#[tokio::test]
async fn it_outlives_the_daemon_and_its_code_is_known() {
    let mut daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let command = "echo first; read -r x; echo \"got $x\"; exit 3";
    let (id, mut stream) = session.begin_request(on_terminal(&session, command)).await;
    while let Some(event) = stream.message().await.unwrap() {
        if format!("{event:?}").contains("first\\r") {
            break;
        }
    }
    daemon.crash_and_restart();
    let session = TestSession {
        client: daemon.client().await,
        id: session.id,
    };
    typed(&session, id, "after\n").await;
    let exit = WaitRequest {
        shell_id: id,
        exit: true,
        ..WaitRequest::default()
    };
    let ended = session
        .client
        .clone()
        .wait(exit)
        .await
        .unwrap()
        .into_inner();
    assert_eq!(ended.exit_code, Some(3), "{ended:?}");
    let output = daemon
        .command()
        .args(["output", &id.to_string()])
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output, "first\r\nafter\r\ngot after\r\n");
}

#[tokio::test]
async fn it_has_the_walls_that_were_asked_for() {
    let daemon = Daemon::start("");
    let workspace = tempfile::Builder::new()
        .prefix("sg-ws-")
        .tempdir_in("/var/tmp")
        .unwrap();
    let path = workspace.path().to_string_lossy().into_owned();
    let request = CreateSessionRequest {
        working_directory: path.clone(),
        workspace_root: path,
        shell: "bash".to_owned(),
        startup: "none".to_owned(),
        mode: SessionMode::Pipe.into(),
        ..CreateSessionRequest::default()
    };
    let session = TestSession::create(&daemon, request).await;
    let mut request = on_terminal(&session, "[ -t 1 ] && touch made; [ -e made ]");
    if let Some(args) = &mut request.args {
        args.requested_sandbox_policy = Some(SandboxPolicy {
            r#type: Type::WorkspaceReadonly.into(),
            ..SandboxPolicy::default()
        });
    }
    let failed = failure(session.result(request).await);
    assert_eq!(failed.exit_code, 1, "{failed:?}");
    assert!(!workspace.path().join("made").exists());
}

#[tokio::test]
async fn run_hands_its_own_keyboard_over() {
    let daemon = Daemon::start("");
    let command = "read -rp 'name? ' x; echo \"hello $x\"; stty size; exit 4";
    let mut tty = Tty::start(&daemon, &["run", "--tty", command]);
    let before = tty.before.clone();
    tty.until("name? ");
    eventually("keys come raw", || tty.is_raw()).await;
    tty.type_in("wörx\x7fld\r");
    tty.until("hello wörld\r\n30 80\r\n");
    assert_eq!(tty.wait(), 4);
    assert_eq!(tty.modes().local_modes, before.local_modes);
    let mut tty = Tty::start(&daemon, &["run", "--tty", "echo be''gun; sleep 600"]);
    tty.until("begun");
    eventually("keys come raw", || tty.is_raw()).await;
    tty.type_in("\x03");
    assert_eq!(tty.wait(), 130);
}

#[tokio::test]
async fn a_command_that_wants_a_terminal_is_told_how_to_get_one() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let command = "tty >&2 || { echo 'sorry, this is not a tty' >&2; exit 2; }";
    let failed = failure(session.result(session.request(command)).await);
    assert!(failed.exit_details.unwrap().wants_terminal);
    let ran = session
        .try_run(on_terminal(&session, command))
        .await
        .unwrap();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let other = failure(session.result(session.request("exit 2")).await);
    assert!(
        other
            .exit_details
            .is_none_or(|details| !details.wants_terminal)
    );
    let run = daemon.command().args(["run", command]).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(said.contains("run --tty"), "{said}");
}
