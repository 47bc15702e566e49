//! Limits on age, rows and bytes.

use glass_model::{Dropped, EventBody, EventIndex, Limits, Outcome, ShellId, Stream};
use glass_store::{Change, Cursor, Recorded, Retained, Store};

use crate::fixture::{Tape, bytes_at, open, roomy};

const DAY_MS: i64 = 86_400_000;

fn dropped(body: &EventBody) -> bool {
    matches!(body, EventBody::Dropped { .. })
}

fn dispose(tape: &Tape<'_>, disposed_ms: i64) {
    let change = Change::UpdateSession {
        id: tape.id.clone(),
        cwd: None,
        env: None,
        mode: None,
        active_ms: 0,
        disposed_ms: Some(disposed_ms),
    };
    tape.store.commit(&[change]).unwrap();
}

/// An ended execution with so much output, in two pieces.
fn ended(tape: &mut Tape<'_>, bytes: u64) -> ShellId {
    let shell = tape.execution();
    tape.output(shell, Stream::Stdout, bytes / 2, 0);
    tape.output(shell, Stream::Stderr, bytes - bytes / 2, bytes / 2);
    tape.end(shell);
    shell
}

#[test]
fn nothing_goes_within_the_limits() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut tape = Tape::begin(&store, 1);
    ended(&mut tape, 1000);
    dispose(&tape, 0);
    let days = i64::from(Limits::default().disposed_days_max);
    assert_eq!(store.retain(days * DAY_MS).unwrap(), Retained::default());
    assert_eq!(store.sessions(true).unwrap().len(), 1);
}

#[test]
fn a_session_above_its_quota_loses_its_oldest_output_and_not_what_runs() {
    let dir = tempfile::tempdir().unwrap();
    let limits = Limits {
        session_output_bytes_max: 2500,
        ..roomy()
    };
    let store = Store::open(dir.path(), &limits).unwrap();
    let mut tape = Tape::begin(&store, 1);
    let running = tape.execution();
    tape.output(running, Stream::Stdout, 1000, 0);
    let (oldest, newest) = (ended(&mut tape, 1000), ended(&mut tape, 1000));
    let mut other = Tape::begin(&store, 2);
    ended(&mut other, 2000);

    let done = store.retain(0).unwrap();
    assert_eq!(
        done,
        Retained {
            outputs: 1,
            output_bytes: 1000,
            ..Retained::default()
        }
    );
    let gone: Vec<bool> = tape.bodies().iter().map(dropped).collect();
    assert_eq!(gone, [false, true, true, false, false]);
    assert!(!other.bodies().iter().any(dropped));
    let read = store.read_output(newest, Stream::Stdout, 0, 500).unwrap();
    assert_eq!(read, bytes_at(Stream::Stdout, 0, 500));
    assert_eq!(store.retain(0).unwrap(), Retained::default());

    // Late output goes on where the dropped output ended.
    tape.output(oldest, Stream::Stdout, 100, 1000);
    let read = store.read_output(oldest, Stream::Stdout, 500, 100).unwrap();
    assert_eq!(read, bytes_at(Stream::Stdout, 500, 100));
}

#[test]
fn the_store_above_its_quota_loses_the_oldest_output_of_all() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let (mut one, mut two) = (Tape::begin(&store, 1), Tape::begin(&store, 2));
    let first = ended(&mut two, 1000);
    ended(&mut one, 1000);
    ended(&mut two, 1000);
    dispose(&two, 0);
    let two_id = two.id.clone();
    drop(store);

    // What was counted before is known after a restart.
    let limits = Limits {
        store_output_bytes_max: 1500,
        ..roomy()
    };
    let store = Store::open(dir.path(), &limits).unwrap();
    let done = store.retain(0).unwrap();
    assert_eq!(
        done,
        Retained {
            outputs: 2,
            output_bytes: 2000,
            ..Retained::default()
        }
    );
    let events = store.events(&two_id, EventIndex(0), 9).unwrap();
    let gone: Vec<bool> = events.iter().map(|event| dropped(&event.body)).collect();
    assert_eq!(gone, [true, true, false, false]);
    assert!(!store.output_path(first, Stream::Stdout).exists());
}

#[test]
fn running_output_counts_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut tape = Tape::begin(&store, 1);
    let old = ended(&mut tape, 10);
    let running = tape.execution();
    tape.output(running, Stream::Stdout, 1000, 0);
    drop(store);
    let limits = Limits {
        session_output_bytes_max: 1005,
        ..roomy()
    };
    let store = Store::open(dir.path(), &limits).unwrap();
    assert_eq!(store.retain(0).unwrap().output_bytes, 10);
    store.commit(&[crate::fixture::end(running)]).unwrap();
    assert_eq!(store.retain(0).unwrap().output_bytes, 0);
    assert!(
        store
            .output_events(old, 0, 9)
            .unwrap()
            .iter()
            .all(|event| dropped(&event.body))
    );
}

#[test]
fn the_oldest_events_go_and_executions_with_them() {
    let dir = tempfile::tempdir().unwrap();
    let limits = Limits {
        session_events_max: 4,
        ..roomy()
    };
    let store = Store::open(dir.path(), &limits).unwrap();
    let mut tape = Tape::begin(&store, 1);
    let mut shells = Vec::new();
    for _ in 0..4 {
        let shell = tape.execution();
        tape.output(shell, Stream::Stdout, 100, 0);
        let outcome = Outcome::default();
        let exit = EventBody::Exit {
            command: "x".to_owned(),
            outcome: outcome.clone(),
        };
        let end = Some(EventIndex(tape.index));
        tape.event(Some(shell), exit);
        store
            .commit(&[Change::EndExecution {
                shell_id: shell,
                end,
                ended_ms: 1,
                outcome,
            }])
            .unwrap();
        shells.push(shell);
    }
    let done = store.retain(0).unwrap();
    let expected = Retained {
        executions: 2,
        events: 4,
        output_bytes: 200,
        ..Retained::default()
    };
    assert_eq!(done, expected);
    let cursor = Cursor {
        first: EventIndex(4),
        next: EventIndex(8),
    };
    assert_eq!(store.cursor(&tape.id).unwrap(), cursor);
    let left: Vec<ShellId> = store
        .executions(&tape.id)
        .unwrap()
        .iter()
        .map(|execution| execution.shell_id)
        .collect();
    assert_eq!(left, shells[2..]);
    assert!(!store.output_path(shells[0], Stream::Stdout).exists());
    tape.event(None, EventBody::Disposed);
    assert_eq!(store.retain(0).unwrap().events, 1);
}

#[test]
fn bytes_whose_events_were_deleted_count_as_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let limits = Limits {
        session_events_max: 1,
        ..roomy()
    };
    let store = Store::open(dir.path(), &limits).unwrap();
    let mut tape = Tape::begin(&store, 1);
    let shell = tape.execution();
    tape.output(shell, Stream::Stdout, 100, 0);
    tape.output(shell, Stream::Stderr, 30, 100);
    let dropped = Dropped {
        bytes: 5,
        events: 1,
        reason: "disk".to_owned(),
    };
    tape.event(
        Some(shell),
        EventBody::Dropped {
            position: 130,
            dropped,
        },
    );
    tape.event(None, EventBody::Disposed);
    let recorded = Recorded {
        stdout: 100,
        stderr: 30,
        position: 135,
    };
    assert_eq!(store.recorded(shell).unwrap(), recorded);
    assert_eq!(store.retain(0).unwrap().events, 3);
    assert_eq!(store.recorded(shell).unwrap(), recorded);
    tape.output(shell, Stream::Stdout, 10, 135);
    let recorded = Recorded {
        stdout: 110,
        stderr: 30,
        position: 145,
    };
    assert_eq!(store.recorded(shell).unwrap(), recorded);
    assert_eq!(store.recorded(ShellId(99)).unwrap(), Recorded::default());
}

#[test]
fn a_session_disposed_of_long_ago_is_forgotten_and_its_handles_are_not_used_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut old = Tape::begin(&store, 1);
    let shell = ended(&mut old, 1000);
    for _ in 0..1500 {
        old.event(None, EventBody::Disposed);
    }
    dispose(&old, 0);
    let old_id = old.id.clone();
    let now_ms = 31 * DAY_MS;
    let done = store.retain(now_ms).unwrap();
    assert_eq!(
        done,
        Retained {
            sessions: 1,
            output_bytes: 1000,
            ..Retained::default()
        }
    );
    assert_eq!(store.session(&old_id).unwrap(), None);
    assert_eq!(store.events(&old_id, EventIndex(0), 9).unwrap(), vec![]);
    assert_eq!(store.execution(shell).unwrap(), None);
    assert!(!store.output_path(shell, Stream::Stdout).exists());
    drop(store);
    let store = open(dir.path());
    assert_eq!(store.next_shell_id(), ShellId(2));
    assert_eq!(store.retain(now_ms).unwrap(), Retained::default());
}
