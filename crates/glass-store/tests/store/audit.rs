//! The audit: whoever tampers with it is found out.

mod killed;

use glass_model::{AuditCheck, AuditEntry, AuditHash, AuditKind, Limits, Phase, Verdict};
use glass_store::{AuditFilter, Change, Store};
use rusqlite::Connection;
use std::path::Path;

use crate::fixture::{Tape, event, open, roomy, session};

/// Entries of a chain that is tampered with.
const ENTRIES: u64 = 6;

fn entry(at_ms: i64, what: AuditKind) -> AuditEntry {
    AuditEntry {
        at_ms,
        session: session(1).id.as_str().to_owned(),
        shell_id: 7,
        task: "a task".to_owned(),
        asked_by: "agent:a task".to_owned(),
        what,
        command: format!("echo {at_ms} \u{1b}é"),
        detail: "a detail".to_owned(),
    }
}

/// One of every kind.
fn kinds() -> Vec<AuditKind> {
    let decided = |verdict| AuditKind::Decided {
        verdict,
        by: "built-in: git status".to_owned(),
        reason: "reads".to_owned(),
    };
    vec![
        decided(Verdict::Allow),
        decided(Verdict::Deny),
        AuditKind::Asked {
            approval_id: "a-1".to_owned(),
            reason: "no rule allows it".to_owned(),
            deadline_ms: -5,
        },
        AuditKind::Answered {
            approval_id: "a-1".to_owned(),
            approved: true,
            by: "person".to_owned(),
            scope: "once".to_owned(),
            reason: String::new(),
        },
        AuditKind::Ran {
            cwd: "/tmp".to_owned(),
            sandbox: "rw".to_owned(),
        },
        AuditKind::Ended {
            code: Some(-1),
            how: "exited".to_owned(),
        },
    ]
}

fn entries() -> Vec<AuditEntry> {
    kinds()
        .into_iter()
        .zip(1..)
        .map(|(kind, at)| entry(at, kind))
        .collect()
}

fn write(store: &Store, entries: &[AuditEntry]) {
    let changes: Vec<Change> = entries.iter().cloned().map(Change::Audit).collect();
    store.commit(&changes).unwrap();
}

fn everything(store: &Store, filter: &AuditFilter) -> Vec<AuditEntry> {
    let mut found = Vec::new();
    let mut at = Some(0);
    while let Some(from) = at {
        let page = store.audit(from, filter).unwrap();
        found.extend(page.records.into_iter().map(|record| record.entry));
        at = page.next;
    }
    found
}

fn verified(store: &Store) -> AuditCheck {
    store.verify_audit(None).unwrap()
}

/// The first broken entry.
fn broken(store: &Store) -> u64 {
    let check = verified(store);
    let number = check.broken.as_ref().map(|broken| broken.number);
    number.unwrap_or_else(|| panic!("{check:?}"))
}

/// A data directory with a chain, and somebody who can write to its database.
fn tampered(sql: &str) -> AuditCheck {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    write(&store, &entries());
    assert_eq!(verified(&store).broken, None);
    tamper(dir.path(), sql);
    let found = verified(&store);
    drop(store);
    // A new daemon finds the same, and more that is written does not mend it.
    let store = open(dir.path());
    assert_eq!(verified(&store), found, "{sql}");
    write(&store, &entries());
    let later = verified(&store);
    assert_eq!(
        later.broken.is_some(),
        found.broken.is_some(),
        "{sql}: {later:?}"
    );
    found
}

fn tamper(dir: &Path, sql: &str) {
    let conn = Connection::open(dir.join("journal.db")).unwrap();
    conn.execute_batch(sql)
        .unwrap_or_else(|error| panic!("{error}: {sql}"));
}

#[test]
fn entries_are_read_as_they_were_written_and_hold() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let empty = verified(&store);
    assert_eq!((empty.entries, empty.first, empty.last), (0, 1, 0));
    assert_eq!((empty.head, empty.broken), (AuditHash::default(), None));
    write(&store, &entries());
    assert_eq!(everything(&store, &AuditFilter::default()), entries());
    let check = verified(&store);
    assert_eq!(
        (check.entries, check.first, check.last),
        (ENTRIES, 1, ENTRIES)
    );
    assert_eq!(check.broken, None);
    let records = store.audit(0, &AuditFilter::default()).unwrap().records;
    assert_eq!(records[0].prev_hash, AuditHash::default());
    for pair in records.windows(2) {
        assert_eq!(pair[0].hash, pair[1].prev_hash);
        assert_eq!(pair[0].number + 1, pair[1].number);
    }
    assert_eq!(records.last().unwrap().hash, check.head);
    drop(store);
    assert_eq!(verified(&open(dir.path())), check);
}

#[test]
fn a_hash_is_what_the_manual_says() {
    // Computed by another program over the bytes that docs/audit.md lists.
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let first = AuditEntry {
        at_ms: 1000,
        session: "s-a".to_owned(),
        shell_id: 2,
        task: String::new(),
        asked_by: "person".to_owned(),
        what: AuditKind::Ran {
            cwd: "/".to_owned(),
            sandbox: "none".to_owned(),
        },
        command: "ls".to_owned(),
        detail: String::new(),
    };
    write(&store, &[first]);
    let expected = "1e8b66a790c18433d35ff0e8cb85e05e85a33176f236b56e0a7a175a521eb466";
    assert_eq!(verified(&store).head.to_string(), expected);
}

#[test]
fn entries_are_found_by_time_session_and_number() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut all = entries();
    all[4].session = "s-other".to_owned();
    write(&store, &all);
    let since = AuditFilter {
        since_ms: Some(4),
        ..AuditFilter::default()
    };
    assert_eq!(everything(&store, &since), all[3..]);
    let other = AuditFilter {
        session: Some("s-other".to_owned()),
        ..AuditFilter::default()
    };
    assert_eq!(everything(&store, &other), all[4..5]);
    let newest = |max, filter: &AuditFilter| store.audit_newest(max, filter).unwrap();
    assert_eq!(newest(2, &AuditFilter::default()), 5);
    assert_eq!(newest(100, &AuditFilter::default()), 1);
    assert_eq!(newest(1, &other), 5);
    let nobody = AuditFilter {
        session: Some("s-nobody".to_owned()),
        ..AuditFilter::default()
    };
    assert_eq!(newest(3, &nobody), u64::MAX);
    assert_eq!(everything(&store, &nobody), []);
}

#[test]
fn a_changed_column_shows_in_every_row() {
    let changes = [
        "at_ms = at_ms + 1",
        "shell_id = shell_id - 1",
        "kind = (kind + 1) % 5",
        "session = upper(session)",
        "task = ''",
        "asked_by = 'person'",
        "command = command || ' '",
        "detail = detail || 'x'",
        "prev_hash = randomblob(32)",
        "prev_hash = x''",
        "hash = zeroblob(32)",
        "hash = CAST(hex(hash) AS BLOB)",
        "payload = CAST(hex(payload) AS BLOB)",
    ];
    for number in 1..=ENTRIES {
        for change in changes {
            let sql = format!("UPDATE audit SET {change} WHERE number = {number}");
            let found = tampered(&sql);
            let broken = found.broken.unwrap_or_else(|| panic!("{sql}"));
            assert_eq!(broken.number, number, "{change}: {}", broken.why);
            assert_eq!(found.entries, number - 1, "{change}");
        }
    }
}

#[test]
fn bytes_that_move_from_one_column_to_the_next_show() {
    let sql = "UPDATE audit SET task = task || substr(asked_by, 1, 1), \
         asked_by = substr(asked_by, 2) WHERE number = 3";
    assert_eq!(tampered(sql).broken.unwrap().number, 3);
}

#[test]
fn a_removed_row_shows_wherever_it_was() {
    for number in 1..=ENTRIES {
        let found = tampered(&format!("DELETE FROM audit WHERE number = {number}"));
        let broken = found.broken.unwrap();
        assert_eq!(broken.number, number);
        assert!(broken.why.contains("missing"), "{}", broken.why);
    }
    let all = tampered("DELETE FROM audit");
    assert_eq!(all.broken.unwrap().number, 1);
    let tail = tampered("DELETE FROM audit WHERE number > 4");
    assert_eq!(tail.broken.unwrap().number, 5);
}

#[test]
fn a_removed_row_shows_although_the_others_were_renumbered() {
    let sql = "DELETE FROM audit WHERE number = 3; \
         UPDATE audit SET number = -number WHERE number > 3; \
         UPDATE audit SET number = -number - 1 WHERE number < 0";
    assert_eq!(tampered(sql).broken.unwrap().number, 3);
}

#[test]
fn swapped_rows_show() {
    let sql = "UPDATE audit SET number = -1 WHERE number = 2; \
         UPDATE audit SET number = 2 WHERE number = 4; \
         UPDATE audit SET number = 4 WHERE number = -1";
    assert_eq!(tampered(sql).broken.unwrap().number, 2);
}

#[test]
fn an_inserted_row_shows_wherever_it_is() {
    let copy = "INSERT INTO audit (number, prev_hash, hash, at_ms, session, shell_id, task, \
         asked_by, kind, payload, command, detail) SELECT {n}, prev_hash, hash, at_ms, session, \
         shell_id, task, asked_by, kind, payload, command, detail FROM audit WHERE number = 2";
    for (number, expected) in [(0, 0), (-4, 0), (7, 7), (900, 900), (i64::MAX, i64::MAX)] {
        let found = tampered(&copy.replace("{n}", &number.to_string()));
        assert_eq!(found.broken.unwrap().number, expected.cast_unsigned());
    }
    let between = "UPDATE audit SET number = -number WHERE number > 2; \
         UPDATE audit SET number = 1 - number WHERE number < 0;";
    let found = tampered(&format!("{between} {}", copy.replace("{n}", "3")));
    assert_eq!(found.broken.unwrap().number, 3);
}

#[test]
fn a_changed_note_of_the_ends_shows() {
    for sql in [
        "UPDATE audit_chain SET first = 2",
        "UPDATE audit_chain SET first = 0",
        "UPDATE audit_chain SET first_prev_hash = CAST('x' AS BLOB)",
        "UPDATE audit_chain SET first_prev_hash = (SELECT hash FROM audit WHERE number = 2)",
        "UPDATE audit_chain SET last = 7",
        "UPDATE audit_chain SET last_hash = zeroblob(32)",
        "UPDATE audit_chain SET last_hash = zeroblob(31)",
        "DELETE FROM audit_chain",
    ] {
        assert!(tampered(sql).broken.is_some(), "{sql}");
    }
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    write(&store, &entries());
    tamper(dir.path(), "UPDATE audit_chain SET last = 5");
    assert_eq!(broken(&store), 6);
}

#[test]
fn a_note_that_makes_no_sense_keeps_nobody_from_writing() {
    for last in [i64::MIN, -1, i64::MAX] {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        write(&store, &entries());
        drop(store);
        tamper(dir.path(), &format!("UPDATE audit_chain SET last = {last}"));
        let store = open(dir.path());
        write(&store, &entries());
        let all = everything(&store, &AuditFilter::default());
        assert_eq!(all, [entries(), entries()].concat());
    }
}

#[test]
fn a_foreign_row_in_the_way_keeps_nobody_from_writing() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    write(&store, &entries());
    let taken = "INSERT INTO audit SELECT 7, prev_hash, hash, at_ms, session, shell_id, task, \
         asked_by, kind, payload, command, detail FROM audit WHERE number = 2";
    tamper(dir.path(), taken);
    write(&store, &entries());
    assert_eq!(everything(&store, &AuditFilter::default()).len(), 13);
    assert_eq!(broken(&store), 7);
}

#[test]
fn a_chain_that_was_written_anew_is_told_by_a_noted_head() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    write(&store, &entries());
    let noted = verified(&store);
    let note = Some((noted.last, noted.head));
    write(&store, &entries());
    assert_eq!(store.verify_audit(note).unwrap().broken, None);
    drop(store);
    // Whoever can write the database can also begin anew, with hashes that fit.
    tamper(
        dir.path(),
        "DELETE FROM audit; \
         UPDATE audit_chain SET first = 1, first_prev_hash = zeroblob(32), last = 0, \
         last_hash = zeroblob(32)",
    );
    let store = open(dir.path());
    let missing = store.verify_audit(note).unwrap().broken.unwrap();
    assert!(missing.why.contains("missing"), "{}", missing.why);
    let mut forged = entries();
    forged[1].command = "something else".to_owned();
    write(&store, &forged);
    write(&store, &forged);
    assert_eq!(verified(&store).broken, None);
    let found = store.verify_audit(note).unwrap().broken.unwrap();
    assert_eq!(found.number, noted.last);
    assert!(found.why.contains("written anew"), "{}", found.why);
}

#[test]
fn an_entry_is_there_exactly_if_its_command_is() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let tape = Tape::begin(&store, 1);
    let remark = |index| {
        let body = glass_model::EventBody::Status {
            status: "x".to_owned(),
            detail: String::new(),
        };
        event(&tape.id, index, None, body)
    };
    let told = |at| Change::Audit(entry(at, kinds().remove(4)));
    store.commit(&[told(1), remark(0)]).unwrap();
    // The second event leaves a gap, so nothing of it is written.
    store.commit(&[told(2), remark(5)]).unwrap_err();
    store.commit(&[told(3), remark(1)]).unwrap();
    let times: Vec<i64> = everything(&store, &AuditFilter::default())
        .iter()
        .map(|entry| entry.at_ms)
        .collect();
    assert_eq!(times, [1, 3]);
    assert_eq!(verified(&store).broken, None);
}

#[test]
fn the_oldest_go_and_the_rest_still_holds() {
    let dir = tempfile::tempdir().unwrap();
    let limits = Limits {
        audit_rows_max: 4,
        ..roomy()
    };
    let store = Store::open(dir.path(), &limits).unwrap();
    for _ in 0..200 {
        write(&store, &entries());
    }
    let whole = verified(&store);
    let old = store
        .audit(3, &AuditFilter::default())
        .unwrap()
        .records
        .remove(0);
    assert_eq!(store.retain(0).unwrap().audit, 200 * ENTRIES - 4);
    let kept = verified(&store);
    assert_eq!((kept.entries, kept.first, kept.last), (4, 1197, 1200));
    assert_eq!((kept.head, kept.broken), (whole.head, None));
    assert_eq!(store.retain(0).unwrap().audit, 0);
    let note = |number, hash| store.verify_audit(Some((number, hash))).unwrap().broken;
    assert_eq!(note(whole.last, whole.head), None);
    let gone = note(old.number, old.hash).unwrap();
    assert!(gone.why.contains("older"), "{}", gone.why);
    write(&store, &entries());
    assert_eq!(verified(&store).entries, 4 + ENTRIES);
    drop(store);
    let store = open(dir.path());
    assert_eq!(verified(&store).broken, None);
    drop(store);
    tamper(dir.path(), "DELETE FROM audit WHERE number = 1197");
    assert_eq!(broken(&open(dir.path())), 1197);
}

#[test]
fn a_journal_of_the_first_format_gets_an_audit_and_keeps_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    tamper(dir.path(), include_str!("format_1.sql"));
    for opened in 1..=2 {
        let store = open(dir.path());
        let id = session(1).id;
        let found = store.session(&id).unwrap().unwrap();
        assert_eq!((found.env, found.task), (session(1).env, session(1).task));
        let runs = store.executions(&id).unwrap();
        let told: Vec<(&str, Phase)> = runs.iter().map(|r| (&*r.command, r.phase)).collect();
        assert_eq!(told, [("echo 1", Phase::Ended), ("echo 2", Phase::Queued)]);
        assert_eq!(store.cursor(&id).unwrap().next.0, 1);
        write(&store, &entries());
        assert_eq!(verified(&store).entries, opened * ENTRIES);
    }
}
