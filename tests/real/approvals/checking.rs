//! What a check says is what the gate does, whoever asks and however.

use super::Watched;
use crate::mcp_lines::Mcp;
use glass_proto::agent::v1::shell_result::Result as Kind;
use glass_proto::agent::v1::{SandboxPolicy, sandbox_policy::Type};
use glass_proto::shellglass::v1::{
    ApprovalScope, CheckCommandRequest, CheckCommandResponse, CreateSessionRequest,
};
use shellglass_tests::calls::{refused, rejected, success, with_token};
use shellglass_tests::{Client, Daemon, PATIENCE};
use std::path::Path;
use std::time::Instant;
use tonic::Code;

/// What the service says, as an agent asks.
async fn check(watched: &Watched, request: CheckCommandRequest) -> CheckCommandResponse {
    let request = with_token(request, &watched.agent);
    let answer = watched.session.client.clone().check_command(request).await;
    answer.expect("an answer").into_inner()
}

async fn checked_in(watched: &Watched, folder: &Path, command: &str) -> CheckCommandResponse {
    let request = CheckCommandRequest {
        command: command.to_owned(),
        working_directory: folder.display().to_string(),
        ..CheckCommandRequest::default()
    };
    check(watched, request).await
}

async fn checked(watched: &Watched, command: &str) -> CheckCommandResponse {
    let request = CheckCommandRequest {
        command: command.to_owned(),
        session_id: watched.session.id.clone(),
        ..CheckCommandRequest::default()
    };
    check(watched, request).await
}

/// What the program says without the daemon.
fn said(watched: &Watched, folder: &Path, command: &str) -> serde_json::Value {
    let folder = folder.to_str().unwrap();
    let line = ["policy", "check", "--json", "--cwd", folder, command];
    serde_json::from_str(&watched.daemon.cli(&line).quiet()).unwrap()
}

/// What the gate does. What waits is refused.
async fn done(watched: &Watched, command: &str) -> &'static str {
    let mut asked = watched.ask(watched.session.request(command));
    let deadline = Instant::now() + PATIENCE;
    loop {
        let pause = tokio::time::timeout(std::time::Duration::from_millis(5), &mut asked).await;
        if let Ok(ended) = pause {
            return match ended.unwrap().result {
                Some(Kind::Rejected(_)) => "deny",
                _ => "allow",
            };
        }
        if let Some(waiting) = watched.waiting().await.first() {
            let id = waiting.approval_id.clone();
            watched.answer(&id, false, ApprovalScope::Once).await;
            rejected(asked.await.unwrap());
            return "ask";
        }
        assert!(
            Instant::now() < deadline,
            "{command} neither ends nor waits"
        );
    }
}

/// A project with rules and an ignore list.
fn set_up(folder: &Path) {
    std::fs::create_dir(folder.join("sub")).unwrap();
    std::fs::write(folder.join("a.env"), "secret\n").unwrap();
    std::fs::write(folder.join(".shellglassignore"), "*.env\n").unwrap();
    let rules = "[[policy.rule]]\nprefix = [\"ls\"]\ndecision = \"deny\"\n\
                 [[policy.rule]]\nprefix = [\"head\"]\ndecision = \"ask\"\n";
    std::fs::write(folder.join(".shellglass.toml"), rules).unwrap();
}

#[tokio::test]
async fn a_check_and_the_gate_decide_alike() {
    let watched = Watched::start("").await;
    let home = watched.daemon.home().to_owned();
    set_up(&home);
    for (command, decision) in [
        ("echo hi", "allow"),
        ("cat sub/x", "allow"),
        ("mkdir x", "ask"),
        ("echo $(mkdir x)", "ask"),
        ("rm -rf /", "deny"),
        // The ignore list.
        ("cat a.env", "deny"),
        ("cat sub/../a.env", "deny"),
        ("cat < a.env", "deny"),
        // The project's rules.
        ("ls", "deny"),
        ("head x", "ask"),
        ("echo x | head", "ask"),
        // What is adapted is judged as it runs.
        ("codex 'fix it'", "ask"),
    ] {
        let session = checked(&watched, command).await;
        let folder = checked_in(&watched, &home, command).await;
        let program = said(&watched, &home, command);
        let decisions = [
            session.decision.as_str(),
            folder.decision.as_str(),
            program["decision"].as_str().unwrap(),
            done(&watched, command).await,
        ];
        assert_eq!(decisions, [decision; 4], "{command}: {session:?}");
        assert_eq!(session.reasons, folder.reasons, "{command}");
        assert_eq!(
            program["reasons"],
            serde_json::json!(session.reasons),
            "{command}"
        );
        assert!(!session.reasons.is_empty(), "{command}");
    }
    let reasons = checked(&watched, "cat a.env").await.reasons;
    assert!(
        reasons[0].contains("'a.env', which is ignored here"),
        "{reasons:?}"
    );
    let reasons = checked(&watched, "codex 'fix it'").await.reasons;
    let runs = reasons
        .iter()
        .any(|why| why.contains("it runs as `codex exec --json"));
    assert!(runs, "{reasons:?}");
}

#[tokio::test]
async fn a_check_asks_about_the_directory_that_it_is_given() {
    let watched = Watched::start("").await;
    let home = watched.daemon.home().to_owned();
    set_up(&home);
    let sub = home.join("sub");
    for command in ["cat ../a.env", "ls"] {
        assert_eq!(checked_in(&watched, &sub, command).await.decision, "deny");
        assert_eq!(said(&watched, &sub, command)["decision"], "deny");
    }
    // A link into the project is the project.
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(&home, &link).unwrap();
    let outside = elsewhere.path();
    for (folder, decision) in [(outside, "allow"), (&link, "deny")] {
        let service = checked_in(&watched, folder, "cat a.env").await;
        let program = said(&watched, folder, "cat a.env");
        assert_eq!(service.decision, decision, "{service:?}");
        assert_eq!(program["decision"], decision, "{program}");
    }
    // A relative one is seen from where the session is.
    let request = CheckCommandRequest {
        command: "cat ../a.env".to_owned(),
        working_directory: "sub".to_owned(),
        session_id: watched.session.id.clone(),
        ..CheckCommandRequest::default()
    };
    assert_eq!(check(&watched, request).await.decision, "deny");
}

#[tokio::test]
async fn a_directory_that_is_a_link_does_not_hide_what_is_ignored() {
    let watched = Watched::start("").await;
    set_up(watched.daemon.home());
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(watched.daemon.home(), &link).unwrap();
    let spec = CreateSessionRequest {
        working_directory: link.display().to_string(),
        shell: "bash".to_owned(),
        ..CreateSessionRequest::default()
    };
    let watched = watched.with_session(spec).await;
    let why = rejected(watched.run("cat a.env").await);
    assert!(why.contains("ignored here"), "{why}");
}

#[tokio::test]
async fn what_people_have_answered_counts_where_it_holds() {
    let watched = Watched::start("").await;
    let home = watched.daemon.home().to_owned();
    for (command, scope) in [
        ("touch a", ApprovalScope::Session),
        ("mkdir b", ApprovalScope::Always),
    ] {
        let asked = watched.ask(watched.session.request(command));
        let id = watched.until_waiting(1).await[0].approval_id.clone();
        watched.answer(&id, true, scope).await;
        success(asked.await.unwrap());
    }
    for (command, here, there) in [("touch c", "allow", "ask"), ("mkdir d", "allow", "allow")] {
        assert_eq!(checked(&watched, command).await.decision, here, "{command}");
        let fresh = checked_in(&watched, &home, command).await;
        assert_eq!(fresh.decision, there, "{command}");
        assert_eq!(
            said(&watched, &home, command)["decision"],
            there,
            "{command}"
        );
    }
}

#[tokio::test]
async fn a_check_says_who_would_ask() {
    let watched = Watched::start("").await;
    let home = watched.daemon.home().to_owned();
    let request = CheckCommandRequest {
        command: "mkdir x".to_owned(),
        as_person: true,
        ..CheckCommandRequest::default()
    };
    assert_eq!(check(&watched, request).await.decision, "allow");
    let line = ["policy", "check", "--person", "mkdir x"];
    let text = watched.daemon.cli(&line).quiet();
    assert!(
        text.starts_with("allow\n  nothing is known against it\n"),
        "{text}"
    );
    assert_eq!(said(&watched, &home, "mkdir x")["decision"], "ask");
}

#[tokio::test]
async fn a_project_file_that_cannot_be_used_is_said() {
    let watched = Watched::start("").await;
    let home = watched.daemon.home().to_owned();
    std::fs::write(home.join(".shellglass.toml"), "[policy\n").unwrap();
    for answer in [
        checked(&watched, "echo hi").await,
        checked_in(&watched, &home, "echo hi").await,
    ] {
        assert_eq!(answer.decision, "deny");
        assert!(answer.reasons[0].contains("cannot be used"), "{answer:?}");
    }
    assert_eq!(done(&watched, "echo hi").await, "deny");
    let gone = CheckCommandRequest {
        command: "echo hi".to_owned(),
        session_id: "s-gone".to_owned(),
        ..CheckCommandRequest::default()
    };
    let request = with_token(gone, &watched.agent);
    let mut client: Client = watched.session.client.clone();
    refused(client.check_command(request).await, Code::NotFound);
}

#[tokio::test]
async fn a_path_that_the_commands_rights_ignore_is_refused_by_name() {
    let watched = Watched::over(
        Daemon::start("[policy]\n[sandbox]\n"),
        super::SessionMode::Pipe,
    );
    let watched = watched.await;
    let home = watched.daemon.home().to_owned();
    for name in ["plain", "hidden"] {
        std::fs::create_dir(home.join(name)).unwrap();
        std::fs::write(home.join(name).join("key"), "text\n").unwrap();
    }
    let policy = SandboxPolicy {
        r#type: Type::WorkspaceReadonly.into(),
        ignore_mapping_json: Some(r#"{"hidden": ["key", "*.pem"]}"#.to_owned()),
        ..SandboxPolicy::default()
    };
    let run = |command: &str| {
        let request = watched.session.with_args(command, |args| {
            args.requested_sandbox_policy = Some(policy.clone());
        });
        watched.ask(request)
    };
    for command in [
        "cat hidden/key",
        "cat hidden/a.pem",
        "echo x | cat < hidden/key",
    ] {
        let why = rejected(run(command).await.unwrap());
        assert!(why.contains("ignored here"), "{command}: {why}");
    }
    assert_eq!(
        success(run("cat plain/key").await.unwrap()).stdout,
        "text\n"
    );

    // For the whole session, and so for a check about it.
    let spec = CreateSessionRequest {
        working_directory: home.display().to_string(),
        shell: "bash".to_owned(),
        sandbox_policy: Some(policy.clone()),
        ..CreateSessionRequest::default()
    };
    let watched = watched.with_session(spec).await;
    for (command, decision) in [("cat hidden/key", "deny"), ("cat plain/key", "allow")] {
        assert_eq!(checked(&watched, command).await.decision, decision);
        assert_eq!(done(&watched, command).await, decision, "{command}");
    }
}

#[tokio::test]
async fn a_client_of_mcp_is_told_what_its_own_session_would_do() {
    let watched = Watched::start("").await;
    set_up(watched.daemon.home());
    let mut mcp = Mcp::start(&watched.daemon);
    let mut check = |command: &str, cwd: Option<&str>| {
        let arguments = serde_json::json!({"command": command, "cwd": cwd});
        let (text, fields) = mcp.call("check_command", arguments);
        assert!(
            text.starts_with(fields["decision"].as_str().unwrap()),
            "{text}"
        );
        fields["decision"].as_str().unwrap().to_owned()
    };
    for (command, cwd, decision) in [
        ("echo hi", None, "allow"),
        ("mkdir x", None, "ask"),
        ("cat a.env", None, "deny"),
        ("cat ../a.env", Some("sub"), "deny"),
        ("ls", None, "deny"),
    ] {
        assert_eq!(check(command, cwd), decision, "{command}");
    }
    // Once it has a session, that is what it is about.
    let (text, _) = mcp.call("execute_command", serde_json::json!({"command": "echo hi"}));
    assert!(text.starts_with("hi\n"), "{text}");
    let session = watched.daemon.cli(&["session", "list", "--json"]).quiet();
    let listed: serde_json::Value = serde_json::from_str(&session).unwrap();
    assert_eq!(
        listed["sessions"].as_array().map(Vec::len),
        Some(2),
        "{listed}"
    );
    for (command, decision) in [("cat a.env", "deny"), ("mkdir x", "ask")] {
        let arguments = serde_json::json!({"command": command});
        assert_eq!(mcp.call("check_command", arguments).1["decision"], decision);
    }
}
