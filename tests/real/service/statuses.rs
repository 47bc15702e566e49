//! How far a command came, as those hear it who follow its session; and how long
//! it may take.

use glass_proto::agent::v1::shell_result::Result as Kind;
use glass_proto::shellglass::v1::session_event::Event as Body;
use glass_proto::shellglass::v1::{CreateSessionRequest, ReadOutputRequest, SessionMode};
use shellglass_tests::calls::{next, token, with_token};
use shellglass_tests::{Daemon, TestSession};

/// The words of a command's events, each once where it is said several times in
/// a row.
async fn words(session: &TestSession, shell_id: u32) -> Vec<String> {
    let mut stream = session.subscribe(0).await;
    let mut words: Vec<String> = Vec::new();
    while let Some(event) = next(&mut stream).await {
        let is_end = matches!(event.event, Some(Body::Exit(_)));
        if event.shell_id != shell_id {
            continue;
        }
        if let Some(Body::CommandStart(start)) = &event.event {
            assert!(start.pid > 0 && !start.command.is_empty());
        }
        if words.last() != Some(&event.command_status) {
            words.push(event.command_status);
        }
        if is_end {
            break;
        }
    }
    words
}

#[tokio::test]
async fn a_command_is_started_writes_and_has_exited() {
    let daemon = Daemon::start("");
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let session = TestSession::with(&daemon, "bash", mode).await;
        let quiet = session.run("true").await.shell_id;
        assert_eq!(words(&session, quiet).await, ["started", "exited"]);
        let loud = session.run("echo a; echo b >&2; exit 3").await.shell_id;
        assert_eq!(words(&session, loud).await, ["started", "output", "exited"]);
    }
}

#[tokio::test]
async fn a_timeout_is_told_before_the_end() {
    let daemon = Daemon::start("");
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let session = TestSession::with(&daemon, "bash", mode).await;
        let mut request = session.request("echo a; sleep 1000");
        request.args.as_mut().unwrap().timeout = 3000;
        let ended = session.try_run(request).await.unwrap();
        assert!(ended.timed_out);
        let id = session.history().await.executions[0].shell_id;
        let words = words(&session, id).await;
        assert_eq!(
            words,
            ["started", "output", "timeout", "exited"],
            "{mode:?}"
        );
    }
}

#[tokio::test]
async fn a_configured_timeout_holds_for_agents_and_spares_what_is_exempt() {
    let config = "[commands]\ntimeout_ms = 300\ntimeout_exempt = [\"sleep 0.6\"]\n";
    let daemon = Daemon::start(config);
    let client = daemon.client().await;
    let agent = token(daemon.home(), "agent");
    let request = CreateSessionRequest {
        shell: "bash".to_owned(),
        startup: "none".to_owned(),
        ..CreateSessionRequest::default()
    };
    let session = TestSession::create_as(&client, request, &agent).await;
    let run = async |command: &str, timeout: i32| {
        let mut request = session.request(command);
        request.args.as_mut().unwrap().timeout = timeout;
        let answer = client.clone().run(with_token(request, &agent)).await;
        answer.unwrap().into_inner().result.unwrap()
    };
    assert!(matches!(run("sleep 1000", 0).await, Kind::Timeout(ended) if ended.timeout_ms == 300));
    assert!(matches!(run("sleep 0.6 0", 0).await, Kind::Success(_)));
    // Who says how long is believed.
    assert!(matches!(run("sleep 0.5", 60_000).await, Kind::Success(_)));
    // And it is no matter of a person's.
    let person = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    assert_eq!(person.run("sleep 0.5").await.code, Some(0));
}

#[tokio::test]
async fn what_compiles_stays_hot_and_what_is_over_is_not() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let (id, stream) = session.begin("echo compiling; read -r x < /dev/zero").await;
    session.expect_output(id, "compiling\n").await;
    let read = async || {
        let request = ReadOutputRequest {
            shell_id: id,
            offset: Some(0),
            ..ReadOutputRequest::default()
        };
        let page = session.client.clone().read_output(request).await;
        page.unwrap().into_inner()
    };
    let page = read().await;
    assert!(page.running && page.is_hot, "{page:?}");
    assert!(session.cancel(Some(id)).await);
    drop(stream);
    let page = read().await;
    assert!(!page.running && !page.is_hot, "{page:?}");
}
