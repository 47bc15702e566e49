//! What a session remembers, page by page and live.

use glass_proto::shellglass::v1::session_event::Event as Body;
use glass_proto::shellglass::v1::{
    CreateSessionRequest, HistoryRequest, SessionEvent, SessionHistory, SessionMode,
    SubscribeRequest,
};
use shellglass_tests::calls::{exact, next, refused};
use shellglass_tests::{Daemon, TestSession};
use tonic::{Code, Streaming};

async fn page(session: &TestSession, from_index: u64, max_events: u32) -> SessionHistory {
    let request = HistoryRequest {
        session_id: session.id.clone(),
        from_index,
        max_events,
        omit_events: false,
        ..HistoryRequest::default()
    };
    let answer = session.client.clone().get_session_history(request).await;
    answer.unwrap().into_inner()
}

async fn take(stream: &mut Streaming<SessionEvent>, count: usize) -> Vec<SessionEvent> {
    let mut events = Vec::new();
    while events.len() < count {
        events.push(next(stream).await.expect("the session is not over"));
    }
    events
}

fn indexes(events: &[SessionEvent]) -> Vec<u64> {
    events.iter().map(|event| event.index).collect()
}

fn stdout_of(events: &[SessionEvent]) -> Vec<u8> {
    let outputs = events.iter().filter_map(|event| match &event.event {
        Some(Body::Stdout(output)) => Some(exact(&output.data, output.raw.as_deref())),
        _ => None,
    });
    outputs.flatten().collect()
}

#[tokio::test]
async fn a_history_has_events_executions_and_the_directory() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let request = session.with_args("echo one; echo two >&2", |args| {
        args.tool_call_id = "call-1".to_owned();
    });
    session.try_run(request).await.unwrap();
    session.run("cd /usr; sh -c 'kill -TERM $$'").await;
    let history = session.history().await;
    assert_eq!(history.cwd, "/usr");
    assert_eq!((history.first_index, history.next_index), (0, None));
    let expected: Vec<u64> = (0..history.events.len() as u64).collect();
    assert_eq!(indexes(&history.events), expected);
    assert!(
        history
            .events
            .iter()
            .all(|event| event.unix_ms > 0 && event.event.is_some())
    );
    let [first, second] = &history.executions[..] else {
        panic!("two commands ran: {:?}", history.executions);
    };
    assert_eq!(first.command, "echo one; echo two >&2");
    assert_eq!(first.cwd, daemon.home().to_str().unwrap());
    assert_eq!(
        (first.exit_code, first.tool_call_id.as_str()),
        (Some(0), "call-1")
    );
    assert!(first.ended_unix_ms.unwrap() >= first.started_unix_ms);
    assert!(first.sandbox_policy.is_some());
    assert_eq!(
        (second.exit_code, second.signal.as_str()),
        (Some(143), "SIGTERM")
    );
    for execution in &history.executions {
        let event = |index: u64| &history.events[usize::try_from(index).unwrap()];
        let (start, end) = (
            event(execution.start_index),
            event(execution.end_index.unwrap()),
        );
        assert_eq!(start.shell_id, end.shell_id);
        assert_eq!(start.shell_id, execution.shell_id);
        match (&start.event, &end.event) {
            (Some(Body::CommandStart(start)), Some(Body::Exit(exit))) => {
                assert_eq!(start.command, execution.command);
                assert_eq!(start.cwd, execution.cwd);
                assert!(start.pid > 0 && start.is_trusted && exit.is_trusted);
                assert_eq!(
                    (start.confidence.as_str(), exit.confidence.as_str()),
                    ("high", "high")
                );
                assert_eq!(
                    (exit.code, &exit.command),
                    (execution.exit_code, &execution.command)
                );
            }
            other => panic!("not a start and an end: {other:?}"),
        }
    }
    let moved = history
        .events
        .iter()
        .any(|event| matches!(&event.event, Some(Body::Cwd(change)) if change.cwd == "/usr"));
    assert!(moved, "{:?}", history.events);
}

#[tokio::test]
async fn a_running_command_has_no_end_in_the_history() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let (_, _stream) = session.begin("sleep 1000").await;
    let execution = session.history().await.executions.pop().unwrap();
    assert_eq!(execution.command, "sleep 1000");
    assert_eq!((execution.end_index, execution.exit_code), (None, None));
    assert_eq!(execution.ended_unix_ms, None);
}

#[tokio::test]
async fn pages_join_to_the_whole_history() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    for number in 0..10 {
        session.run(&format!("echo {number}")).await;
    }
    let whole = session.history().await.events;
    for max in [1, 3, 7, 100] {
        let (mut events, mut from) = (Vec::new(), 0);
        loop {
            let answer = page(&session, from, max).await;
            assert!(answer.events.len() <= max as usize);
            assert_eq!(answer.executions.len(), 10);
            events.extend(answer.events);
            match answer.next_index {
                Some(index) => from = index,
                None => break,
            }
        }
        assert_eq!(events, whole, "{max} at a time");
    }
    let beyond = page(&session, whole.len() as u64 + 5, 0).await;
    assert_eq!((beyond.events.len(), beyond.next_index), (0, None));
    let request = HistoryRequest {
        session_id: session.id.clone(),
        omit_events: true,
        ..HistoryRequest::default()
    };
    let brief = session.client.clone().get_session_history(request).await;
    let brief = brief.unwrap().into_inner();
    assert_eq!((brief.events.len(), brief.executions.len()), (0, 10));
    assert_eq!(brief.cwd, daemon.home().to_str().unwrap());
}

#[tokio::test]
async fn a_page_fits_a_message_whatever_was_printed() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    session
        .run("head -c 9000000 /dev/urandom | tee bytes")
        .await;
    let (mut events, mut from, mut pages) = (Vec::new(), 0, 0);
    loop {
        let answer = page(&session, from, 0).await;
        let size: usize = answer.events.iter().map(prost_len).sum();
        assert!(size <= 4 << 20, "{size} bytes in one page");
        pages += 1;
        events.extend(answer.events);
        match answer.next_index {
            Some(index) => from = index,
            None => break,
        }
    }
    assert!(pages > 1);
    let bytes = std::fs::read(daemon.home().join("bytes")).unwrap();
    assert!(stdout_of(&events) == bytes);
}

fn prost_len(event: &SessionEvent) -> usize {
    match &event.event {
        Some(Body::Stdout(output)) => {
            output.data.len() + output.raw.as_ref().map_or(0, |raw| raw.len())
        }
        _ => 0,
    }
}

#[tokio::test]
async fn a_watcher_gets_what_is_stored_and_then_what_comes() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    for number in 0..5 {
        session.run(&format!("echo {number}")).await;
    }
    let stored = session.history().await.events;
    let mut from_start = session.subscribe(0).await;
    let mut from_middle = session.subscribe(4).await;
    let mut from_end = session.subscribe(stored.len() as u64).await;
    assert_eq!(take(&mut from_start, stored.len()).await, stored);
    assert_eq!(take(&mut from_middle, stored.len() - 4).await, stored[4..]);
    session.run("echo live").await;
    let whole = session.history().await.events;
    let live = &whole[stored.len()..];
    for stream in [&mut from_start, &mut from_middle, &mut from_end] {
        assert_eq!(take(stream, live.len()).await, live);
    }
    assert_eq!(stdout_of(live), b"live\n");
}

#[tokio::test]
async fn watchers_of_a_flood_miss_nothing_and_see_nothing_twice() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let watchers: Vec<_> = (0..4)
        .map(|number| {
            let (mut client, id) = (session.client.clone(), session.id.clone());
            tokio::spawn(async move {
                // Some begin in the middle of it.
                tokio::time::sleep(std::time::Duration::from_millis(number * 40)).await;
                let request = SubscribeRequest {
                    session_id: id,
                    from_index: 0,
                };
                let mut stream = client.subscribe(request).await.unwrap().into_inner();
                let mut events = Vec::new();
                while let Some(event) = next(&mut stream).await {
                    events.push(event);
                }
                events
            })
        })
        .collect();
    let command = "for i in {1..30}; do seq 2000; echo err$i >&2; sleep 0.005; done";
    session.run(command).await;
    session.dispose().await;
    let mut from = 0;
    let mut whole = Vec::new();
    loop {
        let answer = page(&session, from, 0).await;
        whole.extend(answer.events);
        match answer.next_index {
            Some(index) => from = index,
            None => break,
        }
    }
    for watcher in watchers {
        assert!(watcher.await.unwrap() == whole);
    }
    let once: String = (1..=2000).map(|n| format!("{n}\n")).collect();
    assert!(stdout_of(&whole) == once.repeat(30).as_bytes());
    assert!(matches!(
        whole.last().unwrap().event,
        Some(Body::Disposed(_))
    ));
}

#[tokio::test]
async fn a_watcher_goes_on_after_a_restart_where_it_was() {
    let mut daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let command = "echo before; until test -e go; do sleep 0.01; done; echo after";
    let (_, _execute) = session.begin(command).await;
    let mut stream = session.subscribe(0).await;
    let mut events = Vec::new();
    while stdout_of(&events) != b"before\n" {
        events.extend(take(&mut stream, 1).await);
    }
    daemon.crash_and_restart();
    let session = TestSession {
        client: daemon.client().await,
        id: session.id,
    };
    let mut stream = session.subscribe(events.len() as u64).await;
    std::fs::write(daemon.home().join("go"), "").unwrap();
    while !matches!(events.last().unwrap().event, Some(Body::Exit(_))) {
        events.extend(take(&mut stream, 1).await);
    }
    let expected: Vec<u64> = (0..events.len() as u64).collect();
    assert_eq!(indexes(&events), expected);
    assert_eq!(stdout_of(&events), b"before\nafter\n");
    assert_eq!(session.history().await.events[..events.len()], events[..]);
}

#[tokio::test]
async fn old_events_go_and_the_first_index_says_so() {
    let daemon = Daemon::start("[limits]\nsession_events_max = 20\n");
    let session = TestSession::create(&daemon, CreateSessionRequest::default()).await;
    for number in 0..40 {
        session.run(&format!("echo {number}")).await;
    }
    let deadline = std::time::Instant::now() + shellglass_tests::PATIENCE;
    let history = loop {
        let history = session.history().await;
        if history.first_index > 0 {
            break history;
        }
        assert!(
            std::time::Instant::now() < deadline,
            "nothing was ever removed"
        );
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    };
    let first = history.first_index;
    assert_eq!(history.events.first().unwrap().index, first);
    let expected: Vec<u64> = (first..first + history.events.len() as u64).collect();
    assert_eq!(indexes(&history.events), expected);
    // Who asks for what is gone begins with what is there.
    let mut stream = session.subscribe(0).await;
    assert_eq!(take(&mut stream, 1).await[0].index, first);
}

#[tokio::test]
async fn an_unknown_session_has_no_history() {
    let daemon = Daemon::start("");
    let mut client = daemon.client().await;
    for id in ["s-aaaaaaaaaaaaaaaa", "", "../etc", "s-\u{fffd}"] {
        let request = HistoryRequest {
            session_id: id.to_owned(),
            ..HistoryRequest::default()
        };
        refused(client.get_session_history(request).await, Code::NotFound);
        let request = SubscribeRequest {
            session_id: id.to_owned(),
            from_index: 0,
        };
        refused(client.subscribe(request).await, Code::NotFound);
    }
}

#[tokio::test]
async fn executions_can_be_asked_for_by_number_age_and_length() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let other = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let theirs = other.run("echo theirs").await.shell_id;
    let mut ids = Vec::new();
    for word in ["one", "two", "ößü"] {
        ids.push(session.run(&format!("echo {word}")).await.shell_id);
    }
    // It runs, and the last waits behind it: that one is not told of yet.
    let (running, _stream) = session.begin("sleep 600").await;
    let later = session.request("echo later");
    let _waiting = session.client.clone().execute(later).await.unwrap();
    ids.push(running);
    let ask = async |change: &dyn Fn(&mut HistoryRequest)| {
        let mut request = HistoryRequest {
            session_id: session.id.clone(),
            omit_events: true,
            ..HistoryRequest::default()
        };
        change(&mut request);
        let answer = session.client.clone().get_session_history(request).await;
        let executions = answer.unwrap().into_inner().executions.into_iter();
        let told = executions.map(|told| (told.shell_id, told.command, told.command_cut));
        told.collect::<Vec<(u32, String, bool)>>()
    };
    let whole = |at: usize, command: &str| (ids[at], command.to_owned(), false);
    let all = ask(&|_| {}).await;
    assert_eq!(all.iter().map(|told| told.0).collect::<Vec<_>>(), ids);
    assert!(all.iter().all(|told| !told.2), "{all:?}");
    // The newest, in their order.
    let newest = ask(&|request| request.max_executions = 2).await;
    assert_eq!(newest, [whole(2, "echo ößü"), whole(3, "sleep 600")]);
    let more = ask(&|request| request.max_executions = 900).await;
    assert_eq!(more, all);
    // One, which is this session's.
    let one = ask(&|request| request.shell_id = ids[1]).await;
    assert_eq!(one, [whole(1, "echo two")]);
    for unknown in [theirs, u32::MAX] {
        assert_eq!(ask(&|request| request.shell_id = unknown).await, []);
    }
    // No half of a character, and only what is too long.
    let cut = ask(&|request| request.max_command_bytes = 8).await;
    let commands: Vec<(&str, bool)> = cut.iter().map(|told| (&*told.1, told.2)).collect();
    assert_eq!(
        commands,
        [
            ("echo one", false),
            ("echo two", false),
            ("echo ö", true),
            ("sleep 60", true)
        ]
    );
    let both = |request: &mut HistoryRequest| {
        (request.shell_id, request.max_command_bytes) = (ids[0], 4);
    };
    assert_eq!(ask(&both).await, [(ids[0], "echo".to_owned(), true)]);
}
