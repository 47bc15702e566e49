//! Agents' commands of known tools answer without a terminal; what was added is
//! shown, judged and can be switched off.

use glass_proto::agent::v1::ShellResult;
use glass_proto::shellglass::v1::session_event::Event as Body;
use glass_proto::shellglass::v1::{
    ApprovalScope, CreateSessionRequest, ExecuteRequest, SessionMode,
};
use shellglass_tests::calls::{failure, refused, success, token, with_token};
use shellglass_tests::program::finish;
use shellglass_tests::{Daemon, PATIENCE, TestSession};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tonic::Code;

mod told;

const CODEX_EVENTS: &str = include_str!("../../crates/glass-adapt/tests/events/codex.jsonl");
const CLAUDE_EVENTS: &str = include_str!("../../crates/glass-adapt/tests/events/claude.jsonl");

/// A daemon with an agent's session, and programs of our own in front of others.
struct Bench {
    daemon: Daemon,
    session: TestSession,
    agent: String,
}

impl Bench {
    async fn new(config: &str) -> Bench {
        let home = tempfile::Builder::new().prefix("sg-").tempdir_in("/tmp");
        let home = home.unwrap();
        let bin = home.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let (calls, path) = (home.path().join("calls"), std::env::var("PATH").unwrap());
        for (name, events) in [("codex", CODEX_EVENTS), ("claude", CLAUDE_EVENTS)] {
            std::fs::write(home.path().join(name), events).unwrap();
            let script = format!(
                "#!/bin/sh\nprintf '<%s>' {name} \"$@\" >> {calls}\necho >> {calls}\ncat {events}\n",
                calls = calls.display(),
                events = home.path().join(name).display(),
            );
            program(&bin.join(name), &script);
        }
        let path = format!("{}:{path}", bin.display());
        // No variable of whoever runs the tests has a say.
        let config = format!("[session]\nscrub_env = [\"GCM_*\", \"PIP_*\"]\n{config}");
        let daemon = Daemon::start_in(home, &config, &[("PATH", &path)], &[]);
        let agent = token(daemon.home(), "agent");
        let mut client = daemon.client().await;
        let request = CreateSessionRequest {
            shell: "bash".to_owned(),
            mode: SessionMode::Pipe.into(),
            startup: "none".to_owned(),
            working_directory: daemon.home().to_string_lossy().into_owned(),
            ..CreateSessionRequest::default()
        };
        let made = client.create_session(with_token(request, &agent)).await;
        let id = made.unwrap().into_inner().session_id;
        Bench {
            session: TestSession { client, id },
            daemon,
            agent,
        }
    }

    async fn run_as_agent(&self, request: ExecuteRequest) -> ShellResult {
        let mut client = self.session.client.clone();
        let answer = client.run(with_token(request, &self.agent));
        let answer = tokio::time::timeout(PATIENCE, answer).await;
        answer.expect("it ends in time").unwrap().into_inner()
    }

    async fn run(&self, command: &str) -> ShellResult {
        self.run_as_agent(self.session.request(command)).await
    }

    /// How our programs were called, a line each.
    fn calls(&self) -> String {
        std::fs::read_to_string(self.daemon.home().join("calls")).unwrap_or_default()
    }

    /// What was said about adapted commands.
    async fn remarks(&self) -> Vec<String> {
        let events = self.session.history().await.events.into_iter();
        let remarks = events.filter_map(|event| match event.event? {
            Body::Status(status) if status.status == "adapted" => Some(status.detail),
            _ => None,
        });
        remarks.collect()
    }
}

fn program(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn keyed(bench: &Bench, command: &str) -> ExecuteRequest {
    bench
        .session
        .with_args(command, |args| args.tool_call_id = "k".to_owned())
}

#[tokio::test]
async fn codex_and_claude_of_an_agent_get_their_flags_and_that_is_shown() {
    let bench = Bench::new("").await;
    let ran = success(bench.run("codex 'fix it'").await);
    assert_eq!(ran.stdout, CODEX_EVENTS);
    assert_eq!(ran.command, "codex exec --json 'fix it'");
    let ran = success(bench.run("claude -c \"go on\"").await);
    assert_eq!(ran.stdout, CLAUDE_EVENTS);
    success(bench.run("codex 'as it is' | cat").await);
    assert_eq!(
        bench.calls(),
        "<codex><exec><--json><fix it>\n\
         <claude><-p><--output-format><stream-json><--verbose><-c><go on>\n\
         <codex><as it is>\n"
    );
    let remarks = bench.remarks().await;
    assert_eq!(remarks.len(), 2, "{remarks:?}");
    let wanted = "codex 'fix it' → codex exec --json 'fix it': codex needs a terminal";
    assert!(remarks[0].starts_with(wanted), "{remarks:?}");
    let history = bench.session.history().await.executions;
    let commands: Vec<&str> = history.iter().map(|ran| ran.command.as_str()).collect();
    assert_eq!(commands[0], "codex exec --json 'fix it'");
    assert_eq!(commands[2], "codex 'as it is' | cat");
}

#[tokio::test]
async fn a_long_prompt_is_adapted_too_and_the_remark_stays_short() {
    let bench = Bench::new("").await;
    let prompt = "fix it ".repeat(1000);
    let command = format!("codex exec '{prompt}'");
    success(bench.run_as_agent(keyed(&bench, &command)).await);
    success(bench.run_as_agent(keyed(&bench, &command)).await);
    assert_eq!(bench.calls(), format!("<codex><exec><--json><{prompt}>\n"));
    let remarks = bench.remarks().await;
    assert!(remarks[0].chars().count() < 600, "{remarks:?}");
}

#[tokio::test]
async fn what_a_person_types_is_run_as_it_is_typed() {
    let bench = Bench::new("").await;
    let ran = bench.session.run("codex 'fix it'").await;
    assert_eq!(ran.stdout, CODEX_EVENTS);
    assert_eq!(bench.calls(), "<codex><fix it>\n");
    assert_eq!(bench.remarks().await, [""; 0]);
}

#[tokio::test]
async fn adapters_can_be_switched_off() {
    for config in [
        "[adapters]\nenabled = false\n",
        "[adapters]\noff = [\"codex\"]\n",
    ] {
        let bench = Bench::new(config).await;
        success(bench.run("codex 'fix it'").await);
        assert_eq!(bench.calls(), "<codex><fix it>\n", "{config}");
        assert_eq!(bench.remarks().await, [""; 0]);
    }
    let bench = Bench::new("[adapters]\noff = [\"git\"]\n").await;
    success(bench.run("codex 'fix it'").await);
    assert_eq!(bench.calls(), "<codex><exec><--json><fix it>\n");
}

#[test]
fn a_tool_that_is_not_known_cannot_be_switched_off() {
    let home = tempfile::Builder::new().prefix("sg-").tempdir_in("/tmp");
    let home = home.unwrap();
    std::fs::create_dir(home.path().join("config")).unwrap();
    let config = home.path().join("config/config.toml");
    std::fs::write(&config, "[adapters]\noff = [\"gti\"]\n").unwrap();
    let mut line = std::process::Command::new(shellglass_tests::program());
    line.arg("serve").env("SHELLGLASS_HOME", home.path());
    line.stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let ran = finish(line.spawn().unwrap());
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("there is no tool 'gti'"), "{ran:?}");
    assert!(
        ran.stderr
            .contains("codex, claude, git, npm, pip, terraform"),
        "{ran:?}"
    );
}

#[tokio::test]
async fn the_same_call_finds_its_adapted_execution_again() {
    let mut bench = Bench::new("").await;
    let first = bench.run_as_agent(keyed(&bench, "codex 'fix it'")).await;
    let again = bench.run_as_agent(keyed(&bench, "codex 'fix it'")).await;
    assert_eq!(first, again);
    // Also when nothing is adapted any more.
    bench
        .daemon
        .set_variable("SHELLGLASS_ADAPTERS_ENABLED", Some("false"));
    bench.daemon.crash_and_restart();
    bench.session.client = bench.daemon.client().await;
    bench.run_as_agent(keyed(&bench, "codex 'fix it'")).await;
    assert_eq!(bench.calls(), "<codex><exec><--json><fix it>\n");
    let other = with_token(keyed(&bench, "codex 'fix that'"), &bench.agent);
    let refusal = bench.session.client.clone().run(other).await;
    refused(refusal, Code::AlreadyExists);
}

#[tokio::test]
async fn what_is_judged_is_what_runs() {
    let rule = "[policy]\n[[policy.rule]]\nprefix = [\"git\", \"fetch\"]\ndecision = \"allow\"\n";
    let bench = Bench::new(rule).await;
    let (mut client, agent) = (bench.session.client.clone(), bench.agent.clone());
    let request = bench.session.request("codex 'fix it'");
    let asked = tokio::spawn(async move { client.run(with_token(request, &agent)).await });
    let approval = bench.session.answer(true, ApprovalScope::Once).await;
    assert_eq!(approval.command, "codex exec --json 'fix it'");
    success(asked.await.unwrap().unwrap().into_inner());
    assert_eq!(bench.calls(), "<codex><exec><--json><fix it>\n");
    // A variable that we set makes nobody's words doubtful.
    failure(bench.run("git fetch").await);
    let remarks = bench.remarks().await;
    assert!(
        remarks[1].contains("→ GCM_INTERACTIVE=never git fetch: "),
        "{remarks:?}"
    );
}

/// Answers every request with a demand for a password, until it is dropped.
async fn guarded_server() -> (u16, tokio::task::JoinHandle<()>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            let mut request = [0; 4096];
            let _ = connection.read(&mut request).await;
            let answer = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\n\
                          Content-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = connection.write_all(answer.as_bytes()).await;
        }
    });
    (port, server)
}

#[tokio::test]
async fn git_fails_at_once_where_it_would_ask_for_a_name() {
    let bench = Bench::new("").await;
    let (port, server) = guarded_server().await;
    let clone = format!("git clone http://127.0.0.1:{port}/x.git");
    let ran = failure(bench.run(&clone).await);
    assert!(ran.stderr.contains("terminal prompts disabled"), "{ran:?}");
    assert_eq!(ran.command, clone);
    let remarks = bench.remarks().await;
    assert!(
        remarks[0].contains("→ GCM_INTERACTIVE=never git clone"),
        "{remarks:?}"
    );
    let own = ExecuteRequest {
        env: [("GIT_TERMINAL_PROMPT".to_owned(), "1".to_owned())].into(),
        ..bench.session.request(&clone)
    };
    let ran = failure(bench.run_as_agent(own).await);
    assert!(!ran.stderr.contains("terminal prompts disabled"), "{ran:?}");
    server.abort();
}

#[tokio::test]
async fn what_a_session_has_set_stays() {
    let set = "[session.env]\nGIT_TERMINAL_PROMPT = \"1\"\nGCM_INTERACTIVE = \"auto\"\n";
    let bench = Bench::new(set).await;
    failure(bench.run("git fetch").await);
    assert_eq!(bench.remarks().await, [""; 0]);
}

#[tokio::test]
async fn variables_are_set_for_the_one_command_and_never_over_others() {
    let bench = Bench::new("").await;
    let pip = "#!/bin/sh\necho \"$PIP_NO_INPUT\"\n";
    program(&bench.daemon.home().join("bin/pip"), pip);
    assert_eq!(success(bench.run("pip install x").await).stdout, "1\n");
    assert_eq!(success(bench.run("pip list").await).stdout, "\n");
    let own = ExecuteRequest {
        env: [("PIP_NO_INPUT".to_owned(), "0".to_owned())].into(),
        ..bench.session.request("pip install x")
    };
    assert_eq!(success(bench.run_as_agent(own).await).stdout, "0\n");
    let remarks = bench.remarks().await;
    assert_eq!(remarks.len(), 1, "{remarks:?}");
    let wanted = "pip install x → PIP_NO_INPUT=1 pip install x: ";
    assert!(remarks[0].starts_with(wanted), "{remarks:?}");
}

#[test]
fn events_are_filtered_into_sections() {
    for (tool, events, wanted) in [
        (
            "codex",
            CODEX_EVENTS,
            include_str!("../../crates/glass-adapt/tests/events/codex.txt"),
        ),
        (
            "claude",
            CLAUDE_EVENTS,
            include_str!("../../crates/glass-adapt/tests/events/claude.txt"),
        ),
    ] {
        for arguments in [&["--tool", tool][..], &[]] {
            let mut line = std::process::Command::new(shellglass_tests::program());
            line.args(["filter", "sections"]).args(arguments);
            line.stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            let mut child = line.spawn().unwrap();
            let mut input = child.stdin.take().unwrap();
            let writer = std::thread::spawn(move || input.write_all(events.as_bytes()));
            let ran = finish(child);
            writer.join().unwrap().unwrap();
            assert_eq!(ran.quiet(), wanted);
        }
    }
}
