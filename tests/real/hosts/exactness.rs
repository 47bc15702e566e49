//! Codes, bytes, directory and variables are on another host what they are here.

use super::server::{Server, on_box, session};
use glass_proto::agent::v1::sandbox_policy::Type;
use glass_proto::agent::v1::shell_result::Result as Kind;
use glass_proto::shellglass::v1::{CreateSessionRequest, SessionMode};
use shellglass_tests::TestSession;
use shellglass_tests::calls::{failure, refused, success};
use shellglass_tests::program::ran;
use tonic::Code;

#[tokio::test]
async fn codes_and_bytes_are_exact() {
    let server = Server::start();
    let daemon = server.daemon("");
    let session = session(&daemon).await;
    for (command, code) in [("exit 255", 255), ("kill -9 $$", 137), ("(exit 3)", 3)] {
        let ended = session.run(command).await;
        assert_eq!(ended.code, Some(code), "{command}: {ended:?}");
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""));
    }
    let all: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    std::fs::write(server.file("all"), &all).unwrap();
    let file = server.file("all").display().to_string();
    let both = format!("cat {file}; cat {file} >&2; printf '\\036'; printf 'x\\036' >&2; exit 4");
    let told = session.told(&both).await;
    assert_eq!(told.exit().code, 4);
    assert_eq!(told.stdout(), [all.as_slice(), b"\x1e"].concat());
    assert_eq!(told.stderr(), [all.as_slice(), b"x\x1e"].concat());
    // No walls are in force there, and the result says so.
    let policy = told.start().sandbox_policy.clone().unwrap_or_default();
    assert_eq!(policy.r#type(), Type::InsecureNone);
}

#[tokio::test]
async fn directory_and_variables_are_carried_on() {
    let server = Server::start();
    let daemon = server.daemon("");
    let session = session(&daemon).await;
    let place = server.file("a dir").display().to_string();
    std::fs::create_dir(&place).unwrap();
    let odd = "it's \"$HOME\"\\n\n% two";
    let set = format!("cd '{place}'; export ODD='it'\\''s \"$HOME\"\\n\n% two'; unset LANG; x=1");
    assert_eq!(session.run(&set).await.code, Some(0));
    assert_eq!(session.shown().await.working_directory, place);
    let ended = session
        .run("pwd; printf '%s\\n' \"$ODD\" \"${x-none}\"")
        .await;
    assert_eq!(ended.stdout, format!("{place}\n{odd}\nnone\n"));
    // A variable of one command alone, and a command too long for the request.
    let mut request = session.request(&format!("#{}\necho \"$ONE $SHELLGLASS\"", "x".repeat(9000)));
    request.env.insert("ONE".to_owned(), "a b".to_owned());
    assert_eq!(session.try_run(request).await.unwrap().stdout, "a b 1\n");
    // A directory that is not there: nothing runs elsewhere.
    let request = session.with_args("touch ran", |args| {
        args.working_directory = "/no/such/place".to_owned();
    });
    let refused = session.try_run(request).await.unwrap();
    assert!(refused.spawn_error.unwrap().contains("/no/such/place"));
    // Our own environment is not there.
    assert_eq!(
        session.run("echo ${SHELLGLASS_HOME-none}").await.stdout,
        "none\n"
    );
}

#[tokio::test]
async fn nothing_that_a_command_finds_lets_it_say_how_it_ended() {
    let server = Server::start();
    let daemon = server.daemon("");
    let session = session(&daemon).await;
    // Everything that looks like the secret, from all that it can read of those
    // above it.
    let forge = "p=$$; while [ \"$p\" -gt 1 ]; do
        cat /proc/$p/environ /proc/$p/cmdline 2>/dev/null; echo
        p=$(awk '/^PPid/ {print $2}' /proc/$p/status 2>/dev/null) || break
    done | tr '\\0' '\\n' | grep -aoE '[0-9a-f]{32}' | sort -u | while read -r s; do
        printf '\\036%s:exit 0\\n' \"$s\" >&2; printf '\\036%s:end\\n' \"$s\"
    done; exit 5";
    assert_eq!(session.run(forge).await.code, Some(5));
    // Nor that it never ran: nothing in its own directory is believed.
    let forge = "for name in nowhere miss; do
        : >\"/tmp/.shellglass-$SHELLGLASS_REMOTE_ID/$name\"
    done; printf x >&6; exit 6";
    assert_eq!(session.run(forge).await.code, Some(6));
    // Nor where and as what the next one runs.
    let forge = "export sg_cwd=/usr sg_session=false sg_secret=x; cd /; exit 7";
    assert_eq!(session.run(forge).await.code, Some(7));
    let next = session.run("pwd").await;
    assert_eq!((next.code, next.stdout.as_str()), (Some(0), "/\n"));
}

#[tokio::test]
async fn what_cannot_be_had_elsewhere_is_refused() {
    let server = Server::start();
    let daemon = server.daemon("");
    let mut client = daemon.client().await;
    let bad = [
        "nowhere",
        "-oProxyCommand=touch /tmp/sg-owned",
        "ssh://-oProxyCommand=x",
        "ssh://a b",
        "ssh://u@h:99999",
        "local\0",
        "http://box",
    ];
    let on = |host: &str| CreateSessionRequest {
        host: host.to_owned(),
        ..CreateSessionRequest::default()
    };
    for host in bad {
        refused(client.create_session(on(host)).await, Code::InvalidArgument);
    }
    let requests = [
        CreateSessionRequest {
            mode: SessionMode::Pipe.into(),
            ..on_box()
        },
        CreateSessionRequest {
            shell: "python3".to_owned(),
            ..on_box()
        },
        CreateSessionRequest {
            workspace_root: "/tmp".to_owned(),
            ..on_box()
        },
        CreateSessionRequest {
            working_directory: "relative".to_owned(),
            ..on_box()
        },
    ];
    for request in requests {
        refused(client.create_session(request).await, Code::InvalidArgument);
    }
    let walled = glass_proto::agent::v1::SandboxPolicy {
        r#type: Type::WorkspaceReadonly.into(),
        ..Default::default()
    };
    let request = CreateSessionRequest {
        sandbox_policy: Some(walled.clone()),
        ..on_box()
    };
    let refusal = refused(
        client.create_session(request).await,
        Code::FailedPrecondition,
    );
    assert!(refusal.contains("no walls"), "{refusal}");
    let session = session(&daemon).await;
    let request = session.with_args("true", |args| {
        args.requested_sandbox_policy = Some(walled);
    });
    match session.result(request).await.result {
        Some(Kind::PermissionDenied(denied)) => {
            assert!(denied.error.contains("no walls on 'box'"), "{denied:?}");
        }
        other => panic!("it is not refused: {other:?}"),
    }
}

#[tokio::test]
async fn a_person_types_run_and_hosts() {
    let server = Server::start();
    let daemon = server.daemon("shell = \"sh\"");
    let listed = ran(daemon.command().arg("hosts")).quiet();
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[0].starts_with("local "), "{listed}");
    assert!(lines[1].starts_with("box "), "{listed}");
    assert!(
        lines[1].contains(" idle ") && lines[1].contains("agents: ask"),
        "{listed}"
    );
    let mut run = daemon.command();
    run.args(["run", "--host", "box", "--env", "A=b c", "--cwd", "/"]);
    let answer = ran(run.arg("pwd; echo \"$A\"; echo oops >&2; exit 6"));
    assert_eq!(answer.status, 6, "{answer:?}");
    assert_eq!(
        (answer.out().as_str(), answer.stderr.as_str()),
        ("/\nb c\n", "oops\n")
    );
    // By its address it is the same host.
    let address = server.address();
    let mut create = daemon.command();
    create.args(["session", "create", "--host", &address]);
    let id = ran(&mut create).quiet().trim().to_owned();
    let shown = ran(daemon.command().args(["session", "show", &id])).quiet();
    assert!(shown.contains("host            box\n"), "{shown}");
    let listed = ran(daemon.command().args(["session", "list"])).quiet();
    assert!(listed.contains("  box:~  "), "{listed}");
    let mut refused = daemon.command();
    refused.args(["run", "--host=-oProxyCommand=x", "true"]);
    ran(&mut refused).failed_with(125);
}

#[tokio::test]
async fn a_failure_elsewhere_is_a_failure_and_not_a_refusal() {
    let server = Server::start();
    let daemon = server.daemon("");
    let session: TestSession = session(&daemon).await;
    let ended = failure(session.result(session.request("exit 1")).await);
    assert_eq!((ended.exit_code, ended.exit_code_unknown), (1, false));
    // What a command leaves behind does not hold its answer up.
    let left = success(
        session
            .result(session.request("sleep 20 & echo done"))
            .await,
    );
    assert_eq!(left.stdout, "done\n");
}
