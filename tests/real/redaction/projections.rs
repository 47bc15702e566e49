//! Every way out of the daemon.

use super::{corpus, texts};
use glass_proto::agent::v1::shell_result::Result as Kind;
use glass_proto::shellglass::v1::session_event::Event as Body;
use glass_proto::shellglass::v1::{self as wire, ExecuteRequest, SessionMode};
use shellglass_tests::calls::{exact, next, told};
use shellglass_tests::{Daemon, TestSession};

/// A value that a variable makes known.
pub(super) const KNOWN: &str = "kiwi-Banane-77";

/// A token that looks like one.
pub(crate) const TOKEN: &str = "ghp_FAKEIE5bqsJyJ1VEY10ENenPz0zjIuWSRSFk";

/// What is left of it.
pub(crate) const TOKEN_SHOWN: &str = "ghp_[REDACTED:github-token]";

pub(super) async fn session(daemon: &Daemon) -> TestSession {
    TestSession::with(daemon, "bash", SessionMode::Pipe).await
}

/// The output of one execution as its session's events have it.
pub(super) fn in_events(events: &[wire::SessionEvent], shell_id: u32) -> (String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    for event in events.iter().filter(|event| event.shell_id == shell_id) {
        match event.event.as_ref().unwrap() {
            Body::Stdout(piece) => out.extend(exact(&piece.data, piece.raw.as_deref())),
            Body::Stderr(piece) => err.extend(exact(&piece.data, piece.raw.as_deref())),
            _ => {}
        }
    }
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(out), text(err))
}

/// The events up to an execution's end.
pub(super) async fn subscribed(session: &TestSession, shell_id: u32) -> Vec<wire::SessionEvent> {
    let mut stream = session.subscribe(0).await;
    let mut events = Vec::new();
    while let Some(event) = next(&mut stream).await {
        let is_end = event.shell_id == shell_id && matches!(event.event, Some(Body::Exit(_)));
        events.push(event);
        if is_end {
            return events;
        }
    }
    panic!("the execution {shell_id} does not end");
}

pub(super) async fn read(
    session: &TestSession,
    shell_id: u32,
    offset: u64,
    max: u64,
) -> wire::ReadOutputResponse {
    let request = wire::ReadOutputRequest {
        shell_id,
        offset: Some(offset),
        max_bytes: max,
        ..wire::ReadOutputRequest::default()
    };
    let answer = session.client.clone().read_output(request).await;
    answer.expect("output can be read").into_inner()
}

/// Runs a request in every way, and gives what each shows of standard output;
/// all of it came from standard output.
async fn everywhere(
    session: &TestSession,
    request: &ExecuteRequest,
) -> Vec<(&'static str, String)> {
    let Some(Kind::Success(run)) = session.result(request.clone()).await.result else {
        panic!("the command fails");
    };
    let id = run.shell_id.unwrap();
    let told = told(&session.client, request.clone()).await.unwrap();
    let subscribed = subscribed(session, id).await;
    let history = session.history().await;
    vec![
        ("run", run.stdout),
        ("interleaved", run.interleaved_output.unwrap()),
        (
            "execute",
            String::from_utf8_lossy(&told.stdout()).into_owned(),
        ),
        ("read", read(session, id, 0, 0).await.output),
        ("subscribe", in_events(&subscribed, id).0),
        ("history", in_events(&history.events, id).0),
    ]
}

#[tokio::test]
async fn no_projection_shows_a_secret_of_the_corpus_and_near_misses_stay() {
    let daemon = Daemon::start("");
    for (number, case) in corpus().enumerate() {
        // Secrets of one case may be harmless in another.
        let session = session(&daemon).await;
        let text = case["text"].as_str().unwrap();
        let file = daemon.home().join(format!("case{number}"));
        std::fs::write(&file, text).unwrap();
        let mut request = session.request(&format!("cat {}", file.display()));
        for (at, value) in texts(&case["known_secrets"]).into_iter().enumerate() {
            request.env.insert(format!("CORPUS_{at}_SECRET"), value);
        }
        for (what, shown) in everywhere(&session, &request).await {
            let place = format!("{} in {what}: {shown}", case["id"]);
            for secret in texts(&case["secrets"]) {
                assert!(!shown.contains(&secret), "{place}");
            }
            for kept in texts(&case["must_keep"]) {
                assert!(shown.contains(&kept), "{place}");
            }
            if case["redact"] == false {
                assert_eq!(shown, text, "{place}");
            }
        }
        session.dispose().await;
    }
}

#[tokio::test]
async fn values_are_known_from_every_environment() {
    let daemon = Daemon::start_with(
        "[redaction]\nvariables = [\"CORP_*\"]\n[session]\nscrub_env = [\"DAEMON_TOKEN\"]",
        &[("DAEMON_TOKEN", KNOWN)],
        &[],
    );
    let request = wire::CreateSessionRequest {
        env: [("CORP_NAME".to_owned(), "pine-Apfel-31".to_owned())].into(),
        startup: "none".to_owned(),
        mode: SessionMode::Line.into(),
        ..wire::CreateSessionRequest::default()
    };
    let session = TestSession::create(&daemon, request).await;
    let line =
        format!("echo {KNOWN}; echo pine-Apfel-31; echo $LENT_PASSWORD; echo {KNOWN} | base64");
    let mut request = session.request(&line);
    let lent = "plum-Pflaume-12".to_owned();
    request.env.insert("LENT_PASSWORD".to_owned(), lent);
    for (what, shown) in everywhere(&session, &request).await {
        let expected = "[REDACTED:DAEMON_TOKEN]\n[REDACTED:CORP_NAME]\n[REDACTED:LENT_PASSWORD]\n\
                        [REDACTED:DAEMON_TOKEN]";
        assert!(shown.starts_with(expected), "{what}: {shown}");
    }
    // A shell of one command says what it exports.
    session
        .run("export MADE_SECRET=fig-Feige-$((50 + 5))")
        .await;
    let summary = session.run("echo $MADE_SECRET; echo fig-Feige-56").await;
    assert_eq!(summary.stdout, "[REDACTED:MADE_SECRET]\nfig-Feige-56\n");
    // Another session has its own.
    let other = self::session(&daemon).await;
    let summary = other.run("echo pine-Apfel-31 plum-Pflaume-12").await;
    assert_eq!(summary.stdout, "pine-Apfel-31 plum-Pflaume-12\n");
}

#[tokio::test]
async fn both_streams_colours_and_odd_bytes_are_looked_through() {
    let daemon = Daemon::start_with("", &[("MY_TOKEN", KNOWN)], &[]);
    let session = session(&daemon).await;
    let line = format!(
        "printf 'a \\033[31mkiwi\\033[0m-Banane-77 \\377 {TOKEN}\\n'; printf 'e {TOKEN}\\n' >&2; false"
    );
    let out = format!("a \x1b[31m[REDACTED:MY_TOKEN]\x1b[0m \u{fffd} {TOKEN_SHOWN}\n");
    let err = format!("e {TOKEN_SHOWN}\n");
    let result = session.result(session.request(&line)).await;
    let Some(Kind::Failure(run)) = result.result else {
        panic!("false fails");
    };
    let id = run.shell_id.unwrap();
    assert_eq!((&run.stdout, &run.stderr), (&out, &err));
    let interleaved = run.interleaved_output.unwrap();
    assert!(
        interleaved.contains(&out) && interleaved.contains(&err),
        "{interleaved}"
    );
    let page = read(&session, id, 0, 0).await;
    let raw = page.raw.expect("a byte is no text");
    assert!(!String::from_utf8_lossy(&raw).contains("FAKEIE"));
    assert!(
        raw.contains(&0xff) && page.output.contains(&out),
        "{}",
        page.output
    );
    let events = subscribed(&session, id).await;
    assert_eq!(in_events(&events, id), (out.clone(), err.clone()));
    let told = session.told(&line).await;
    assert_eq!(String::from_utf8_lossy(&told.stdout()), out);
    assert_eq!(String::from_utf8_lossy(&told.stderr()), err);
}

#[tokio::test]
async fn the_journal_keeps_every_byte_and_the_program_shows_none() {
    let daemon = Daemon::start("");
    let session = session(&daemon).await;
    let run = session.run(&format!("echo {TOKEN}")).await;
    let id = run.shell_id;
    let mut recorded = Vec::new();
    for folder in std::fs::read_dir(daemon.home().join("data/output")).unwrap() {
        let file = folder.unwrap().path().join(format!("{id}.out"));
        recorded.extend(std::fs::read(file).unwrap_or_default());
    }
    assert_eq!(String::from_utf8_lossy(&recorded), format!("{TOKEN}\n"));
    let shown = format!("{TOKEN_SHOWN}\n");
    let line = format!("echo {TOKEN}");
    assert_eq!(daemon.cli(&["run", &line]).out(), shown);
    assert_eq!(daemon.cli(&["output", &id.to_string()]).out(), shown);
    let json = daemon.cli(&["run", "--json", &line]).out();
    assert!(json.contains(TOKEN_SHOWN), "{json}");
    let history = daemon.cli(&["history", &session.id, "--json"]).out();
    assert!(history.contains(TOKEN_SHOWN), "{history}");
}

#[tokio::test]
async fn a_configuration_can_switch_it_off() {
    let daemon = Daemon::start_with("[redaction]\nenabled = false", &[("MY_TOKEN", KNOWN)], &[]);
    let session = session(&daemon).await;
    let text = format!("{KNOWN} {TOKEN}\n");
    for (what, shown) in
        everywhere(&session, &session.request(&format!("echo {KNOWN} {TOKEN}"))).await
    {
        assert_eq!(shown, text, "{what}");
    }
}

#[tokio::test]
async fn a_rule_that_cannot_be_used_keeps_the_daemon_from_starting() {
    let home = shellglass_tests::program::Home::default();
    home.configure("[redaction]\noff = [\"no-such-rule\"]");
    let ran = home.cli(&["serve"]);
    assert_ne!(ran.status, 0, "{ran:?}");
    assert!(ran.stderr.contains("no-such-rule"), "{ran:?}");
}

#[tokio::test]
async fn what_start_files_print_is_looked_through() {
    let daemon = Daemon::start("");
    std::fs::write(
        daemon.home().join(".bashrc"),
        format!("echo hello {TOKEN}\n"),
    )
    .unwrap();
    let request = wire::CreateSessionRequest {
        shell: "bash".to_owned(),
        mode: SessionMode::Pipe.into(),
        startup: "rc".to_owned(),
        env: [(
            "HOME".to_owned(),
            daemon.home().to_string_lossy().into_owned(),
        )]
        .into(),
        ..wire::CreateSessionRequest::default()
    };
    let session = TestSession::create(&daemon, request).await;
    session.run("true").await;
    let remarks = session.remarks("startup").await;
    assert_eq!(remarks.len(), 1, "{remarks:?}");
    assert!(
        remarks[0].contains(&format!("hello {TOKEN_SHOWN}")),
        "{remarks:?}"
    );
}
