//! The console: lines that are typed into a session without a terminal.

use super::tty::Tty;
use super::viewer::{Viewer, open};
use glass_proto::agent::v1::{BackgroundShellSpawnArgs, background_shell_spawn_result};
use glass_proto::shellglass::v1::attach_output::Output;
use glass_proto::shellglass::v1::{
    ApprovalScope, AttachOpen, CreateSessionRequest, SessionMode, SpawnBackgroundRequest, View,
};
use shellglass_tests::calls::{refused, token};
use shellglass_tests::{Client, Daemon, TestSession};
use tonic::{Code, Request};

/// What opens the console of a session.
fn console(session: &TestSession) -> AttachOpen {
    AttachOpen {
        view: View::Console.into(),
        ..open(session)
    }
}

/// Sits down at the console of a session.
async fn sit(session: &TestSession) -> Viewer {
    let mut viewer = Viewer::open(&session.client, console(session)).await;
    viewer.ready().await;
    viewer
}

/// What follows a prompt, after which a line is edited.
const AT_PROMPT: &str = "\x1b]633;B\x07\x1b[?2004h";

impl Viewer {
    /// Enters a line, and waits until what it does was shown and the next can be
    /// entered. Gives what was shown.
    async fn entered(&mut self, line: &str) -> String {
        self.forget();
        self.type_in(&format!("{line}\r")).await;
        self.until("\x1b]633;D").await;
        self.until(AT_PROMPT).await;
        self.text()
    }
}

#[tokio::test]
async fn a_line_that_is_entered_runs_and_mirrors_see_it() {
    let daemon = Daemon::start("");
    std::fs::create_dir(daemon.home().join("below")).unwrap();
    let home = daemon.home().to_string_lossy().into_owned();
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let session = TestSession::with(&daemon, "bash", mode).await;
        let mut mirror = Viewer::open(&session.client, open(&session)).await;
        let mut person = sit(&session).await;
        let prompt = |cwd: &str| format!("\x1b[36m{cwd}\x1b[0m$ ");
        assert!(person.text().contains(&prompt(&home)), "{}", person.text());
        // Edited in place: a word is taken back, one is put before it.
        let shown = person.entered("wrong\x17$((6*7))\x01echo \x05 six").await;
        assert!(shown.contains("\x1b]633;C\x0742 six\r\n"), "{shown:?}");
        assert!(
            shown.contains("\x1b[2mecho $((6*7)) six\x1b[0m"),
            "{shown:?}"
        );
        mirror
            .until("echo $((6*7)) six\r\n\x1b]633;C\x0742 six\r\n")
            .await;
        let shown = person.entered("cd below").await;
        assert!(shown.contains("\x1b]633;D;0"), "{shown:?}");
        person.until(&prompt(&format!("{home}/below"))).await;
        let shown = person.entered("cd nowhere").await;
        assert!(shown.contains("nowhere: No such file"), "{shown:?}");
        assert!(shown.contains("[exit 1]"), "{shown:?}");
        assert_eq!(
            session.shown().await.working_directory,
            format!("{home}/below")
        );
        person.forget();
        person.type_in("clear\r").await;
        person.until("\x1b[2J\x1b[H").await;
        // What somebody else runs comes between, and what was typed stays.
        person.type_in("echo mi").await;
        person.until("echo mi").await;
        person.forget();
        session.run("echo theirs").await;
        person.until("theirs\r\n").await;
        person
            .until(&format!("{}echo mi", prompt(&format!("{home}/below"))))
            .await;
        person.entered("ne").await;
        let history = session.history().await;
        let commands: Vec<&str> = history
            .executions
            .iter()
            .map(|run| run.command.as_str())
            .collect();
        let expected = [
            "echo $((6*7)) six",
            "cd below",
            "cd nowhere",
            "echo theirs",
            "echo mine",
        ];
        assert_eq!(commands, expected, "{mode:?}");
    }
}

#[tokio::test]
async fn keys_wait_while_a_command_runs_and_ctrl_c_cancels_it() {
    let daemon = Daemon::start("");
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let session = TestSession::with(&daemon, "bash", mode).await;
        let mut person = sit(&session).await;
        person
            .type_in("read -t 1 x </dev/zero; echo o''ne\recho t''wo\recho thr")
            .await;
        person.until("one\r\n").await;
        person.until("two\r\n").await;
        person.until("echo thr").await;
        let shown = person.entered("''ee; echo \u{65e5}\u{672c}\u{7f}").await;
        assert!(shown.contains("\x07three\r\n\u{65e5}\r\n"), "{shown:?}");
        person.forget();
        person.type_in("echo be''gun; sleep 600\r").await;
        person.until("begun\r\n").await;
        person.forget();
        person.type_in("never this\r\x03").await;
        person.until(AT_PROMPT).await;
        session.until("it is idle", |shown| !shown.busy).await;
        let shown = person.entered("\x1b[A\x1b[A\x15echo af''ter").await;
        assert!(shown.contains("after\r\n"), "{shown:?}");
        let history = session.history().await;
        let ran = history.executions.iter();
        let ran: Vec<&str> = ran.map(|run| run.command.as_str()).collect();
        assert!(
            !ran.iter().any(|command| command.contains("never")),
            "{ran:?}"
        );
        assert_eq!(ran.len(), 5, "{ran:?}");
    }
}

#[tokio::test]
async fn a_paste_of_several_lines_is_one_command_that_waits_for_enter() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let mut person = sit(&session).await;
    person
        .type_in("\x1b[200~for i in 1 2\rdo echo \"n$i\"\x03\rdone\x1b[201~")
        .await;
    person.until("done").await;
    assert!(session.history().await.executions.is_empty());
    let shown = person.entered("").await;
    assert!(shown.contains("\x1b]633;C\x07n1\r\nn2\r\n"), "{shown:?}");
    let history = session.history().await;
    assert_eq!(
        history.executions[0].command,
        "for i in 1 2\ndo echo \"n$i\"\ndone"
    );
}

/// The console of an agent's own session, as the agent.
async fn as_agent(
    client: &Client,
    session: &TestSession,
    agent: &str,
) -> Result<Viewer, tonic::Status> {
    Viewer::present(client, console(session), |stream| {
        let mut request = Request::new(stream);
        let value = format!("Bearer {agent}").parse().unwrap();
        request.metadata_mut().insert("authorization", value);
        request
    })
    .await
}

#[tokio::test]
async fn what_an_agent_enters_is_judged_as_any_command_of_its() {
    let daemon = Daemon::start("[policy]\n");
    let agent = token(daemon.home(), "agent");
    let client = daemon.client().await;
    let persons = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let opened = as_agent(&client, &persons, &agent).await;
    refused(opened.map(|_| ()), Code::PermissionDenied);
    let request = CreateSessionRequest {
        mode: SessionMode::Pipe.into(),
        shell: "bash".to_owned(),
        startup: "none".to_owned(),
        working_directory: daemon.home().to_string_lossy().into_owned(),
        ..CreateSessionRequest::default()
    };
    let session = TestSession::create_as(&client, request, &agent).await;
    let mut viewer = as_agent(&client, &session, &agent).await.unwrap();
    viewer.ready().await;
    viewer.type_in("touch made\r").await;
    viewer.until("[waits for approval ").await;
    session.answer(false, ApprovalScope::Once).await;
    viewer.until("[refused: ").await;
    viewer.until(AT_PROMPT).await;
    assert!(!daemon.home().join("made").exists());
    // One that waits for somebody's word is taken back by Ctrl+C.
    viewer.forget();
    viewer.type_in("touch made\r").await;
    viewer.until("[waits for approval ").await;
    viewer.type_in("\x03").await;
    viewer.until(AT_PROMPT).await;
    assert!(!daemon.home().join("made").exists());
    // A person may use the console of what an agent made, as a person.
    let mut person = sit(&session).await;
    person.entered("touch made").await;
    assert!(daemon.home().join("made").exists());
}

#[tokio::test]
async fn a_console_that_is_read_only_is_a_mirror_and_a_terminal_has_none() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Line).await;
    let watching = AttachOpen {
        read_only: true,
        ..console(&session)
    };
    let mut watcher = Viewer::open(&session.client, watching).await;
    watcher.ready().await;
    watcher.type_in("touch typed\r").await;
    while !matches!(watcher.others.last(), Some(Output::ReadOnlyInput(_))) {
        watcher.step().await.expect("the view goes on");
    }
    assert!(session.history().await.executions.is_empty());
    let terminal = super::viewer::terminal(&daemon, "bash").await;
    let opened = Viewer::try_open(&terminal.client, console(&terminal)).await;
    refused(opened.map(|_| ()), Code::FailedPrecondition);
}

#[tokio::test]
async fn a_command_that_reads_is_given_what_is_typed() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let request = SpawnBackgroundRequest {
        session_id: session.id.clone(),
        args: Some(BackgroundShellSpawnArgs {
            command: "read -r a; echo \"got $a\"; cat; echo over; sleep 600".to_owned(),
            enable_write_shell_stdin_tool: true,
            ..BackgroundShellSpawnArgs::default()
        }),
        ..SpawnBackgroundRequest::default()
    };
    let mut client = session.client.clone();
    let spawned = client.spawn_background(request).await.unwrap().into_inner();
    let Some(background_shell_spawn_result::Result::Success(spawned)) = spawned.result else {
        panic!("it starts: {spawned:?}");
    };
    let listed = client
        .list_sessions(glass_proto::shellglass::v1::ListSessionsRequest::default())
        .await
        .unwrap()
        .into_inner();
    let of_it = listed.sessions.into_iter();
    let mut of_it = of_it.filter(|shown| shown.last_shell_id == spawned.shell_id);
    let behind = TestSession {
        client: client.clone(),
        id: of_it.next().expect("it has a session").session_id,
    };
    let mut person = Viewer::open(&client, console(&behind)).await;
    person.ready().await;
    person.until("\x1b]633;C\x07").await;
    person.type_in("wörx\x7fd\r").await;
    person.until("got wörd\r\n").await;
    person.type_in("more\r\x04").await;
    person.until("over\r\n").await;
    person.type_in("\x03").await;
    person.until("\x1b]633;D").await;
}

#[tokio::test]
async fn the_console_in_a_real_terminal_is_left_by_exit() {
    let config =
        "[console]\nprompt_template = '{name}% '\nhidden_echo = false\nshow_exit = false\n";
    let mut daemon = Daemon::start(config);
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let mut tty = Tty::start(&daemon, &["attach", "--write", &session.id]);
    let name = daemon
        .home()
        .file_name()
        .unwrap()
        .to_string_lossy()
        .into_owned();
    tty.until(&format!("{name}% "));
    tty.type_in("x=kept; echo be''fore; (exit 7)\r");
    tty.until("before\r\n");
    tty.until("\x1b]633;D;7");
    assert!(!tty.text().contains("[exit 7]"), "that was switched off");
    tty.forget();
    daemon.crash_and_restart();
    tty.until("before\r\n");
    tty.type_in("echo \"[$x]\"\r");
    tty.until("[kept]\r\n");
    tty.type_in("exit\r");
    assert_eq!(tty.wait(), 0);
    assert!(tty.text().contains("left; the session goes on"));
    assert!(
        tty.text().contains("\x1b[?2004l"),
        "pastes are as they were"
    );
    let session = TestSession {
        client: daemon.client().await,
        id: session.id,
    };
    assert_eq!(session.run("echo \"[$x]\"").await.stdout, "[kept]\n");
}
