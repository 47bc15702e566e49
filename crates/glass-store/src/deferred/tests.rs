use super::{Deferred, Pushed, records};
use crate::change::Change;
use glass_model::{
    AuditEntry, AuditKind, Event, EventBody, EventIndex, Execution, LaunchId, Mode, Outcome, Phase,
    Receipt, SandboxPolicy, SessionId, ShellId, Stream,
};

fn start(id: u32, command: &str) -> Vec<Change> {
    let session = SessionId::from_random([9; 16]);
    let execution = Execution {
        shell_id: ShellId(id),
        session: session.clone(),
        command: command.to_owned(),
        cwd: "/tmp".to_owned(),
        tool_call_id: "call".to_owned(),
        tool_call_scope: "agent".to_owned(),
        env: vec![("A".to_owned(), "1".to_owned())],
        requested_cwd: String::new(),
        timeout_ms: 5,
        sandbox: SandboxPolicy::none(),
        asked_by: glass_model::Role::Agent,
        held: false,
        phase: Phase::Running,
        launch: Some(LaunchId(1 << 40)),
        slot: 3,
        start: Some(EventIndex(7)),
        end: None,
        started_ms: 1_700_000_000_000,
        ended_ms: None,
        outcome: Outcome::default(),
    };
    let body = EventBody::CommandStart {
        command: command.to_owned(),
        cwd: "/tmp".to_owned(),
        pid: 4,
    };
    let event = Event {
        index: EventIndex(7),
        at_ms: 8,
        shell_id: Some(ShellId(id)),
        body,
    };
    let told = Change::Audit(AuditEntry {
        at_ms: -1,
        session: session.as_str().to_owned(),
        shell_id: id,
        task: "a task".to_owned(),
        asked_by: "agent:a task".to_owned(),
        what: AuditKind::Ran {
            cwd: "/tmp".to_owned(),
            sandbox: "ro".to_owned(),
        },
        command: command.to_owned(),
        detail: "é".to_owned(),
    });
    vec![
        Change::InsertExecution(execution),
        told,
        Change::Event { session, event },
    ]
}

/// What ends the command that [`start`] begins.
fn end(id: u32) -> Vec<Change> {
    let session = SessionId::from_random([9; 16]);
    let outcome = Outcome {
        code: Some(-3),
        receipt: Some(Box::new(Receipt {
            cpu_us: Some((5, 6)),
            ..Receipt::default()
        })),
        ..Outcome::default()
    };
    let bodies = [
        EventBody::Output {
            stream: Stream::Stderr,
            offset: 1 << 40,
            bytes: 5,
            position: 1 << 41,
        },
        EventBody::Cwd {
            cwd: "/ä".to_owned(),
        },
        EventBody::Exit {
            command: "true".to_owned(),
            outcome: outcome.clone(),
        },
    ];
    let mut changes: Vec<Change> = bodies
        .into_iter()
        .map(|body| Change::Event {
            session: session.clone(),
            event: Event {
                index: EventIndex(8),
                at_ms: 9,
                shell_id: None,
                body,
            },
        })
        .collect();
    changes.push(Change::EndExecution {
        shell_id: ShellId(id),
        end: Some(EventIndex(8)),
        ended_ms: 11,
        outcome,
    });
    changes.push(Change::UpdateSession {
        id: session,
        cwd: Some("/ä".to_owned()),
        env: None,
        mode: Some(Mode::Line),
        active_ms: 11,
        disposed_ms: None,
    });
    changes
}

fn left_in(dir: &std::path::Path) -> Vec<Vec<Change>> {
    Deferred::open(dir).expect("it opens").1
}

#[test]
fn what_was_deferred_is_found_again_until_it_is_settled() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut deferred, left) = Deferred::open(dir.path()).expect("it opens");
    assert!(left.is_empty());
    let (first, second) = (start(1, "true"), end(1));
    assert_eq!(deferred.push(&first).expect("written"), Pushed::First);
    assert_eq!(deferred.push(&second).expect("written"), Pushed::Joined);
    assert_eq!(left_in(dir.path()), [first.clone(), second.clone()]);
    assert_eq!(deferred.seal().len(), 2);
    assert_eq!(left_in(dir.path()), [first, second]);
    deferred.settled();
    assert!(left_in(dir.path()).is_empty() && deferred.is_empty());
}

#[test]
fn what_comes_during_a_transaction_waits_for_the_next() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut deferred, _) = Deferred::open(dir.path()).expect("it opens");
    for id in 0..5 {
        deferred.push(&start(2 * id, "true")).expect("written");
        assert_eq!(deferred.seal().len(), 1);
        let next = start(2 * id + 1, "true");
        assert_eq!(deferred.push(&next).expect("written"), Pushed::First);
        deferred.settled();
        assert_eq!(left_in(dir.path()), [next]);
        assert_eq!(deferred.seal().len(), 1);
        deferred.settled();
    }
}

#[test]
fn what_found_no_room_is_kept_in_order() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut deferred, _) = Deferred::open(dir.path()).expect("it opens");
    let all = [start(1, "a"), start(2, "b")];
    deferred.push(&all[0]).expect("written");
    deferred.seal();
    deferred.push(&all[1]).expect("written");
    deferred.strain();
    assert_eq!(
        deferred.push(&start(3, "c")).expect("fine"),
        Pushed::Refused
    );
    let sealed = deferred.seal();
    assert!(sealed.iter().zip(&all).all(|(a, b)| a[..] == b[..]) && sealed.len() == 2);
    // Both files are sealed now: what came into either would go with them.
    let late = deferred.push(&start(4, "d"));
    assert_eq!(late.expect("fine"), Pushed::Refused);
    assert_eq!(left_in(dir.path()), all);
    deferred.settled();
    assert!(left_in(dir.path()).is_empty() && deferred.is_empty());
}

#[test]
fn what_does_not_fit_is_not_deferred() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut deferred, _) = Deferred::open(dir.path()).expect("it opens");
    let long = start(1, &"x".repeat(300_000));
    assert_eq!(deferred.push(&long).expect("fine"), Pushed::Refused);
    let disposed = Change::Event {
        session: SessionId::from_random([9; 16]),
        event: Event {
            index: EventIndex(0),
            at_ms: 0,
            shell_id: None,
            body: EventBody::Disposed,
        },
    };
    assert_eq!(deferred.push(&[disposed]).expect("fine"), Pushed::Refused);
    // Made twice, this could undo a later one.
    let moved = end(1).pop().expect("a change");
    assert_eq!(deferred.push(&[moved]).expect("fine"), Pushed::Refused);
    assert!(deferred.is_empty());
}

#[test]
fn a_file_that_fills_says_so_once() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut deferred, _) = Deferred::open(dir.path()).expect("it opens");
    let mut seen = Vec::new();
    loop {
        match deferred.push(&start(1, &"x".repeat(2_000))).expect("fine") {
            Pushed::Refused => break,
            Pushed::Joined => {}
            other => seen.push(other),
        }
    }
    assert_eq!(seen, [Pushed::First, Pushed::Many]);
}

proptest::proptest! {
    #[test]
    fn noise_and_torn_records_are_not_believed(
        noise in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
        cut in 0usize..400,
    ) {
        proptest::prop_assert!(records(&noise).is_empty());
        let dir = tempfile::tempdir().expect("a directory");
        let (mut deferred, _) = Deferred::open(dir.path()).expect("it opens");
        deferred.push(&start(1, "true")).expect("it is written");
        let whole = usize::try_from(deferred.halves[0].end).expect("it is small");
        let mut content = std::fs::read(dir.path().join("deferred")).expect("it is there");
        content.truncate(cut);
        let expected = usize::from(cut >= whole);
        proptest::prop_assert_eq!(records(&content).len(), expected);
    }
}
