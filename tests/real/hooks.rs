//! The user's programs have a say before a command runs, and hear of its end.

use glass_proto::shellglass::v1::session_event::Event as Body;
use glass_proto::shellglass::v1::{ApprovalScope, SessionMode};
use shellglass_tests::calls::{rejected, success};
use shellglass_tests::{Daemon, PATIENCE, TestSession, eventually};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A folder for the hooks' scripts and what they leave.
struct Hooked {
    folder: tempfile::TempDir,
}

impl Hooked {
    fn new() -> Hooked {
        let folder = tempfile::Builder::new()
            .prefix("sg-hooks-")
            .tempdir_in("/tmp");
        Hooked {
            folder: folder.unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// A daemon whose hooks before a command are these scripts.
    async fn session(&self, before: &[&str], more: &str) -> (Daemon, TestSession) {
        let mut config = String::from("[hooks]\n");
        for (number, script) in before.iter().enumerate() {
            let path = self.path(&format!("before-{number}"));
            std::fs::write(&path, script).unwrap();
            config += "[[hooks.beforeShellExecution]]\n";
            config += &format!("command = 'sh {}'\ntimeout_ms = 2000\n", path.display());
        }
        let daemon = Daemon::start(&(config + more));
        let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
        (daemon, session)
    }
}

/// The remarks on hooks in a session's history.
async fn remarks(session: &TestSession) -> Vec<String> {
    let events = session.history().await.events.into_iter();
    let remarks = events.filter_map(|event| match event.event? {
        Body::Status(status) if status.status == "hook" => Some(status.detail),
        _ => None,
    });
    remarks.collect()
}

#[tokio::test]
async fn hooks_are_asked_in_order_with_everything_about_the_command() {
    let hooked = Hooked::new();
    let (first, second) = (hooked.path("first"), hooked.path("second"));
    let allow = r#"echo '{"permission":"allow"}'"#;
    let scripts = [
        format!("cat > {}; {allow}", first.display()),
        format!(
            "test -s {} && cat > {}; {allow}",
            first.display(),
            second.display()
        ),
    ];
    let scripts: Vec<&str> = scripts.iter().map(String::as_str).collect();
    let (daemon, session) = hooked.session(&scripts, "").await;
    let request = session.with_args("echo hi | cat", |args| {
        args.tool_call_id = "call-1".to_owned();
    });
    assert_eq!(success(session.result(request).await).stdout, "hi\n");
    assert_eq!(hooked.text("first"), hooked.text("second"));
    let told: serde_json::Value = serde_json::from_str(&hooked.text("first")).unwrap();
    assert_eq!(told["hook"], "beforeShellExecution");
    assert_eq!(told["command"], "echo hi | cat");
    assert_eq!(Path::new(told["cwd"].as_str().unwrap()), daemon.home());
    assert_eq!(told["sessionId"], session.id);
    assert_eq!(told["toolCallId"], "call-1");
    assert!(told["requestedSandboxPolicy"].is_null());
    let commands = &told["parsingResult"]["executableCommands"];
    assert_eq!(commands[1]["name"], "cat");
    assert_eq!(remarks(&session).await, [""; 0]);
}

#[tokio::test]
async fn the_strictest_hook_wins_and_its_words_reach_agent_and_person() {
    let hooked = Hooked::new();
    let scripts = [
        r#"echo '{"permission":"allow"}'"#,
        r#"echo '{"permission":"deny","userMessage":"for you","agentMessage":"use make"}'"#,
        r#"touch "$(dirname "$0")/third"; echo '{"permission":"allow"}'"#,
    ];
    let (_daemon, session) = hooked.session(&scripts, "").await;
    let request = session.with_args("touch ran", |args| args.skip_approval = true);
    assert_eq!(rejected(session.result(request).await), "use make");
    assert_eq!(remarks(&session).await, ["for you"]);
    assert!(!hooked.path("third").exists());
}

#[tokio::test]
async fn a_hook_can_have_a_person_asked() {
    let hooked = Hooked::new();
    let scripts = [r#"echo '{"permission":"ask","userMessage":"touches the disk"}'"#];
    let (daemon, session) = hooked.session(&scripts, "").await;
    let client = session.client.clone();
    let request = session.request("touch ran");
    let asked = tokio::spawn(async move { client.clone().run(request).await.unwrap() });
    let waiting = session.until_waiting(1).await.remove(0);
    assert_eq!(waiting.reason, "touches the disk");
    assert!(!daemon.home().join("ran").exists());
    session.answer(true, ApprovalScope::Once).await;
    success(asked.await.unwrap().into_inner());
    assert!(daemon.home().join("ran").exists());
    let skipping = session.with_args("echo unasked", |args| args.skip_approval = true);
    assert_eq!(success(session.result(skipping).await).stdout, "unasked\n");
}

#[tokio::test]
async fn a_hook_that_fails_refuses_and_that_is_said() {
    for (script, why) in [
        ("sleep 60", "2000 ms"),
        ("exit 3", "exit"),
        ("echo nonsense", "not an answer"),
        ("kill -KILL $$", "137"),
        ("head -c 100000000 /dev/zero", "1048576"),
        ("true", "no answer"),
    ] {
        let hooked = Hooked::new();
        let (daemon, session) = hooked.session(&[script], "").await;
        let began = Instant::now();
        let refusal = rejected(session.result(session.request("touch ran")).await);
        assert!(refusal.contains("failed"), "{script}: {refusal}");
        assert!(began.elapsed() < Duration::from_secs(10), "{script}");
        let remarks = remarks(&session).await;
        assert!(remarks[0].contains(why), "{script}: {remarks:?}");
        assert!(!daemon.home().join("ran").exists());
    }
}

#[tokio::test]
async fn a_hook_that_fails_openly_counts_as_absent() {
    let hooked = Hooked::new();
    let open = "[[hooks.beforeShellExecution]]\ncommand = 'exit 9'\nfailure = \"open\"\n";
    let (_daemon, session) = hooked.session(&[], open).await;
    assert_eq!(session.run("echo on").await.stdout, "on\n");
    let remarks = remarks(&session).await;
    assert!(remarks[0].contains("It counts as absent"), "{remarks:?}");
}

#[tokio::test]
async fn a_command_is_not_lost_while_a_hook_thinks() {
    let hooked = Hooked::new();
    let thinks = hooked.path("thinks");
    let script = format!(
        "touch {}; sleep 1; echo '{{\"permission\":\"allow\"}}'",
        thinks.display()
    );
    let (mut daemon, mut session) = hooked.session(&[&script], "").await;
    let request = session.with_args("echo x >> ran; cat ran", |args| {
        args.tool_call_id = "k".to_owned();
    });
    let (mut client, first) = (session.client.clone(), request.clone());
    let lost = tokio::spawn(async move { client.run(first).await });
    eventually("the hook is asked", || thinks.exists()).await;
    daemon.crash_and_restart();
    assert!(lost.await.unwrap().is_err());
    session.client = daemon.client().await;
    assert_eq!(success(session.result(request).await).stdout, "x\n");
}

#[tokio::test]
async fn hooks_hear_of_the_end_with_redacted_output() {
    let hooked = Hooked::new();
    let told = hooked.path("told");
    let after = format!(
        "[[hooks.afterShellExecution]]\ncommand = 'cat >> {}'\n\
         [[hooks.afterShellExecution]]\ncommand = 'exit 4'\n",
        told.display()
    );
    let (_daemon, session) = hooked.session(&[], &after).await;
    let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let ran = session
        .run(&format!("echo {token}; echo late >&2; exit 7"))
        .await;
    assert_eq!(ran.code, Some(7));
    eventually("the hook is told", || hooked.text("told").ends_with('\n')).await;
    let line: serde_json::Value = serde_json::from_str(&hooked.text("told")).unwrap();
    assert_eq!(line["hook"], "afterShellExecution");
    assert_eq!(
        (&line["exitCode"], &line["signal"]),
        (&7.into(), &"".into())
    );
    assert_eq!(line["effectiveSandboxPolicy"]["type"], "TYPE_INSECURE_NONE");
    let output = line["output"].as_str().unwrap();
    assert!(
        output.contains("late\n") && !output.contains(token),
        "{output}"
    );
    let deadline = Instant::now() + PATIENCE;
    while remarks(&session).await.is_empty() {
        assert!(Instant::now() < deadline, "its failure is reported");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Ends that may be told at once, in all sessions together.
const TELLING_MAX: usize = 256;

#[tokio::test]
async fn too_many_ends_at_once_are_not_told_and_the_history_says_so() {
    let hooked = Hooked::new();
    let (told, go) = (hooked.path("told"), hooked.path("go"));
    let after = format!(
        "[[hooks.afterShellExecution]]\ntimeout_ms = 600000\n\
         command = 'while [ ! -e {} ]; do sleep 0.2; done; echo >> {}'\n",
        go.display(),
        told.display()
    );
    let (_daemon, session) = hooked.session(&[], &after).await;
    let excess = 3;
    for _ in 0..TELLING_MAX + excess {
        session.run("true").await;
    }
    let deadline = Instant::now() + PATIENCE;
    loop {
        let remarks = remarks(&session).await;
        if remarks.len() == excess {
            let says = |remark: &String| remark.contains("no hook was told of its end");
            assert!(remarks.iter().all(says), "{remarks:?}");
            break;
        }
        assert!(
            remarks.len() < excess && Instant::now() < deadline,
            "{remarks:?}"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    std::fs::write(&go, "").unwrap();
    let told = || hooked.text("told").len();
    eventually("every other end is told", || told() == TELLING_MAX).await;
    assert_eq!(remarks(&session).await.len(), excess);
}
