//! The mirror: what a terminal that only watches is shown.

use super::viewer::{Viewer, open};
use glass_proto::shellglass::v1::attach_input::Input;
use glass_proto::shellglass::v1::attach_output::Output;
use glass_proto::shellglass::v1::{
    AttachNote, AttachOpen, CreateSessionRequest, Empty, ListSessionsRequest, Opened, Property,
    Ready, SessionMode, SessionRef, Unsupported, View, attach_note,
};
use shellglass_tests::calls::refused;
use shellglass_tests::{Daemon, PATIENCE, TestSession};
use std::time::Instant;
use tonic::Code;

const MODES: [SessionMode; 2] = [SessionMode::Pipe, SessionMode::Line];

/// What opens a mirror in this directory.
fn opening(cwd: &str) -> String {
    format!("\x1b]633;P;Cwd={cwd}\x07\x1b]633;P;HasRichCommandDetection=True\x07")
}

const PROMPT: &str = "\x1b]633;A\x07$ \x1b]633;B\x07";

/// A command as a mirror shows it, with its output and its code.
fn command(text: &str, escaped: &str, output: &str, code: i32) -> String {
    format!("\x1b]633;E;{escaped}\x07{text}\r\n\x1b]633;C\x07{output}\x1b]633;D;{code}\x07{PROMPT}")
}

#[tokio::test]
async fn a_mirror_opens_in_a_fixed_order() {
    let daemon = Daemon::start("");
    for mode in MODES {
        let session = TestSession::with(&daemon, "bash", mode).await;
        let mut viewer = Viewer::open(&session.client, open(&session)).await;
        let cwd = daemon.home().to_string_lossy().into_owned();
        let mut order = Vec::new();
        while !matches!(order.last(), Some(Output::Ready(_))) {
            order.push(viewer.step().await.expect("the view goes on"));
        }
        let expected = [
            Output::Opened(Opened {
                pid: -1,
                cwd: cwd.clone(),
                name: "bash".to_owned(),
                icon: "eye".to_owned(),
            }),
            Output::Data(opening(&cwd).into_bytes().into()),
            Output::Property(Property {
                name: "initialCwd".to_owned(),
                value: cwd,
            }),
            Output::Data(PROMPT.as_bytes().to_vec().into()),
            Output::Ready(Ready {}),
        ];
        assert_eq!(order, expected, "{mode:?}");
    }
}

#[tokio::test]
async fn a_mirror_replays_what_was_and_goes_on_with_what_comes() {
    let daemon = Daemon::start("");
    for mode in MODES {
        let session = TestSession::with(&daemon, "bash", mode).await;
        session.run("printf 'a\\nb\\r\\n'; exit_ok=1").await;
        session.run("sh -c 'echo wrong; exit 3'").await;
        let mut viewer = Viewer::open(&session.client, open(&session)).await;
        viewer.ready().await;
        let before = viewer.text();
        session.run("echo 'x;y'").await;
        viewer.until("D;0\x07\x1b]633;A\x07$ \x1b]633;B\x07").await;
        let cwd = daemon.home().to_string_lossy().into_owned();
        let replayed = opening(&cwd)
            + PROMPT
            + &command(
                "printf 'a\\nb\\r\\n'; exit_ok=1",
                r"printf 'a\\nb\\r\\n'\x3b exit_ok=1",
                "a\r\nb\r\n",
                0,
            )
            + &command(
                "sh -c 'echo wrong; exit 3'",
                r"sh -c 'echo wrong\x3b exit 3'",
                "wrong\r\n",
                3,
            );
        assert_eq!(before, replayed, "{mode:?}");
        let live = command("echo 'x;y'", r"echo 'x\x3by'", "x;y\r\n", 0);
        let mut last = viewer;
        last.until(&live).await;
        assert_eq!(last.text(), replayed + &live, "{mode:?}");
    }
}

#[tokio::test]
async fn a_mirror_shows_the_command_that_runs_and_where_it_went() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let request = session.request("echo begun; until [ -e go ]; do sleep 0.01; done; cd /");
    let running = session.try_run(request);
    let watching = async {
        let mut viewer = Viewer::open(&session.client, open(&session)).await;
        viewer.until("begun\r\n").await;
        viewer.ready().await;
        assert!(!viewer.text().contains("633;D"), "it has not ended");
        std::fs::write(daemon.home().join("go"), "").unwrap();
        viewer.until("\x1b]633;D;0\x07").await;
        viewer.until("\x1b]633;P;Cwd=/\x07").await;
    };
    let (ran, ()) = tokio::join!(running, watching);
    assert_eq!(ran.expect("it is accepted").code, Some(0));
}

#[tokio::test]
async fn ctrl_c_in_a_mirror_cancels_and_other_keys_are_answered_read_only() {
    let daemon = Daemon::start("");
    for mode in MODES {
        let session = TestSession::with(&daemon, "bash", mode).await;
        let mut viewer = Viewer::open(&session.client, open(&session)).await;
        viewer.ready().await;
        let flashes = |viewer: &Viewer| {
            let is_flash = |other: &&Output| matches!(other, Output::ReadOnlyInput(_));
            viewer.others.iter().filter(is_flash).count()
        };
        for keys in ["ls\r", "\x03"] {
            let before = flashes(&viewer);
            viewer.type_in(keys).await;
            while flashes(&viewer) == before {
                viewer.step().await.expect("the view goes on");
            }
        }
        let request = session.request("echo begun; sleep 600; echo never");
        let running = session.try_run(request);
        let before = flashes(&viewer);
        let cancelling = async {
            viewer.until("begun\r\n").await;
            viewer.type_in("\x03").await;
            viewer.until("\x1b]633;D").await;
        };
        let (ran, ()) = tokio::join!(running, cancelling);
        let ran = ran.expect("it is accepted");
        assert!(ran.aborted, "{mode:?} {ran:?}");
        assert_eq!(ran.stdout, "begun\n");
        assert_eq!(flashes(&viewer), before, "a cancel is no mistake");
    }
}

/// Three mirrors that were opened and resized while nothing about the session
/// changed. What the shell exports is learned a moment after its command, and
/// counts as activity; so the first try may see that, but no second one.
async fn mirrors_that_change_nothing(session: &TestSession) -> Vec<Viewer> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let known = session.shown().await;
        let mut viewers = Vec::new();
        for _ in 0..3 {
            let mut viewer = Viewer::open(&session.client, open(session)).await;
            viewer.ready().await;
            viewer.resize(20, 5).await;
            viewers.push(viewer);
        }
        let now = session.shown().await;
        if now == known && now.last_command == "echo before" {
            return viewers;
        }
        assert!(Instant::now() < deadline, "{known:?} became {now:?}");
    }
}

#[tokio::test]
async fn any_number_of_mirrors_show_the_same_and_change_nothing() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    session.run("echo before").await;
    let mut viewers = mirrors_that_change_nothing(&session).await;
    assert_eq!(session.run("tput -T xterm cols").await.code, Some(0));
    let last = session.run("echo after").await;
    assert_eq!(last.stdout, "after\n");
    let mut texts = Vec::new();
    for viewer in &mut viewers {
        viewer
            .until("\x07after\r\n\x1b]633;D;0\x07\x1b]633;A\x07$ \x1b]633;B\x07")
            .await;
        texts.push(viewer.text());
    }
    assert!(texts.iter().all(|text| *text == texts[0]));
}

#[tokio::test]
async fn a_replay_is_bounded_and_says_so() {
    let daemon = Daemon::start("");
    let request = CreateSessionRequest {
        shell: "bash".to_owned(),
        startup: "none".to_owned(),
        mode: SessionMode::Pipe.into(),
        scrollback: 1,
        ..CreateSessionRequest::default()
    };
    let session = TestSession::create(&daemon, request).await;
    // 100 lines of 200 bytes are the least that is kept.
    session.run("head -c 71200 /dev/zero | tr '\\0' a").await;
    session.run("echo last").await;
    let mut viewer = Viewer::open(&session.client, open(&session)).await;
    viewer.ready().await;
    let text = viewer.text();
    let dropped = 71_200 + "last\n".len() - 20_000;
    let kilobytes = (dropped + 512) / 1024;
    let notice = format!("[Terminal output truncated: ~{kilobytes}KB dropped from beginning]\r\n");
    assert!(text.contains(&notice), "{}", &text[..400]);
    let kept = text.matches('a').count();
    // What is not output has letters, too.
    assert!((19_900..20_200).contains(&kept), "{kept}");
    assert!(text.contains("head -c 71200"), "commands are all there");
    assert!(text.ends_with(&command("echo last", "echo last", "last\r\n", 0)));
}

#[tokio::test]
async fn what_a_command_prints_takes_no_part_in_the_conversation() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    session
        .run(r"printf 'A\033]633;D;0\007B\033]133;C\007C\033[6nD\033[31mE\n'")
        .await;
    let mut viewer = Viewer::open(&session.client, open(&session)).await;
    viewer.ready().await;
    let text = viewer.text();
    assert!(
        text.contains("\x1b]633;C\x07ABCD\x1b[31mE\r\n\x1b]633;D;0\x07"),
        "{text:?}"
    );
    assert_eq!(text.matches("\x1b]633;D").count(), 1);
}

#[tokio::test]
async fn a_mirror_shows_no_secrets() {
    let daemon = Daemon::start("");
    let request = CreateSessionRequest {
        shell: "bash".to_owned(),
        startup: "none".to_owned(),
        mode: SessionMode::Pipe.into(),
        env: [(
            "DEPLOY_TOKEN".to_owned(),
            "f00ba4-9182-secret-word".to_owned(),
        )]
        .into(),
        ..CreateSessionRequest::default()
    };
    let session = TestSession::create(&daemon, request).await;
    let mut live = Viewer::open(&session.client, open(&session)).await;
    live.ready().await;
    session
        .run("printf %s \"$DEPLOY_TOKEN\" | head -c 9; sleep 0.3; printf %s \"${DEPLOY_TOKEN:9}\"")
        .await;
    live.until("\x1b]633;D;0\x07").await;
    let mut late = Viewer::open(&session.client, open(&session)).await;
    late.ready().await;
    for viewer in [&live, &late] {
        let text = viewer.text();
        assert!(
            text.contains("\x1b]633;C\x07[REDACTED:DEPLOY_TOKEN]\x1b]633;D;0"),
            "{text:?}"
        );
        assert!(!text.contains("secret-word"));
    }
}

#[tokio::test]
async fn a_mirror_ends_with_its_session_and_shows_what_is_over() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Line).await;
    session.run("echo words").await;
    let mut viewer = Viewer::open(&session.client, open(&session)).await;
    viewer.ready().await;
    let mut client = session.client.clone();
    for _ in 0..2 {
        let reference = SessionRef {
            session_id: session.id.clone(),
        };
        client.dispose_session(reference).await.unwrap();
    }
    assert_eq!(viewer.end().await, None);
    let mut later = Viewer::open(&session.client, open(&session)).await;
    assert_eq!(later.end().await, None);
    assert!(later.text().contains("words\r\n"));
    let left = format!("run/sessions/{}", session.id);
    assert!(!daemon.home().join(left).exists());
}

#[tokio::test]
async fn a_view_that_cannot_be_had_is_refused() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let with = |view: View| AttachOpen {
        view: view.into(),
        ..open(&session)
    };
    for (asked, code) in [
        (with(View::Terminal), Code::FailedPrecondition),
        (
            AttachOpen {
                view: 99,
                ..open(&session)
            },
            Code::InvalidArgument,
        ),
        (
            AttachOpen {
                session_id: "s-nobody".to_owned(),
                ..open(&session)
            },
            Code::NotFound,
        ),
    ] {
        let opened = Viewer::try_open(&session.client, asked).await;
        refused(opened.map(|_| ()), code);
    }
}

/// What terminals are sent over gRPC is accepted as over WebSocket.
#[tokio::test]
async fn a_mirror_answers_what_can_be_refreshed_and_accepts_the_rest() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let mut viewer = Viewer::open(&session.client, open(&session)).await;
    viewer.ready().await;
    let clear = attach_note::Note::ClearBuffer(Empty {});
    let unicode = attach_note::Note::UnicodeVersion("11".to_owned());
    for note in [clear, unicode] {
        let note = Some(note);
        viewer.send(Input::Note(AttachNote { note })).await;
    }
    viewer.send(Input::Binary(vec![0x1b, 0xff].into())).await;
    viewer.send(Input::Announce("echo a".to_owned())).await;
    viewer.until("echo a").await;
    for name in ["shape", "icon", "initialCwd"] {
        viewer.send(Input::RefreshProperty(name.to_owned())).await;
    }
    let cwd = daemon.home().to_string_lossy().into_owned();
    let property = |name: &str, value: &str| {
        Output::Property(Property {
            name: name.to_owned(),
            value: value.to_owned(),
        })
    };
    let unsupported = Output::Unsupported(Unsupported {
        name: "shape".to_owned(),
    });
    for expected in [
        unsupported,
        property("icon", "eye"),
        property("initialCwd", &cwd),
    ] {
        assert_eq!(viewer.step().await, Some(expected));
    }
}

#[tokio::test]
async fn closing_the_last_view_ends_the_session_where_that_is_wanted() {
    let daemon = Daemon::start("[views]\ndispose_on_close = true\n");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let mut views = Vec::new();
    for _ in 0..2 {
        let mut viewer = Viewer::open(&session.client, open(&session)).await;
        viewer.ready().await;
        views.push(viewer);
    }
    let last = views.pop();
    drop(views);
    // Somebody still looks.
    assert_eq!(session.run("echo on").await.stdout, "on\n");
    let running = session.try_run(session.request("touch begun; sleep 600"));
    let begun = daemon.home().join("begun");
    let closing = async {
        shellglass_tests::exists(&begun).await;
        drop(last);
    };
    let (ran, ()) = tokio::join!(running, closing);
    assert!(ran.expect("it is accepted").aborted);
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mut client = session.client.clone();
        let listed = client.list_sessions(ListSessionsRequest::default()).await;
        let listed = listed.expect("sessions are listed").into_inner().sessions;
        if !listed.iter().any(|one| one.session_id == session.id) {
            return;
        }
        assert!(Instant::now() < deadline, "{listed:?}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
