//! Executing a command in a terminal: at the shell's prompt, as if somebody had
//! typed it, and at most once.

use super::desk::Desk;
use super::viewer::{terminal, terminal_request};
use glass_proto::agent::v1::ShellArgs;
use glass_proto::shellglass::v1::session_event::Event;
use glass_proto::shellglass::v1::{CancelRequest, ExecuteRequest};
use shellglass_tests::calls::told;
use shellglass_tests::{Daemon, TestSession};

/// Whether a file is there.
fn is_there(daemon: &Daemon, name: &str) -> impl FnMut() -> bool + use<> {
    let path = daemon.home().join(name);
    move || path.exists()
}

const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

#[tokio::test]
async fn a_command_runs_at_the_prompt_with_its_output_and_code() {
    let daemon = Daemon::start("");
    for shell in SHELLS {
        let mut desk = Desk::bare(&daemon, shell).await;
        let ran = desk.session.run("echo one; sh -c 'exit 9'").await;
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(9), "one\r\n"),
            "{shell}"
        );
        // It is the person's own shell: what a command leaves stays.
        let set = if shell == "fish" {
            "set x 5; cd /"
        } else {
            "x=5; cd /"
        };
        assert_eq!(desk.session.run(set).await.code, Some(0), "{shell}");
        let kept = desk.session.run("echo $x $PWD; test -t 1").await;
        assert_eq!(
            (kept.code, kept.stdout.as_str()),
            (Some(0), "5 /\r\n"),
            "{shell}"
        );
        desk.viewer.until("5 /\r\n").await;
        let shown = desk.viewer.text();
        assert!(shown.contains("echo one; sh -c"), "{shell}: {shown:?}");
        for trace in ["6714", "]633", "terminal/next"] {
            assert!(!shown.contains(trace), "{shell}: {shown:?}");
        }
        let known = desk.commands().await;
        let texts: Vec<&str> = known.iter().map(|run| run.command.as_str()).collect();
        assert_eq!(
            texts,
            ["echo one; sh -c 'exit 9'", set, "echo $x $PWD; test -t 1"]
        );
        assert_eq!(known[2].cwd, "/", "{shell}");
    }
}

#[tokio::test]
async fn any_text_arrives_as_it_is() {
    let daemon = Daemon::start("");
    for shell in ["bash", "zsh"] {
        let session = terminal(&daemon, shell).await;
        for (command, expected, code) in [
            ("echo 'hi!' \"there!!\"", "hi! there!!\r\n", 0),
            ("echo a\necho b\nfalse", "a\r\nb\r\n", 1),
            ("cat <<'E'\n$x `y` \\z\tq\nE", "$x `y` \\z\tq\r\n", 0),
            ("printf '%s' \"it's; \\\\ é\"", "it's; \\ é", 0),
            ("  echo led", "led\r\n", 0),
            ("-x; echo on", "on\r\n", 0),
            ("declare_me=1\nexport declare_me", "", 0),
            ("echo $declare_me # a remark", "1\r\n", 0),
        ] {
            let ran = session.run(command).await;
            assert_eq!(ran.code, Some(code), "{shell}: {command:?} {ran:?}");
            assert!(
                ran.stdout.ends_with(expected),
                "{shell}: {command:?} {:?}",
                ran.stdout
            );
        }
        for broken in ["echo \"x", "for i in 1", "if true; then", "echo )"] {
            let ran = session.run(broken).await;
            assert!(
                ran.code.is_some_and(|code| code != 0),
                "{shell}: {broken:?} {ran:?}"
            );
        }
        let long = format!("printf %s '{}' | wc -c", "x".repeat(20_000));
        let ran = session.run(&long).await;
        assert_eq!((ran.code, ran.stdout.trim()), (Some(0), "20000"), "{shell}");
    }
    let fish = terminal(&daemon, "fish").await;
    for (command, expected, code) in [
        ("echo a\necho b\nfalse", "a\r\nb\r\n", 1),
        ("echo 'it is \\\\ é;'", "it is \\ é;\r\n", 0),
        ("for i in 1", "", 123),
        ("echo a\nfor i in 1", "", 123),
    ] {
        let ran = fish.run(command).await;
        assert_eq!(ran.code, Some(code), "{command:?} {ran:?}");
        assert!(
            ran.stdout.contains(expected),
            "{command:?} {:?}",
            ran.stdout
        );
    }
}

#[tokio::test]
async fn a_command_has_its_own_directory_and_variables() {
    let daemon = Daemon::start("");
    for shell in SHELLS {
        let session = terminal(&daemon, shell).await;
        let request = ExecuteRequest {
            env: [("GIVEN".to_owned(), "it's a value".to_owned())].into(),
            args: Some(ShellArgs {
                command: "echo \"$GIVEN $PWD\"".to_owned(),
                working_directory: "/usr".to_owned(),
                ..ShellArgs::default()
            }),
            ..session.request("")
        };
        let ran = session.try_run(request.clone()).await.unwrap();
        assert!(
            ran.stdout.ends_with("it's a value /usr\r\n"),
            "{shell}: {ran:?}"
        );
        let after = session.run("echo \"[$GIVEN]\"").await;
        assert_eq!(after.stdout, "[]\r\n", "{shell}");
        let nowhere = ExecuteRequest {
            args: Some(ShellArgs {
                command: "true".to_owned(),
                working_directory: "/nonexistent".to_owned(),
                ..ShellArgs::default()
            }),
            ..session.request("")
        };
        let refused = session.try_run(nowhere).await.unwrap();
        assert!(refused.spawn_error.is_some(), "{shell}: {refused:?}");
    }
}

#[tokio::test]
async fn a_shell_without_markers_is_left_alone_and_the_command_runs_beside_it() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "dash").await;
    let desk = Desk::sit(session).await;
    let ran = desk.session.run("echo out; echo err >&2; exit 4").await;
    assert_eq!(ran.code, Some(4));
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ("out\n", "err\n")
    );
    assert!(has_fallen_back(&desk, ran.shell_id).await);
    let shown = desk
        .session
        .until("it says so", |shown| shown.integration.starts_with("none"));
    assert!(shown.await.integration.contains("does not mark"));
    let stopped = desk
        .session
        .cancel_when("touch begun; sleep 1000", is_there(&daemon, "begun"));
    assert!(stopped.await.aborted);
    let late = ExecuteRequest {
        args: Some(ShellArgs {
            command: "sleep 1000".to_owned(),
            timeout: 200,
            ..ShellArgs::default()
        }),
        ..desk.session.request("")
    };
    assert!(desk.session.try_run(late).await.unwrap().timed_out);
}

async fn has_fallen_back(desk: &Desk, id: u32) -> bool {
    let events = desk.events().await.into_iter();
    let mut own = events.filter(|event| event.shell_id == id);
    own.any(
        |event| matches!(event.event, Some(Event::Status(status)) if status.status == "fallback"),
    )
}

#[tokio::test]
async fn a_command_that_the_shell_does_not_take_runs_once_without_it() {
    let daemon = Daemon::start("");
    for shell in ["bash", "zsh"] {
        let mut desk = Desk::bare(&daemon, shell).await;
        let forget = match shell {
            "bash" => "bind -r '\\e[6714~'\r",
            _ => "bindkey -r '\\e[6714~'\r",
        };
        assert_eq!(desk.typed(forget).await.exit_code, Some(0));
        let ran = desk.session.run("echo once >> ran; tty").await;
        assert_eq!(ran.code, Some(1), "there is no terminal: {ran:?}");
        assert!(has_fallen_back(&desk, ran.shell_id).await, "{shell}");
        desk.ended("what ran beside it").await;
        let typed = desk.typed("\x15cat ran\r").await;
        assert_eq!(typed.exit_code, Some(0), "{shell}: {typed:?}");
        let lines = std::fs::read_to_string(daemon.home().join("ran")).unwrap();
        assert_eq!(lines, "once\n", "{shell}");
        std::fs::remove_file(daemon.home().join("ran")).unwrap();
    }
}

#[tokio::test]
async fn a_cancelled_command_ends_and_the_shell_stays() {
    let daemon = Daemon::start("");
    for shell in SHELLS {
        let session = terminal(&daemon, shell).await;
        for (nth, command) in [
            "touch begun0; sleep 1000",
            // It does not care for Ctrl+C.
            "sh -c 'trap \"\" INT TERM; touch begun1; while :; do sleep 0.05; done'",
        ]
        .iter()
        .enumerate()
        {
            let begun = format!("begun{nth}");
            let ran = session
                .cancel_when(command, is_there(&daemon, &begun))
                .await;
            assert!(ran.aborted, "{shell}: {ran:?}");
            std::fs::remove_file(daemon.home().join(&begun)).unwrap();
            let after = session.run("echo still").await;
            assert_eq!(
                (after.code, after.stdout.as_str()),
                (Some(0), "still\r\n"),
                "{shell}"
            );
        }
        let late = ExecuteRequest {
            args: Some(ShellArgs {
                command: "sleep 1000".to_owned(),
                timeout: 200,
                ..ShellArgs::default()
            }),
            ..session.request("")
        };
        assert!(session.try_run(late).await.unwrap().timed_out, "{shell}");
    }
}

#[tokio::test]
async fn commands_wait_for_the_prompt_and_run_in_their_order() {
    let daemon = Daemon::start("");
    let mut desk = Desk::bare(&daemon, "bash").await;
    desk.keys("until [ -e go ]; do sleep 0.02; done\r").await;
    desk.runs("until [ -e go ]; do sleep 0.02; done").await;
    let one = desk
        .session
        .try_run(desk.session.request("echo one >> order"));
    let two = async {
        desk.session.until("one waits", |shown| shown.busy).await;
        tokio::task::yield_now().await;
        desk.session
            .try_run(desk.session.request("echo two >> order"))
            .await
    };
    let go = async {
        desk.session.until("they wait", |shown| shown.busy).await;
        assert!(!daemon.home().join("order").exists());
        std::fs::write(daemon.home().join("go"), "").unwrap();
    };
    let (one, two, ()) = tokio::join!(one, two, go);
    assert_eq!((one.unwrap().code, two.unwrap().code), (Some(0), Some(0)));
    let order = std::fs::read_to_string(daemon.home().join("order")).unwrap();
    let mut lines: Vec<&str> = order.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["one", "two"], "each ran once");
    let typed = desk.ended("until").await;
    assert_eq!(typed.exit_code, Some(0));
}

#[tokio::test]
async fn a_waiting_command_can_be_cancelled_and_never_runs() {
    let daemon = Daemon::start("");
    let desk = Desk::bare(&daemon, "bash").await;
    desk.keys("until [ -e go ]; do sleep 0.02; done\r").await;
    desk.runs("until [ -e go ]; do sleep 0.02; done").await;
    let request = ExecuteRequest {
        args: Some(ShellArgs {
            command: "touch never".to_owned(),
            tool_call_id: "call-1".to_owned(),
            ..ShellArgs::default()
        }),
        ..desk.session.request("")
    };
    let stream = desk.session.client.clone().execute(request).await;
    let mut stream = stream.unwrap().into_inner();
    let request = CancelRequest {
        tool_call_id: "call-1".to_owned(),
        ..CancelRequest::default()
    };
    let cancelled = desk.session.client.clone().cancel(request).await.unwrap();
    assert!(cancelled.into_inner().cancelled);
    let told = shellglass_tests::calls::rest(&mut stream).await;
    assert!(told.exit().aborted);
    std::fs::write(daemon.home().join("go"), "").unwrap();
    assert_eq!(desk.session.run("echo on").await.code, Some(0));
    assert!(!daemon.home().join("never").exists());
}

#[tokio::test]
async fn a_half_written_line_comes_back_after_the_command() {
    let daemon = Daemon::start("");
    for shell in SHELLS {
        let mut desk = Desk::bare(&daemon, shell).await;
        desk.keys("echo dra").await;
        desk.viewer.until("dra").await;
        let ran = desk.session.run("echo bet''ween").await;
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(0), "between\r\n"),
            "{shell}"
        );
        desk.ended("between").await;
        // The echo of the command does not look like its output.
        desk.viewer.forget_through("between\r\n").await;
        desk.viewer.until("dra").await;
        let run = desk.typed("ft\r").await;
        assert_eq!(run.command, "echo draft", "{shell}");
    }
}

#[tokio::test]
async fn a_command_outlives_the_daemon_and_ends_with_its_code() {
    let mut daemon = Daemon::start("");
    let mut desk = Desk::bare(&daemon, "bash").await;
    let id = desk.session.id.clone();
    assert_eq!(desk.session.run("true").await.code, Some(0));
    desk.keys("until [ -e go ]; do sleep 0.02; done; echo do''ne; (exit 8)\r")
        .await;
    desk.viewer.until("(exit 8)\r\n").await;
    let text = "until [ -e go ]; do sleep 0.02; done; echo do''ne; (exit 8)";
    desk.runs(text).await;
    drop(desk);
    daemon.crash_and_restart();
    let session = TestSession {
        client: daemon.client().await,
        id,
    };
    session
        .until("it runs on", |shown| shown.active_command == text)
        .await;
    std::fs::write(daemon.home().join("go"), "").unwrap();
    let is_over = |shown: &glass_proto::shellglass::v1::Session| {
        !shown.busy && shown.last_command == text && shown.last_exit_code == Some(8)
    };
    session.until("it has ended", is_over).await;
    let next = session.run("echo next").await;
    assert_eq!((next.code, next.stdout.as_str()), (Some(0), "next\r\n"));
}

#[tokio::test]
async fn a_command_that_ends_while_no_daemon_lives_has_its_code() {
    let mut daemon = Daemon::start("");
    let request = glass_proto::shellglass::v1::CreateSessionRequest {
        // The prompt comes after the word of the command's end.
        env: [("PS1".to_owned(), "$(touch prompted)> ".to_owned())].into(),
        ..terminal_request(&daemon, "bash")
    };
    let desk = Desk::open(&daemon, request).await;
    let id = desk.session.id.clone();
    assert_eq!(desk.session.run("true").await.code, Some(0));
    let text = "rm -f prompted; touch begun; until [ -e go ]; do sleep 0.02; done; (exit 8)";
    desk.keys(&format!("{text}\r")).await;
    desk.runs(text).await;
    shellglass_tests::eventually("it is under way", is_there(&daemon, "begun")).await;
    drop(desk);
    daemon.kill();
    std::fs::write(daemon.home().join("go"), "").unwrap();
    shellglass_tests::eventually("it has ended", is_there(&daemon, "prompted")).await;
    daemon.spawn();
    daemon.wait_until_ready();
    let session = TestSession {
        client: daemon.client().await,
        id,
    };
    let is_over = |shown: &glass_proto::shellglass::v1::Session| {
        !shown.busy && shown.last_command == text && shown.last_exit_code == Some(8)
    };
    session.until("its end is known", is_over).await;
    let next = session.run("echo next").await;
    assert_eq!((next.code, next.stdout.as_str()), (Some(0), "next\r\n"));
}

#[tokio::test]
async fn a_stream_has_one_start_and_one_exit() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let told = told(&session.client, session.request("seq 1 2000; (exit 3)"))
        .await
        .unwrap();
    assert!(told.start().pid > 0);
    assert_eq!(told.exit().code, 3);
    let lines = String::from_utf8(told.stdout()).unwrap();
    assert_eq!(lines.lines().count(), 2000);
}

#[tokio::test]
async fn the_command_line_runs_in_a_terminal_session() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "zsh").await;
    let ran = daemon
        .command()
        .args([
            "run",
            "--session",
            &session.id,
            "echo from the line; (exit 5)",
        ])
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(5), "{ran:?}");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "from the line\r\n");
    let shown = daemon
        .command()
        .args(["session", "show", &session.id])
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("integration"), "{shown}");
    assert!(shown.contains("echo from the line; (exit 5)"), "{shown}");
}

#[tokio::test]
async fn behind_walls_it_is_the_same() {
    let home = tempfile::Builder::new()
        .prefix("sg-")
        .tempdir_in("/tmp")
        .unwrap();
    let setup = shellglass_tests::Setup::default();
    let daemon = Daemon::set_up(home, setup);
    let work = daemon.home().join("work");
    std::fs::create_dir(&work).unwrap();
    for shell in SHELLS {
        let request = glass_proto::shellglass::v1::CreateSessionRequest {
            working_directory: work.to_string_lossy().into_owned(),
            workspace_root: work.to_string_lossy().into_owned(),
            sandbox_policy: Some(glass_proto::agent::v1::SandboxPolicy {
                r#type: glass_proto::agent::v1::sandbox_policy::Type::WorkspaceReadwrite.into(),
                ..glass_proto::agent::v1::SandboxPolicy::default()
            }),
            ..terminal_request(&daemon, shell)
        };
        let mut desk = Desk::open(&daemon, request).await;
        let ran = desk
            .session
            .run("echo in > file; touch ../out; sh -c 'exit 3'")
            .await;
        assert_eq!(ran.code, Some(3), "{shell}: {ran:?}");
        assert!(work.join("file").exists(), "{shell}");
        assert!(!daemon.home().join("out").exists(), "{shell}");
        let typed = desk.typed("echo typed\r").await;
        // The first was handed over.
        assert_eq!(typed.exit_code, Some(3), "{shell}");
        let typed = desk.ended("typed").await;
        assert_eq!(
            (typed.command.as_str(), typed.exit_code),
            ("echo typed", Some(0))
        );
    }
}

#[tokio::test]
async fn a_loop_of_the_shells_own_can_be_cancelled() {
    let daemon = Daemon::start("");
    for (shell, command) in [
        ("bash", "touch begun; while :; do :; done"),
        ("zsh", "touch begun; while :; do :; done"),
        ("fish", "touch begun; while true; end"),
    ] {
        let session = terminal(&daemon, shell).await;
        let begun = is_there(&daemon, "begun");
        let ran = session.cancel_when(command, begun).await;
        assert!(ran.aborted, "{shell}: {ran:?}");
        std::fs::remove_file(daemon.home().join("begun")).unwrap();
        let after = session.run("echo still").await;
        assert_eq!(after.stdout, "still\r\n", "{shell}");
    }
}
