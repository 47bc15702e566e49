//! Who may have a terminal, and what its shell may do.

use super::viewer::{Viewer, open, terminal, terminal_request};
use glass_proto::agent::v1::SandboxPolicy;
use glass_proto::agent::v1::sandbox_policy::Type;
use glass_proto::shellglass::v1::{AttachOpen, CreateSessionRequest};
use shellglass_tests::calls::{refused, token, with_token};
use shellglass_tests::{Daemon, TestSession};
use tonic::{Code, Request};

#[tokio::test]
async fn a_single_command_has_no_terminal() {
    let daemon = Daemon::start("");
    let ran = daemon
        .command()
        .args(["run", "--mode", "pty", "true"])
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(2), "{ran:?}");
}

#[tokio::test]
async fn an_agent_whose_commands_are_judged_has_no_terminal() {
    let daemon = Daemon::start("");
    let agent = token(daemon.home(), "agent");
    let mut client = daemon.client().await;
    let request = with_token(terminal_request(&daemon, "bash"), &agent);
    refused(client.create_session(request).await, Code::PermissionDenied);
    let persons = terminal(&daemon, "bash").await;
    let presented = Viewer::present(&client, open(&persons), |stream| {
        let mut request = Request::new(stream);
        let value = format!("Bearer {agent}").parse().unwrap();
        request.metadata_mut().insert("authorization", value);
        request
    });
    let refused_view = presented.await.map(|_| ());
    refused(refused_view, Code::PermissionDenied);
}

#[tokio::test]
async fn an_agent_whom_nobody_judges_may_have_a_terminal() {
    let daemon = Daemon::start("[policy]\nagent = \"off\"\n");
    let agent = token(daemon.home(), "agent");
    let mut client = daemon.client().await;
    let request = with_token(terminal_request(&daemon, "bash"), &agent);
    let made = client.create_session(request).await.unwrap().into_inner();
    let session = TestSession {
        client: client.clone(),
        id: made.session_id,
    };
    // A person sees and may use what agents made.
    let mut viewer = Viewer::open(&client, open(&session)).await;
    viewer.ready().await;
    viewer.type_in("exit 3\r").await;
    assert_eq!(viewer.end().await, Some(3));
}

#[tokio::test]
async fn a_view_that_is_read_only_types_nothing_but_a_cancel() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut person = Viewer::open(&session.client, open(&session)).await;
    person.ready().await;
    let watching = AttachOpen {
        read_only: true,
        ..open(&session)
    };
    let mut watcher = Viewer::open(&session.client, watching).await;
    watcher.ready().await;
    let flashes = |viewer: &Viewer| {
        use glass_proto::shellglass::v1::attach_output::Output;
        let all = viewer.others.iter();
        all.filter(|other| matches!(other, Output::ReadOnlyInput(_)))
            .count()
    };
    for keys in ["touch typed\r", "\x03"] {
        let before = flashes(&watcher);
        watcher.type_in(keys).await;
        while flashes(&watcher) == before {
            watcher.step().await.expect("the view goes on");
        }
    }
    person.type_in("sleep 600 || echo inter''rupted\r").await;
    person.until("inter''rupted").await;
    // The shell hands the terminal over a moment after it has echoed the line.
    let is_asleep = || {
        let all = shellglass_tests::processes().into_iter();
        let mut sleeping = all.filter(|(pid, line)| {
            let cwd = std::fs::read_link(format!("/proc/{pid}/cwd"));
            line.starts_with("sleep 600") && cwd.is_ok_and(|cwd| cwd == daemon.home())
        });
        sleeping.next().is_some()
    };
    shellglass_tests::eventually("it sleeps", is_asleep).await;
    watcher.type_in("\x03").await;
    shellglass_tests::eventually("it is interrupted", || !is_asleep()).await;
    person.type_in("\r").await;
    person.type_in("exit 1\r").await;
    assert_eq!(person.end().await, Some(1));
    assert!(!daemon.home().join("typed").exists());
}

/// A workspace with an ignore file, and a terminal in it behind walls.
async fn walled(daemon: &Daemon) -> (tempfile::TempDir, TestSession) {
    let workspace = tempfile::Builder::new()
        .prefix("sg-ws-")
        .tempdir_in("/var/tmp")
        .unwrap();
    std::fs::write(workspace.path().join(".shellglassignore"), "secret*\n").unwrap();
    let path = workspace.path().to_string_lossy().into_owned();
    let request = CreateSessionRequest {
        working_directory: path.clone(),
        workspace_root: path,
        sandbox_policy: Some(SandboxPolicy {
            r#type: Type::WorkspaceReadwrite.into(),
            network_access: Some(false),
            ..SandboxPolicy::default()
        }),
        ..terminal_request(daemon, "bash")
    };
    let session = TestSession::create(daemon, request).await;
    (workspace, session)
}

#[tokio::test]
async fn what_comes_to_be_ignored_is_hidden_before_the_next_line() {
    let mut daemon = Daemon::start("[sandbox]\ndefault = \"none\"\n");
    let (workspace, session) = walled(&daemon).await;
    for round in ["first", "after a crash"] {
        let client = daemon.client().await;
        let mut viewer = Viewer::open(&client, open(&session)).await;
        viewer.ready().await;
        let name = format!("secret-{}", &round[..5]);
        std::fs::write(workspace.path().join(&name), "the words\n").unwrap();
        viewer
            .type_in(&format!("cat {name} || echo hid''den {name}\r"))
            .await;
        viewer.until(&format!("hidden {name}\r\n")).await;
        assert!(!viewer.text().contains("the words"), "{round}");
        drop(viewer);
        daemon.crash_and_restart();
    }
}

#[tokio::test]
async fn a_shell_behind_walls_is_a_terminal_and_stays_behind_them() {
    let daemon = Daemon::start("[sandbox]\ndefault = \"none\"\n");
    let (workspace, session) = walled(&daemon).await;
    // Not below a directory that every sandbox has for itself.
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut viewer = Viewer::open(&session.client, open(&session)).await;
    viewer.ready().await;
    let out = outside.path().join("planted");
    viewer
        .type_in(&format!(
            "touch inside; touch {} || echo den''ied; stty size </dev/tty\r",
            out.display()
        ))
        .await;
    viewer.until("denied\r\n").await;
    // What is typed before there is a prompt, a Ctrl+Z would throw away.
    viewer.until("30 80\r\n\x1b[?2004h> ").await;
    // Job control works inside.
    viewer.type_in("sleep 601\r").await;
    viewer.until("sleep 601\r\n").await;
    let deadline = std::time::Instant::now() + shellglass_tests::PATIENCE;
    while !viewer.text().contains("Stopped") {
        assert!(std::time::Instant::now() < deadline, "{:?}", viewer.text());
        viewer.type_in("\x1a\r").await;
        viewer.step().await.expect("the view goes on");
    }
    viewer.type_in("disown -a; exit 5\r").await;
    assert_eq!(viewer.end().await, Some(5));
    assert!(workspace.path().join("inside").exists());
    assert!(!out.exists());
}
