//! One tool call is one execution, however often it is asked for.

use glass_proto::agent::v1::ShellResult;
use glass_proto::shellglass::v1::{ExecuteRequest, SessionMode};
use shellglass_tests::calls::{failure, refused, rest, success, told};
use shellglass_tests::{Daemon, TestSession};
use tonic::Code;

fn keyed(session: &TestSession, key: &str, command: &str) -> ExecuteRequest {
    session.with_args(command, |args| args.tool_call_id = key.to_owned())
}

fn in_task(session: &TestSession, task: &str, key: &str, command: &str) -> ExecuteRequest {
    ExecuteRequest {
        task_id: task.to_owned(),
        ..keyed(session, key, command)
    }
}

fn lines(daemon: &Daemon, name: &str) -> usize {
    let text = std::fs::read_to_string(daemon.home().join(name)).unwrap_or_default();
    text.lines().count()
}

async fn run(session: &TestSession, request: ExecuteRequest) -> ShellResult {
    session.result(request).await
}

#[tokio::test]
async fn the_same_call_finds_its_execution_again() {
    let daemon = Daemon::start("");
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let session = TestSession::with(&daemon, "bash", mode).await;
        let name = format!("ran-{}", i32::from(mode));
        let command = format!("echo x >>{name}; echo out; echo err >&2; sh -c 'exit 7'");
        let first = run(&session, keyed(&session, &name, &command)).await;
        let again = run(&session, keyed(&session, &name, &command)).await;
        assert_eq!(first, again);
        let streamed = told(&session.client, keyed(&session, &name, &command)).await;
        let streamed = streamed.unwrap();
        assert_eq!(streamed.stdout(), b"out\n");
        assert_eq!(streamed.stderr(), b"err\n");
        assert_eq!(streamed.exit().code, 7);
        assert_eq!(Some(streamed.start().shell_id), failure(first).shell_id);
        assert_eq!(lines(&daemon, &name), 1, "{mode:?}");
    }
}

#[tokio::test]
async fn many_at_once_are_one_execution() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    for round in 0..5 {
        let key = format!("call-{round}");
        let calls: Vec<_> = (0..16)
            .map(|_| {
                let mut client = session.client.clone();
                let request = keyed(&session, &key, "echo x >>ran; sleep 0.05; echo done");
                tokio::spawn(async move { client.run(request).await })
            })
            .collect();
        let mut ids = Vec::new();
        for call in calls {
            let success = success(call.await.unwrap().unwrap().into_inner());
            assert_eq!(success.stdout, "done\n");
            ids.push(success.shell_id);
        }
        ids.dedup();
        assert_eq!(ids.len(), 1);
        assert_eq!(lines(&daemon, "ran"), round + 1);
    }
}

#[tokio::test]
async fn a_key_belongs_to_one_command() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    run(&session, keyed(&session, "k", "echo one")).await;
    let other = session.try_run(keyed(&session, "k", "echo two")).await;
    let message = refused(other, Code::AlreadyExists);
    assert!(message.contains("'k'"), "{message}");
}

#[tokio::test]
async fn a_key_is_unique_in_its_task() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let other = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let one = success(run(&session, in_task(&session, "a", "k", "echo a")).await);
    let two = success(run(&session, in_task(&session, "b", "k", "echo b")).await);
    let none = success(run(&session, keyed(&session, "k", "echo none")).await);
    let outputs = [&one.stdout, &two.stdout, &none.stdout];
    assert_eq!(outputs, ["a\n", "b\n", "none\n"]);
    // The task counts, and not the session that a retry names.
    let again = success(run(&other, in_task(&other, "a", "k", "echo a")).await);
    assert_eq!(again.shell_id, one.shell_id);
}

#[tokio::test]
async fn a_call_without_a_key_is_new_every_time() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    for _ in 0..3 {
        session.run("echo x >>ran").await;
    }
    assert_eq!(lines(&daemon, "ran"), 3);
}

#[tokio::test]
async fn a_call_is_found_while_it_waits_and_while_it_runs() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let until_go = "until test -e go; do sleep 0.01; done; echo went";
    let (_, mut running) = session.begin_request(keyed(&session, "r", until_go)).await;
    let waiting = keyed(&session, "w", "echo x >>ran; echo waited");
    let first = session.client.clone().execute(waiting.clone()).await;
    let second = session.client.clone().execute(waiting).await;
    let mut client = session.client.clone();
    let attached = client.execute(keyed(&session, "r", until_go)).await;
    let mut attached = attached.unwrap().into_inner();
    std::fs::write(daemon.home().join("go"), "").unwrap();
    assert_eq!(rest(&mut running).await.stdout(), b"went\n");
    let told = rest(&mut attached).await;
    assert_eq!((told.stdout(), told.exit().code), (b"went\n".to_vec(), 0));
    for stream in [first, second] {
        let told = rest(&mut stream.unwrap().into_inner()).await;
        assert_eq!(told.stdout(), b"waited\n");
    }
    assert_eq!(lines(&daemon, "ran"), 1);
}

#[tokio::test]
async fn a_call_is_found_after_a_restart_and_after_its_session() {
    let mut daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let request = keyed(&session, "k", "echo x >>ran; echo out");
    let first = run(&session, request.clone()).await;
    daemon.crash_and_restart();
    let client = daemon.client().await;
    let session = TestSession {
        client,
        id: session.id,
    };
    assert_eq!(run(&session, request.clone()).await, first);
    session.dispose().await;
    assert_eq!(run(&session, request.clone()).await, first);
    let streamed = told(&session.client, request).await.unwrap();
    assert_eq!(
        (streamed.stdout(), streamed.exit().code),
        (b"out\n".to_vec(), 0)
    );
    assert_eq!(lines(&daemon, "ran"), 1);
}
