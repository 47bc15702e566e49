//! Every field of a result that can be known is there.

use glass_proto::agent::v1::sandbox_policy::Type;
use glass_proto::agent::v1::shell_result::Result as Kind;
use glass_proto::agent::v1::shell_stream::Event as Item;
use glass_proto::agent::v1::{SandboxPolicy, ShellAbortReason};
use glass_proto::shellglass::v1::{self as wire, CreateSessionRequest, SessionMode};
use shellglass_tests::calls::{failure, refused, success, told};
use shellglass_tests::{Daemon, TestSession};
use std::collections::HashMap;
use tonic::Code;

const BOTH: [SessionMode; 2] = [SessionMode::Pipe, SessionMode::Line];

const SHELLS: [&str; 4] = ["bash", "zsh", "fish", "dash"];

#[tokio::test]
async fn a_success_has_every_field() {
    let daemon = Daemon::start("");
    for mode in BOTH {
        let session = TestSession::with(&daemon, "bash", mode).await;
        let command = "echo out; sleep 0.1; echo err >&2";
        let result = session.result(session.request(command)).await;
        let policy = result.sandbox_policy.clone().expect("the policy in effect");
        assert_eq!(policy.r#type(), Type::InsecureNone);
        assert_eq!(result.is_background, Some(false));
        let success = success(result);
        assert_eq!(success.command, command);
        assert_eq!(success.working_directory, daemon.home().to_str().unwrap());
        assert_eq!((success.exit_code, success.signal.as_str()), (0, ""));
        assert_eq!(
            (success.stdout.as_str(), success.stderr.as_str()),
            ("out\n", "err\n")
        );
        assert!(
            (90..60_000).contains(&success.execution_time),
            "{success:?}"
        );
        assert_eq!(success.output_location, None);
        assert!(success.shell_id.is_some_and(|id| id > 0));
        assert_eq!(success.interleaved_output.as_deref(), Some("out\nerr\n"));
        assert_eq!(success.exit_details, None);
    }
}

#[tokio::test]
async fn a_failure_has_every_field() {
    let daemon = Daemon::start("");
    for mode in BOTH {
        let session = TestSession::with(&daemon, "bash", mode).await;
        let command = "echo out; sh -c 'exit 42'";
        let failed = failure(session.result(session.request(command)).await);
        assert_eq!(failed.command, command);
        assert_eq!(failed.working_directory, daemon.home().to_str().unwrap());
        assert_eq!((failed.exit_code, failed.signal.as_str()), (42, ""));
        assert_eq!(failed.stdout, "out\n");
        assert_eq!(failed.interleaved_output.as_deref(), Some("out\n"));
        assert!(!failed.aborted && !failed.exit_code_unknown);
        assert_eq!(failed.abort_reason, None);
        assert!(failed.shell_id.is_some_and(|id| id > 0));
    }
}

#[tokio::test]
async fn a_signal_has_its_name_number_and_core() {
    let daemon = Daemon::start("");
    for mode in BOTH {
        let session = TestSession::with(&daemon, "bash", mode).await;
        for (name, number, core) in [
            ("SIGTERM", 15, false),
            ("SIGKILL", 9, false),
            ("SIGSEGV", 11, true),
            ("SIGABRT", 6, true),
            ("SIGQUIT", 3, true),
            ("SIGUSR1", 10, false),
        ] {
            let command = format!("ulimit -c 0; sh -c 'kill -{number} $$'");
            let failed = failure(session.result(session.request(&command)).await);
            assert_eq!(failed.exit_code, 128 + number, "{mode:?} {name}");
            assert_eq!(failed.signal, name);
            let details = failed.exit_details.expect("a signal is a detail");
            assert_eq!(details.signal_number, Some(number));
            assert_eq!(details.signal_name, name);
            assert_eq!(details.core_dump_possible, core, "{name}");
            let told = session.told(&command).await;
            assert_eq!(told.exit().code, 128 + number.unsigned_abs());
            let details = told.exit().exit_details.as_ref().unwrap();
            assert_eq!(details.signal_name, name);
        }
    }
}

#[tokio::test]
async fn a_stream_says_where_it_runs_and_where_it_ended() {
    let daemon = Daemon::start("");
    for mode in BOTH {
        let session = TestSession::with(&daemon, "bash", mode).await;
        let told = session.told("cd /usr; echo $$; sh -c 'exit 3'").await;
        let start = told.start();
        assert_eq!(start.session_id, session.id);
        assert!(start.shell_id > 0);
        let pid: u32 = String::from_utf8(told.stdout())
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        assert_eq!(start.pid, pid, "{mode:?}");
        let policy = start.sandbox_policy.clone().expect("the policy in effect");
        assert_eq!(policy.r#type(), Type::InsecureNone);
        let exit = told.exit();
        assert_eq!((exit.code, exit.cwd.as_str()), (3, "/usr"));
        assert!(!exit.aborted && !exit.code_unknown);
        assert_eq!(exit.abort_reason, None);
    }
}

#[tokio::test]
async fn a_timeout_has_what_there_was_and_the_session_goes_on() {
    let daemon = Daemon::start("");
    for shell in SHELLS {
        for mode in BOTH {
            let session = TestSession::with(&daemon, shell, mode).await;
            let command = "echo out; echo err >&2; sleep 1000; echo never";
            let request = session.with_args(command, |args| args.timeout = 400);
            let late = match session.result(request.clone()).await.result {
                Some(Kind::Timeout(late)) => late,
                other => panic!("{shell} {mode:?}: {other:?}"),
            };
            assert_eq!(late.command, command);
            assert_eq!(late.working_directory, daemon.home().to_str().unwrap());
            assert_eq!(late.timeout_ms, 400);
            assert_eq!(
                (late.stdout.as_str(), late.stderr.as_str()),
                ("out\n", "err\n")
            );
            let told = told(&session.client, request).await.unwrap();
            assert!(told.exit().aborted, "{shell} {mode:?}");
            assert_eq!(told.exit().abort_reason(), ShellAbortReason::Timeout);
            assert_eq!(told.stdout(), b"out\n");
            assert_eq!(session.run("echo on").await.stdout, "on\n");
        }
    }
}

#[tokio::test]
async fn a_command_within_its_time_is_not_a_timeout() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let request = session.with_args("echo quick", |args| args.timeout = 600_000);
    assert_eq!(success(session.result(request).await).stdout, "quick\n");
    let request = session.with_args("true", |args| args.timeout = -1);
    refused(session.try_run(request).await, Code::InvalidArgument);
}

#[tokio::test]
async fn time_in_the_queue_does_not_count() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let (_, _first) = session.begin("sleep 1.2").await;
    let request = session.with_args("echo patient", |args| args.timeout = 1_000);
    let result = success(session.result(request).await);
    assert_eq!(result.stdout, "patient\n");
    assert!(result.execution_time < 1_000, "{result:?}");
}

#[tokio::test]
async fn a_command_can_have_a_directory_of_its_own() {
    let daemon = Daemon::start("");
    std::fs::create_dir_all(daemon.home().join("sub dir/deep")).unwrap();
    for shell in SHELLS {
        for mode in BOTH {
            let session = TestSession::with(&daemon, shell, mode).await;
            let home = daemon.home().to_str().unwrap();
            for (asked, found) in [
                ("/usr".to_owned(), "/usr".to_owned()),
                (format!("{home}/sub dir"), format!("{home}/sub dir")),
                ("deep".to_owned(), format!("{home}/sub dir/deep")),
            ] {
                let request = session.with_args("pwd", |args| args.working_directory = asked);
                let result = success(session.result(request).await);
                assert_eq!(result.stdout, format!("{found}\n"), "{shell} {mode:?}");
                assert_eq!(result.working_directory, found);
                assert_eq!(session.shown().await.working_directory, found);
            }
        }
    }
}

#[tokio::test]
async fn a_directory_that_is_not_there_runs_nothing() {
    let daemon = Daemon::start("");
    for shell in SHELLS {
        for mode in BOTH {
            let session = TestSession::with(&daemon, shell, mode).await;
            let request = session.with_args("touch ran; echo ran", |args| {
                args.working_directory = "/nowhere/at/all".to_owned();
            });
            match session.result(request.clone()).await.result {
                Some(Kind::SpawnError(error)) => {
                    assert!(error.error.contains("/nowhere/at/all"), "{error:?}");
                    assert_eq!(error.working_directory, "/nowhere/at/all");
                    assert_eq!(error.command, "touch ran; echo ran");
                }
                other => panic!("{shell} {mode:?}: {other:?}"),
            }
            let told = told(&session.client, request).await.unwrap();
            match told.0.last() {
                Some(Item::SpawnError(error)) => {
                    assert!(error.error.contains("/nowhere/at/all"), "{error:?}");
                }
                other => panic!("{shell} {mode:?}: {other:?}"),
            }
            assert!(!daemon.home().join("ran").exists());
            assert_eq!(session.run("echo on").await.stdout, "on\n");
        }
    }
}

#[tokio::test]
async fn variables_of_a_command_are_gone_after_it() {
    let daemon = Daemon::start("");
    for shell in SHELLS {
        for mode in BOTH {
            let session = TestSession::with(&daemon, shell, mode).await;
            let set = if shell == "fish" {
                "set -gx KEPT"
            } else {
                "export KEPT="
            };
            let set = if shell == "fish" {
                format!("{set} before")
            } else {
                format!("{set}before")
            };
            session.run(&set).await;
            let odd = "a b'\"$x\\\n€ *".to_owned();
            let env = HashMap::from([
                ("KEPT".to_owned(), "during".to_owned()),
                ("ONCE".to_owned(), odd.clone()),
            ]);
            let request = wire::ExecuteRequest {
                env,
                ..session.request("printenv KEPT ONCE")
            };
            let during = success(session.result(request).await);
            assert_eq!(
                during.stdout,
                format!("during\n{odd}\n"),
                "{shell} {mode:?}"
            );
            let after = session.run("printenv KEPT ONCE").await;
            assert_eq!(after.stdout, "before\n", "{shell} {mode:?}");
        }
    }
}

#[tokio::test]
async fn a_command_knows_its_session_and_its_call() {
    let daemon = Daemon::start("");
    for shell in SHELLS {
        for mode in BOTH {
            let session = TestSession::with(&daemon, shell, mode).await;
            let command = "printenv SHELLGLASS SHELLGLASS_SESSION_ID SHELLGLASS_TOOL_CALL_ID";
            let key = format!("call {shell} {}", i32::from(mode));
            let request = session.with_args(command, |args| args.tool_call_id.clone_from(&key));
            let seen = success(session.result(request).await).stdout;
            assert_eq!(
                seen,
                format!("1\n{}\n{key}\n", session.id),
                "{shell} {mode:?}"
            );
            // The next command is another call.
            let seen = session.run("printenv SHELLGLASS_TOOL_CALL_ID").await.stdout;
            assert!(!seen.contains(&key), "{shell} {mode:?}: {seen}");
        }
    }
}

#[tokio::test]
async fn walls_that_cannot_be_had_are_refused() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let policy = |kind: Type| SandboxPolicy {
        r#type: kind.into(),
        ..SandboxPolicy::default()
    };
    let no_network = SandboxPolicy {
        network_access: Some(false),
        ..policy(Type::InsecureNone)
    };
    let nothing_there = SandboxPolicy {
        additional_readwrite_paths: vec!["/there/is/nothing".to_owned()],
        ..policy(Type::WorkspaceReadwrite)
    };
    let no_mapping = SandboxPolicy {
        ignore_mapping_json: Some("[".to_owned()),
        ..policy(Type::WorkspaceReadonly)
    };
    for asked in [no_network, nothing_there, no_mapping] {
        let request = session.with_args("touch ran", |args| {
            args.requested_sandbox_policy = Some(asked.clone());
        });
        match session.result(request.clone()).await.result {
            Some(Kind::PermissionDenied(denied)) => {
                assert!(denied.error.contains("hint: "), "{denied:?}");
                assert_eq!(denied.command, "touch ran");
            }
            other => panic!("not refused: {other:?}"),
        }
        let told = told(&session.client, request).await.unwrap();
        let only = &told.0[..];
        assert!(matches!(only, [Item::PermissionDenied(_)]), "{only:?}");
        let request = CreateSessionRequest {
            sandbox_policy: Some(asked),
            ..CreateSessionRequest::default()
        };
        let made = session.client.clone().create_session(request).await;
        refused(made, Code::FailedPrecondition);
    }
    assert!(!daemon.home().join("ran").exists());
    let request = session.with_args("echo open", |args| {
        args.requested_sandbox_policy = Some(policy(Type::InsecureNone));
    });
    assert_eq!(session.try_run(request).await.unwrap().stdout, "open\n");
}

#[tokio::test]
async fn a_command_is_read_without_being_run() {
    let daemon = Daemon::start("[policy]\n");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let mut client = session.client.clone();
    for (command, decision) in [("git status", "allow"), ("touch ran", "ask")] {
        let request = wire::CheckCommandRequest {
            command: command.to_owned(),
            ..wire::CheckCommandRequest::default()
        };
        let answer = client.check_command(request).await.unwrap().into_inner();
        assert_eq!(answer.decision, decision, "{answer:?}");
        assert_eq!(answer.simple_commands, [command]);
    }
    assert!(!daemon.home().join("ran").exists());
}
