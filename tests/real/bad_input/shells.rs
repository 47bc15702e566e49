//! Shells that are not there, or do not behave, and odd variables.

use super::check_well;
use glass_proto::shellglass::v1::{CreateSessionRequest, SessionMode};
use shellglass_tests::calls::refused;
use shellglass_tests::program::Home;
use shellglass_tests::{Daemon, TestSession};
use std::collections::HashMap;
use tonic::Code;

#[tokio::test]
async fn a_missing_shell_is_named() {
    let daemon = Daemon::start("");
    let mut client = daemon.client().await;
    let plain = daemon.home().join("plain");
    std::fs::write(&plain, "").unwrap();
    let plain = plain.to_str().unwrap();
    for shell in [
        "no-such-shell",
        "/no/such/shell",
        "relative/shell",
        plain,
        "/usr",
        "\0",
    ] {
        let request = CreateSessionRequest {
            shell: shell.to_owned(),
            ..CreateSessionRequest::default()
        };
        let message = refused(client.create_session(request).await, Code::InvalidArgument);
        assert!(message.contains("shell"), "{message}");
    }
    let warm_true = CreateSessionRequest {
        shell: "/bin/true".to_owned(),
        mode: SessionMode::Pipe.into(),
        ..CreateSessionRequest::default()
    };
    refused(
        client.create_session(warm_true).await,
        Code::InvalidArgument,
    );
    daemon
        .cli(&["run", "--shell", "no-such-shell", "true"])
        .failed_with(125);
    daemon
        .cli(&["session", "create", "--shell", "no-such-shell"])
        .failed_with(1);
    check_well(&daemon).await;
}

#[test]
fn a_configured_shell_that_is_missing_is_named() {
    let home = Home::default();
    home.configure("[session]\nshell = \"no-such-shell\"\n");
    assert!(
        home.cli(&["run", "true"])
            .failed_with(125)
            .contains("no-such-shell")
    );
}

#[tokio::test]
async fn a_shell_that_disappears_is_told_when_it_is_needed() {
    let daemon = Daemon::start("");
    let shell = daemon.home().join("bash");
    std::fs::copy("/bin/bash", &shell).unwrap();
    for mode in [SessionMode::Line, SessionMode::Pipe] {
        let session = TestSession::with(&daemon, shell.to_str().unwrap(), mode).await;
        assert_eq!(session.run("echo before").await.stdout, "before\n");
        std::fs::rename(&shell, daemon.home().join("away")).unwrap();
        let result = session.run("exit 3").await;
        let result = if mode == SessionMode::Pipe {
            assert_eq!(result.code, Some(3));
            session.run("echo after").await
        } else {
            result
        };
        let error = result.spawn_error.clone().unwrap_or_default();
        assert!(error.contains("bash"), "{mode:?}: {result:?}");
        std::fs::rename(daemon.home().join("away"), &shell).unwrap();
        assert_eq!(
            session.run("echo again").await.stdout,
            "again\n",
            "{mode:?}"
        );
    }
    check_well(&daemon).await;
}

/// A login session of a user with this start file.
async fn with_start_file(daemon: &Daemon, text: &str) -> TestSession {
    std::fs::write(daemon.home().join(".bash_profile"), text).unwrap();
    let home = daemon.home().to_str().unwrap();
    let request = CreateSessionRequest {
        shell: "bash".to_owned(),
        startup: "login".to_owned(),
        env: HashMap::from([("HOME".to_owned(), home.to_owned())]),
        working_directory: home.to_owned(),
        ..CreateSessionRequest::default()
    };
    TestSession::create(daemon, request).await
}

#[tokio::test]
async fn a_banner_is_not_part_of_any_output() {
    let daemon = Daemon::start("");
    let text = "echo WELCOME; echo CAREFUL >&2; export FROM_PROFILE=1\n";
    let session = with_start_file(&daemon, text).await;
    let result = session.run("echo $FROM_PROFILE").await;
    assert_eq!(
        (result.stdout.as_str(), result.stderr.as_str()),
        ("1\n", "")
    );
    check_well(&daemon).await;
}

#[tokio::test]
async fn a_start_file_that_waits_does_not_keep_commands_waiting() {
    let daemon = Daemon::start("[limits]\nstartup_ms_max = 300\n");
    for text in [
        "sleep 1000\n",
        "read line\nsleep 1000\n",
        "while :; do :; done\n",
    ] {
        let session = with_start_file(&daemon, text).await;
        let result = session.run("echo x >>ran; cat ran; rm ran").await;
        assert_eq!(result.stdout, "x\n", "{text}");
        let fell_back = session.remarks("fallback").await;
        assert!(!fell_back.is_empty(), "{text}");
        session.dispose().await;
    }
    check_well(&daemon).await;
}

#[tokio::test]
async fn a_start_file_that_ends_the_shell_is_survived() {
    let daemon = Daemon::start("");
    for text in ["exit 1\n", "exec true\n", "kill -9 $$\n"] {
        let session = with_start_file(&daemon, text).await;
        let result = session.run("echo x >>ran; cat ran; rm ran").await;
        assert_eq!(result.stdout, "x\n", "{text}");
        session.dispose().await;
    }
    check_well(&daemon).await;
}

#[tokio::test]
async fn odd_names_in_an_environment_are_kept_or_refused() {
    let daemon = Daemon::start("");
    let mut client = daemon.client().await;
    for (name, value) in [("", "x"), ("A=B", "x"), ("NUL\0", "x"), ("NAME", "\0")] {
        let request = CreateSessionRequest {
            env: HashMap::from([(name.to_owned(), value.to_owned())]),
            ..CreateSessionRequest::default()
        };
        refused(client.create_session(request).await, Code::InvalidArgument);
    }
    let odd = [
        ("WITH-HYPHEN", "1"),
        ("1DIGIT", "2"),
        ("WITH SPACE", "3"),
        ("UNI\u{e9}", "4"),
        ("BASH_FUNC_f%%", "() { echo function; }"),
        ("_", "5"),
        ("NEW\nLINE", "6"),
    ];
    for shell in ["bash", "zsh", "fish", "dash"] {
        for mode in [SessionMode::Pipe, SessionMode::Line] {
            let request = CreateSessionRequest {
                shell: shell.to_owned(),
                mode: mode.into(),
                startup: "none".to_owned(),
                env: odd
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect(),
                ..CreateSessionRequest::default()
            };
            let session = TestSession::create(&daemon, request).await;
            assert_eq!(
                session.run("echo on").await.stdout,
                "on\n",
                "{shell} {mode:?}"
            );
            // The next shell of the session has them, too.
            session.run("exit 0").await;
            assert_eq!(
                session.run("echo on").await.stdout,
                "on\n",
                "{shell} {mode:?}"
            );
            if shell == "bash" {
                let seen = session.run("f; env | grep -a -c -e HYPHEN -e 1DIGIT").await;
                assert_eq!(seen.stdout, "function\n2\n", "{mode:?}");
            }
        }
    }
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    for name in ["", "1A", "A-B", "A=B", "A B", "é", "A\0"] {
        let mut request = session.request("touch ran");
        request.env.insert(name.to_owned(), "x".to_owned());
        refused(session.try_run(request).await, Code::InvalidArgument);
    }
    let mut request = session.request("touch ran");
    request.env.insert("A".to_owned(), "nul\0".to_owned());
    refused(session.try_run(request).await, Code::InvalidArgument);
    assert!(!daemon.home().join("ran").exists());
    check_well(&daemon).await;
}

#[tokio::test]
async fn variables_that_the_shell_will_not_change_are_told() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    session.run("readonly FIXED=1").await;
    let mut request = session.request("echo $FIXED");
    request.env.insert("FIXED".to_owned(), "2".to_owned());
    // Whatever comes of it, the command ends and the session goes on.
    session.try_run(request).await.unwrap();
    assert_eq!(session.run("echo on").await.stdout, "on\n");
    check_well(&daemon).await;
}
