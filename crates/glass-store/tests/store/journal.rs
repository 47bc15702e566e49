//! What is committed is read back, wholly or not at all.

use glass_model::{
    AbortReason, Dropped, EventBody, EventIndex, ExitDetails, LaunchId, LeftProcess, Mode, Outcome,
    Peak, Phase, Receipt, Role, SandboxKind, SandboxPolicy, SessionId, ShellId, Startup, Stream,
};
use glass_store::{Change, Cursor, WriteError};

use crate::fixture::{Tape, end, event, execution, open, session};

fn full_policy() -> SandboxPolicy {
    SandboxPolicy {
        kind: SandboxKind::WorkspaceReadOnly,
        network_access: Some(false),
        readwrite_paths: vec!["/a b".to_owned(), String::new()],
        readonly_paths: vec!["/ü".to_owned()],
        debug_output_dir: Some("/tmp/d".to_owned()),
        block_git_writes: Some(true),
        disable_tmp_write: None,
        ignore_mapping_json: Some("{}".to_owned()),
    }
}

fn full_outcome() -> Outcome {
    Outcome {
        code: Some(-1),
        abort: Some(AbortReason::Timeout),
        details: ExitDetails {
            signal: Some(9),
            out_of_memory: true,
            shell_replaced: true,
            sandbox_denials: vec!["write /etc".to_owned()],
            ..ExitDetails::default()
        },
        spawn_error: Some("no such file".to_owned()),
        rejected: Some("not allowed".to_owned()),
        receipt: Some(Box::new(Receipt {
            cpu_us: Some((1, 2)),
            peak_memory: Some(Peak::Seen(3 << 30)),
            io_bytes: Some((0, 512)),
            left: vec![LeftProcess {
                pid: 7,
                command: "serve ä".to_owned(),
                ports: vec![80, 65_535],
            }],
            left_count: 9,
        })),
    }
}

#[test]
fn a_session_is_read_back_as_it_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut session = session(1);
    session.sandbox = Some(full_policy());
    session.owner = Role::Person;
    session.startup = Startup::Nothing;
    session.disposed_ms = Some(-5);
    store
        .commit(&[Change::InsertSession(session.clone())])
        .unwrap();
    drop(store);
    let store = open(dir.path());
    assert_eq!(store.session(&session.id).unwrap(), Some(session.clone()));
    assert_eq!(store.sessions(true).unwrap(), vec![session]);
    assert_eq!(store.sessions(false).unwrap(), vec![]);
    assert_eq!(
        store.session(&SessionId::from_random([9; 16])).unwrap(),
        None
    );
}

#[test]
fn an_update_changes_what_it_names_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut expected = session(1);
    let id = expected.id.clone();
    let update = |cwd: Option<&str>, env, mode, active_ms| Change::UpdateSession {
        id: id.clone(),
        cwd: cwd.map(str::to_owned),
        env,
        mode,
        active_ms,
        disposed_ms: None,
    };
    store
        .commit(&[
            Change::InsertSession(expected.clone()),
            update(None, None, None, 50),
        ])
        .unwrap();
    expected.active_ms = 50;
    assert_eq!(store.session(&id).unwrap().as_ref(), Some(&expected));
    store
        .commit(&[update(Some("/x"), Some(vec![]), Some(Mode::Line), 60)])
        .unwrap();
    (expected.active_ms, expected.mode) = (60, Mode::Line);
    (expected.cwd, expected.env) = ("/x".to_owned(), vec![]);
    assert_eq!(store.session(&id).unwrap(), Some(expected.clone()));
    // The event's time tells when the session was active.
    store
        .commit(&[
            event(&id, 0, None, EventBody::Disposed),
            update(None, None, None, 90),
        ])
        .unwrap();
    expected.active_ms = 100;
    assert_eq!(store.session(&id).unwrap(), Some(expected));
}

#[test]
fn an_execution_goes_from_queued_over_running_to_ended() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let tape = Tape::begin(&store, 1);
    let mut expected = execution(&tape.id, store.next_shell_id());
    expected.env = vec![
        ("A".to_owned(), "b=c".to_owned()),
        (String::new(), String::new()),
    ];
    expected.sandbox = full_policy();
    expected.tool_call_id = "call".to_owned();
    store
        .commit(&[Change::InsertExecution(expected.clone())])
        .unwrap();
    assert_eq!(store.unfinished().unwrap(), vec![expected.clone()]);

    let shell_id = expected.shell_id;
    let (launch, start) = (LaunchId(u64::MAX), EventIndex(3));
    let started = Change::StartExecution {
        shell_id,
        launch,
        slot: 4,
        start,
        started_ms: 77,
        cwd: "/else".to_owned(),
    };
    store.commit(&[started]).unwrap();
    (expected.phase, expected.launch, expected.slot) = (Phase::Running, Some(launch), 4);
    (expected.start, expected.started_ms) = (Some(start), 77);
    expected.cwd = "/else".to_owned();
    assert_eq!(store.execution(shell_id).unwrap().as_ref(), Some(&expected));

    store
        .commit(&[Change::RestartExecution {
            shell_id,
            launch: LaunchId(5),
            slot: 6,
        }])
        .unwrap();
    (expected.launch, expected.slot) = (Some(LaunchId(5)), 6);
    let (end, outcome) = (Some(EventIndex(8)), full_outcome());
    let ended = Change::EndExecution {
        shell_id,
        end,
        ended_ms: 99,
        outcome: outcome.clone(),
    };
    store.commit(std::slice::from_ref(&ended)).unwrap();
    (expected.phase, expected.end, expected.ended_ms) = (Phase::Ended, end, Some(99));
    expected.outcome = outcome;
    assert_eq!(store.execution(shell_id).unwrap().as_ref(), Some(&expected));
    assert_eq!(store.executions(&tape.id).unwrap(), vec![expected.clone()]);
    assert_eq!(store.unfinished().unwrap(), vec![]);
    assert_eq!(store.find_tool_call("", "call").unwrap(), Some(expected));
    assert!(
        matches!(store.commit(&[ended]), Err(WriteError::NotOpen { .. })),
        "ends only once"
    );
}

#[test]
fn every_kind_of_event_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut tape = Tape::begin(&store, 1);
    let text = "ls -l\n\u{1F41A}".to_owned();
    let dropped = Dropped {
        bytes: 3,
        events: 7,
        reason: "disk".to_owned(),
    };
    let bodies = [
        EventBody::CommandStart {
            command: text.clone(),
            cwd: "/".to_owned(),
            pid: u32::MAX,
        },
        EventBody::Output {
            stream: Stream::Stderr,
            offset: 5,
            bytes: 6,
            position: 7,
        },
        EventBody::Dropped {
            position: 13,
            dropped,
        },
        EventBody::Exit {
            command: text.clone(),
            outcome: full_outcome(),
        },
        EventBody::Exit {
            command: text,
            outcome: Outcome::default(),
        },
        EventBody::Cwd {
            cwd: "/tmp".to_owned(),
        },
        EventBody::Status {
            status: "fallback".to_owned(),
            detail: "why".to_owned(),
        },
        EventBody::Disposed,
    ];
    for body in bodies.clone() {
        tape.event(Some(ShellId(1)), body);
    }
    assert_eq!(tape.bodies(), bodies);
    let cursor = Cursor {
        first: EventIndex(0),
        next: EventIndex(8),
    };
    assert_eq!(store.cursor(&tape.id).unwrap(), cursor);
    let page = store.events(&tape.id, EventIndex(6), 1).unwrap();
    assert_eq!(
        page.iter().map(|event| event.index.0).collect::<Vec<_>>(),
        vec![6]
    );
    assert_eq!(
        store.cursor(&SessionId::from_random([9; 16])).unwrap(),
        Cursor::default()
    );
}

#[test]
fn a_commit_that_fails_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut tape = Tape::begin(&store, 1);
    let shell = tape.execution();
    let mut keyed = execution(&tape.id, store.next_shell_id());
    (keyed.tool_call_id, keyed.tool_call_scope) = ("k".to_owned(), "s".to_owned());
    store
        .commit(&[Change::InsertExecution(keyed.clone())])
        .unwrap();

    let output = EventBody::Output {
        stream: Stream::Stdout,
        offset: 0,
        bytes: 9,
        position: 0,
    };
    let good = [event(&tape.id, 0, Some(shell), output), end(shell)];
    let again = execution(&tape.id, shell);
    let same_key = glass_model::Execution {
        shell_id: store.next_shell_id(),
        ..keyed.clone()
    };
    let stranger = SessionId::from_random([9; 16]);
    let bad = [
        Change::InsertExecution(again),
        Change::InsertExecution(same_key),
        event(&tape.id, 2, None, EventBody::Disposed),
        event(&tape.id, 0, None, EventBody::Disposed),
        event(&stranger, 0, None, EventBody::Disposed),
        end(ShellId(999)),
        event(
            &tape.id,
            1,
            None,
            EventBody::Dropped {
                position: u64::MAX,
                dropped: Dropped {
                    bytes: 1,
                    events: 1,
                    reason: String::new(),
                },
            },
        ),
    ];
    let mut said = Vec::new();
    for last in bad {
        let [first, second] = good.clone();
        said.push(store.commit(&[first, second, last]).unwrap_err());
        assert_eq!(tape.bodies(), vec![]);
        assert_eq!(store.unfinished().unwrap().len(), 2);
    }
    assert!(matches!(said[0], WriteError::Duplicate { shell_id } if shell_id == shell));
    assert!(matches!(said[1], WriteError::Duplicate { shell_id } if shell_id == keyed.shell_id));
    assert!(matches!(
        said[2],
        WriteError::OutOfOrder {
            expected: EventIndex(1),
            ..
        }
    ));
    assert!(matches!(
        said[3],
        WriteError::OutOfOrder {
            expected: EventIndex(1),
            ..
        }
    ));
    assert!(matches!(&said[4], WriteError::UnknownSession { session } if *session == stranger));
    assert!(matches!(
        said[5],
        WriteError::NotOpen {
            shell_id: ShellId(999)
        }
    ));
    assert!(matches!(said[6], WriteError::TooLarge { .. }));
    store.commit(&good).unwrap();
    tape.index = 1;
    tape.event(None, EventBody::Disposed);
    assert_eq!(tape.bodies().len(), 2);
}

#[test]
fn output_is_found_by_its_position_late_output_included() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut tape = Tape::begin(&store, 1);
    let (shell, other) = (tape.execution(), tape.execution());
    tape.output(shell, Stream::Stdout, 10, 0);
    tape.output(other, Stream::Stdout, 10, 0);
    tape.output(shell, Stream::Stderr, 5, 10);
    tape.end(shell);
    tape.event(None, EventBody::Disposed);
    tape.output(shell, Stream::Stdout, 7, 15);
    let found = |from, max| -> Vec<u64> {
        let events = store.output_events(shell, from, max).unwrap();
        events.iter().map(|event| event.index.0).collect()
    };
    assert_eq!(found(0, 9), vec![0, 2, 4]);
    assert_eq!(found(0, 2), vec![0, 2]);
    assert_eq!(found(9, 9), vec![0, 2, 4]);
    assert_eq!(found(10, 9), vec![2, 4]);
    assert_eq!(found(15, 9), vec![4]);
    assert_eq!(found(22, 9), Vec::<u64>::new());
    assert_eq!(found(u64::MAX, 9), Vec::<u64>::new());
}

#[test]
fn long_texts_come_in_several_pages() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut tape = Tape::begin(&store, 1);
    for _ in 0..5 {
        let command = "x".repeat(3 << 20);
        tape.event(
            None,
            EventBody::Exit {
                command,
                outcome: Outcome::default(),
            },
        );
    }
    let mut pages = Vec::new();
    let mut from = EventIndex(0);
    loop {
        let page = store.events(&tape.id, from, 100).unwrap();
        let Some(last) = page.last() else { break };
        from = last.index.next();
        pages.push(page.len());
    }
    assert_eq!(pages, vec![2, 2, 1]);
}

#[test]
fn a_handle_is_never_used_twice() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let tape = Tape::begin(&store, 1);
    assert_eq!(tape.execution(), ShellId(1));
    assert_eq!(tape.execution(), ShellId(2));
    drop(store);
    assert_eq!(open(dir.path()).next_shell_id(), ShellId(3));
}

#[test]
fn readers_and_writers_work_at_the_same_time() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let store = store.clone();
            scope.spawn(move || {
                let mut tape = Tape::begin(&store, seed);
                for n in 0..200 {
                    let shell = tape.execution();
                    tape.event(Some(shell), EventBody::Disposed);
                    tape.end(shell);
                    assert_eq!(tape.bodies().len(), n + 1);
                }
            });
        }
    });
    assert_eq!(store.unfinished().unwrap(), vec![]);
    assert_eq!(store.sessions(false).unwrap().len(), 4);
}
