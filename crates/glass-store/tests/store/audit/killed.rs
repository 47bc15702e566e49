//! Kill -9 at random moments: every command has its entries, each of them once,
//! and the chain holds.

use std::io::Write;
use std::time::Duration;

use glass_model::{AuditKind, EventBody, EventIndex, LaunchId, Outcome, Phase, SessionId, ShellId};
use glass_store::{AuditFilter, Change, Store};

use super::{entry, everything, verified};
use crate::child;
use crate::fixture::{event, execution, open, session};

const KILLS: u32 = 16;
/// The longest that a child lives before it is killed, in microseconds. Longer
/// than changes are put off, so that some have entered the database.
const LIFE_US_MAX: u64 = 90_000;
/// Every so many commands one is committed, so that others enter with it.
const COMMIT_EVERY: u64 = 17;

/// The test that is the child.
const CHILD: &str = "audit::killed::writes_entries_until_it_is_killed";

#[test]
fn a_kill_at_any_moment_leaves_a_chain_that_holds() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    store.commit(&[Change::InsertSession(session(1))]).unwrap();
    drop(store);
    let mut random = 0x9E37_79B9_7F4A_7C15u64;
    let mut ran = 0;
    for _ in 0..KILLS {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let life = Duration::from_micros((random >> 33) % LIFE_US_MAX);
        let told = child::kill_after(CHILD, dir.path(), life);
        let now = check(&open(dir.path()));
        assert!(
            now >= ran.max(told),
            "{told} were confirmed, {now} are there"
        );
        ran = now;
    }
    assert!(ran > 200, "only {ran} commands in all: nothing was tested");
}

/// Every event of the session has the entry that was written with it, in the
/// same order. Returns how many commands ended.
fn check(store: &Store) -> u64 {
    let found = verified(store);
    assert_eq!(found.broken, None);
    let id = session(1).id;
    let events = store.events(&id, EventIndex(0), usize::MAX).unwrap();
    let entries = everything(store, &AuditFilter::default());
    assert_eq!(entries.len(), events.len());
    let mut ended = 0;
    for (entry, event) in entries.iter().zip(&events) {
        assert_eq!(Some(ShellId(entry.shell_id)), event.shell_id);
        assert_eq!(entry.at_ms, event.index.0.cast_signed());
        let same = match entry.what {
            AuditKind::Ran { .. } => matches!(event.body, EventBody::CommandStart { .. }),
            AuditKind::Ended { .. } => {
                ended += 1;
                matches!(event.body, EventBody::Exit { .. })
            }
            _ => false,
        };
        assert!(same, "{entry:?} was written with {event:?}");
    }
    ended
}

#[test]
#[ignore = "is the child of the test above"]
fn writes_entries_until_it_is_killed() {
    let Some(dir) = child::dir() else { return };
    let store = open(&dir);
    let id = session(1).id;
    let mut index = store.cursor(&id).unwrap().next.0;
    if let Some(open) = store.unfinished().unwrap().pop() {
        store.defer(&end(&id, open.shell_id, index)).unwrap();
        index += 1;
    }
    tell("writing");
    for round in 1u64.. {
        let shell = store.next_shell_id();
        store.defer(&begin(&id, shell, index)).unwrap();
        let over = end(&id, shell, index + 1);
        if round % COMMIT_EVERY == 0 {
            store.commit(&over).unwrap();
        } else {
            store.defer(&over).unwrap();
        }
        index += 2;
        // A command has two events.
        tell(&(index / 2).to_string());
    }
}

fn begin(id: &SessionId, shell: ShellId, index: u64) -> Vec<Change> {
    let mut run = execution(id, shell);
    run.phase = Phase::Running;
    run.launch = Some(LaunchId(1));
    run.start = Some(EventIndex(index));
    let body = EventBody::CommandStart {
        command: run.command.clone(),
        cwd: run.cwd.clone(),
        pid: 1,
    };
    let what = AuditKind::Ran {
        cwd: run.cwd.clone(),
        sandbox: "none".to_owned(),
    };
    vec![
        Change::InsertExecution(run),
        told(shell, index, what),
        event(id, index, Some(shell), body),
    ]
}

fn end(id: &SessionId, shell: ShellId, index: u64) -> Vec<Change> {
    let outcome = Outcome {
        code: Some(0),
        ..Outcome::default()
    };
    let body = EventBody::Exit {
        command: String::new(),
        outcome: outcome.clone(),
    };
    let what = AuditKind::Ended {
        code: Some(0),
        how: "exited".to_owned(),
    };
    vec![
        event(id, index, Some(shell), body),
        Change::EndExecution {
            shell_id: shell,
            end: Some(EventIndex(index)),
            ended_ms: 20,
            outcome,
        },
        told(shell, index, what),
    ]
}

fn told(shell: ShellId, index: u64, what: AuditKind) -> Change {
    let mut entry = entry(index.cast_signed(), what);
    entry.shell_id = shell.0;
    Change::Audit(entry)
}

/// Tells the parent, at once.
fn tell(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
}
