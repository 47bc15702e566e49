//! Sessions that are terminals: shells, their ends, and those who look.

use super::viewer::{Viewer, open, terminal, terminal_request};
use glass_proto::shellglass::v1::attach_output::Output;
use glass_proto::shellglass::v1::{
    AttachOpen, CreateSessionRequest, HistoryRequest, SessionMode, SessionRef,
};
use shellglass_tests::{Daemon, TestSession, eventually, processes};

#[tokio::test]
async fn a_shell_on_a_terminal_echoes_and_answers() {
    let daemon = Daemon::start("");
    for shell in ["bash", "zsh", "fish", "dash"] {
        let session = terminal(&daemon, shell).await;
        let mut viewer = Viewer::open(&session.client, open(&session)).await;
        viewer.ready().await;
        viewer
            .type_in("echo $TERM-$COLORTERM-$SHELLGLASS_SESSION_ID\r")
            .await;
        let expected = format!("xterm-256color-truecolor-{}", session.id);
        viewer.until(&expected).await;
        assert!(viewer.text().contains("echo $"), "it echoes: {shell}");
        viewer.type_in("echo \"[$PAGER]\" && tty && exit 4\r").await;
        viewer.until("[]").await;
        viewer.until("/dev/pts/").await;
        assert_eq!(viewer.end().await, Some(4), "{shell}");
    }
}

#[tokio::test]
async fn a_terminal_shows_what_it_is() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut client = session.client.clone();
    let reference = SessionRef {
        session_id: session.id.clone(),
    };
    let shown = client.get_session(reference).await.unwrap().into_inner();
    assert_eq!(shown.mode(), SessionMode::Pty);
    assert_eq!((shown.cols, shown.rows), (80, 30));
    let mut viewer = Viewer::open(&session.client, open(&session)).await;
    viewer.ready().await;
    let Some(Output::Opened(opened)) = viewer.others.first() else {
        panic!("{:?}", viewer.others);
    };
    let line = || std::fs::read(format!("/proc/{}/cmdline", opened.pid)).unwrap();
    let is_it = || String::from_utf8_lossy(&line()).contains("--norc");
    eventually("it is the shell", is_it).await;
}

#[tokio::test]
async fn the_end_comes_after_the_last_output_and_is_in_the_history() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut viewer = Viewer::open(&session.client, open(&session)).await;
    viewer.ready().await;
    viewer.until("\x1b[?2004h").await;
    viewer
        .type_in("seq 1 20000; printf 'LA%s' ST; exit 7\r")
        .await;
    assert_eq!(viewer.end().await, Some(7));
    assert!(
        viewer.text().contains("20000\r\nLAST"),
        "nothing is missing"
    );
    let mut client = session.client.clone();
    let history = client
        .get_session_history(HistoryRequest {
            session_id: session.id.clone(),
            ..HistoryRequest::default()
        })
        .await
        .unwrap()
        .into_inner();
    let [execution, typed] = history.executions.as_slice() else {
        panic!("{:?}", history.executions);
    };
    assert!(typed.command.ends_with("exit 7"), "{typed:?}");
    assert!(execution.command.ends_with("bash --noprofile --norc"));
    assert_eq!(execution.exit_code, Some(7));
    let ran = daemon
        .command()
        .args(["output", &execution.shell_id.to_string()])
        .output()
        .unwrap();
    let recorded = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(recorded.contains("20000\r\nLAST"));
    let reopened = Viewer::try_open(&session.client, open(&session)).await;
    assert!(reopened.is_err(), "a terminal that is over cannot be used");
}

#[tokio::test]
async fn two_clients_see_the_same_and_both_may_type() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut one = Viewer::open(&session.client, open(&session)).await;
    one.ready().await;
    one.until("\x1b[?2004h> ").await;
    let mut other = Viewer::open(&session.client, open(&session)).await;
    other.ready().await;
    one.forget();
    other.forget();
    one.type_in("echo from-$((1))\r").await;
    one.until("from-1\r\n").await;
    other.until("from-1\r\n").await;
    other.type_in("echo from-$((2)); exit\r").await;
    one.end().await;
    other.end().await;
    assert_eq!(one.text(), other.text());
}

#[tokio::test]
async fn a_client_that_reads_nothing_costs_others_nothing_and_is_drawn_the_screen() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut slow = Viewer::open(&session.client, open(&session)).await;
    slow.ready().await;
    // A connection of its own, so that its window is its own.
    let client = daemon.client().await;
    let mut quick = Viewer::open(&client, open(&session)).await;
    quick.ready().await;
    quick.type_in("seq 1 1500000; echo do''ne\r").await;
    quick.until("done\r\n").await;
    slow.forget();
    slow.until("done").await;
    assert!(
        slow.bytes.len() < 9_000_000,
        "it was sent {} bytes",
        slow.bytes.len()
    );
    assert!(
        slow.text().contains("\x1bc"),
        "it was drawn the screen anew"
    );
    slow.type_in("echo still-$((1))\r").await;
    slow.until("still-1").await;
}

#[tokio::test]
async fn disposing_of_a_terminal_leaves_nothing() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut viewer = Viewer::open(&session.client, open(&session)).await;
    viewer.ready().await;
    let mark = format!("7{}", std::process::id());
    viewer
        .type_in(&format!(
            "nohup setsid sleep {mark} & (trap '' HUP TERM; sleep {mark}) & echo read''y; vi x\r"
        ))
        .await;
    viewer.until("ready").await;
    let sleepers = || {
        let wanted = format!("sleep {mark}");
        let all = processes().into_iter();
        all.filter(|(_, line)| line.starts_with(&wanted)).count()
    };
    eventually("both sleep", || sleepers() == 2).await;
    let mut client = session.client.clone();
    for _ in 0..2 {
        let reference = SessionRef {
            session_id: session.id.clone(),
        };
        client.dispose_session(reference).await.unwrap();
        assert_eq!(sleepers(), 0);
    }
    viewer.end().await;
    assert!(
        !daemon
            .home()
            .join(format!("run/sessions/{}", session.id))
            .exists()
    );
}

#[tokio::test]
async fn what_the_shell_leaves_in_the_background_ends_with_it() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut viewer = Viewer::open(&session.client, open(&session)).await;
    viewer.ready().await;
    let mark = format!("8{}", std::process::id());
    viewer
        .type_in(&format!("setsid sleep {mark} & disown; exit 2\r"))
        .await;
    assert_eq!(viewer.end().await, Some(2));
    let wanted = format!("sleep {mark}");
    let left = processes().into_iter();
    assert_eq!(left.filter(|(_, line)| line.contains(&wanted)).count(), 0);
}

#[tokio::test]
async fn a_terminal_that_nobody_looks_at_ends_in_time_and_no_sooner() {
    let daemon = Daemon::start("[limits]\nterminal_idle_seconds_max = 2\n");
    let session = terminal(&daemon, "bash").await;
    let gone = || {
        !daemon
            .home()
            .join(format!("run/sessions/{}", session.id))
            .exists()
    };
    let mut viewer = Viewer::open(&session.client, open(&session)).await;
    viewer.ready().await;
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    viewer.type_in("echo st''ill\r").await;
    viewer.until("still\r\n").await;
    drop(viewer);
    // Somebody who comes in time starts the clock anew.
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let mut again = Viewer::open(&session.client, open(&session)).await;
    again.ready().await;
    assert!(again.text().contains("still"));
    assert!(!gone());
    drop(again);
    eventually("it is over", gone).await;
}

#[tokio::test]
async fn output_is_batched_over_four_milliseconds() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut viewer = Viewer::open(&session.client, open(&session)).await;
    viewer.ready().await;
    // What is typed before the prompt is there is shown twice.
    viewer.until("\x1b[?2004h").await;
    viewer
        .type_in("for i in {1..4000}; do printf .; done; echo do''ne\r")
        .await;
    viewer.until("do''ne\r\n").await;
    let begin = std::time::Instant::now();
    let mut frames = 0u128;
    while !viewer.text().contains("done\r\n") {
        if let Some(Output::Data(_)) = viewer.step().await {
            frames += 1;
        }
    }
    let most = begin.elapsed().as_millis() / 4 + 4;
    assert!(frames <= most, "{frames} frames, {most} expected at most");
    assert_eq!(
        viewer.text().matches('.').count(),
        4000 + 3,
        "nothing is missing"
    );
}

#[tokio::test]
async fn questions_to_the_terminal_are_answered_once_and_shown_to_nobody() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut one = Viewer::open(&session.client, open(&session)).await;
    let mut other = Viewer::open(&session.client, open(&session)).await;
    one.ready().await;
    other.ready().await;
    one.type_in(concat!(
        "read -rs -d R -p $'\\e[6n' where; read -rs -t 0.3 -n 1 more; ",
        "echo \"at-${where#*[}-$more-\"\r"
    ))
    .await;
    one.until("at-").await;
    one.until("--\r\n").await;
    other.until("--\r\n").await;
    for viewer in [&one, &other] {
        assert!(!viewer.text().contains("\x1b[6n"), "{:?}", viewer.text());
    }
}

#[tokio::test]
async fn what_is_typed_is_never_recorded() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut viewer = Viewer::open(&session.client, open(&session)).await;
    viewer.ready().await;
    let secret = "hunter2-correct-horse";
    viewer
        .type_in("read -rs -p 'wo''rd: ' x; echo got ${#x}\r")
        .await;
    viewer.until("word: ").await;
    viewer.type_in(&format!("{secret}\r")).await;
    viewer.until(&format!("got {}", secret.len())).await;
    viewer.type_in("exit\r").await;
    viewer.end().await;
    let found = std::process::Command::new("grep")
        .args(["-rlaF", secret])
        .arg(daemon.home())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}

#[tokio::test]
async fn a_shell_that_cannot_start_is_no_session() {
    let daemon = Daemon::start("");
    let mut client = daemon.client().await;
    let bad = daemon.home().join("no-interpreter");
    std::fs::write(&bad, "#!/nonexistent\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&bad, mode).unwrap();
    let request = CreateSessionRequest {
        shell: bad.to_string_lossy().into_owned(),
        ..terminal_request(&daemon, "bash")
    };
    // It waits behind its gate, so what it comes to is seen in the terminal.
    let made = client.create_session(request).await.unwrap().into_inner();
    let session = TestSession {
        client,
        id: made.session_id,
    };
    let opened = Viewer::try_open(&session.client, open(&session)).await;
    if let Ok(mut viewer) = opened {
        assert_eq!(viewer.end().await, Some(126));
    }
    let gone = AttachOpen { ..open(&session) };
    eventually("it is over", || {
        !daemon
            .home()
            .join(format!("run/sessions/{}", session.id))
            .exists()
    })
    .await;
    assert!(Viewer::try_open(&session.client, gone).await.is_err());
}
