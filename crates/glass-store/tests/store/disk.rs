//! A disk that is really full.

use std::io::{Read, Write};
use std::os::fd::AsFd;

use glass_model::{EventBody, EventIndex, Limits, ShellId, Stream};
use glass_store::{Moved, SpliceError, Store, WriteError};

use crate::child;
use crate::fixture::{Tape, bytes_at, event, open, roomy};

#[test]
fn a_full_disk_loses_nothing_that_was_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut child) = child::of_test_with_mounts("disk::fills_its_disk", dir.path()) else {
        return;
    };
    assert!(child.status().unwrap().success());
}

#[test]
#[ignore = "is the child of the test above"]
fn fills_its_disk() {
    let Some(dir) = child::dir() else { return };
    child::mount(&[
        "-t",
        "tmpfs",
        "-o",
        "size=20m",
        "none",
        dir.to_str().unwrap(),
    ]);
    let store = open(&dir);
    assert!(dir.join("reserve").exists());
    let mut tape = Tape::begin(&store, 1);
    let shell = tape.execution();

    let recorded = splice_until_full(&store, shell);
    assert!(recorded > 15 << 20, "{recorded} bytes");
    let body = EventBody::Output {
        stream: Stream::Stdout,
        offset: 0,
        bytes: recorded,
        position: 0,
    };
    // The reserve makes room for what happened.
    tape.event(Some(shell), body.clone());
    tape.end(shell);

    // Then even that runs out, and says so, again and again.
    let refused = (0..).find_map(|_| {
        let text = "x".repeat(10_000);
        let body = EventBody::Status {
            status: text,
            detail: String::new(),
        };
        let refused = store
            .commit(&[event(&tape.id, tape.index, None, body)])
            .err();
        tape.index += u64::from(refused.is_none());
        refused
    });
    assert!(matches!(refused, Some(WriteError::DiskFull)), "{refused:?}");
    assert!(!dir.join("reserve").exists());
    let committed = tape.index;
    check(&store, &tape, committed, recorded);

    // Dropping output works on a full disk too; with the room that it gives
    // back, everything goes on where it was.
    let gone = store
        .trim_execution(shell, Stream::Stdout, 0, "full")
        .unwrap();
    assert_eq!(gone, recorded);
    tape.event(None, EventBody::Disposed);
    store.retain(0).unwrap();
    assert!(dir.join("reserve").exists());
    let id = tape.id.clone();
    drop(store);
    let store = open(&dir);
    assert_eq!(store.cursor(&id).unwrap().next, EventIndex(committed + 1));
}

#[test]
fn a_journal_on_a_full_disk_can_be_opened_and_written() {
    let dir = tempfile::tempdir().unwrap();
    let name = "disk::opens_on_a_full_disk";
    let Some(mut child) = child::of_test_with_mounts(name, dir.path()) else {
        return;
    };
    assert!(child.status().unwrap().success());
}

#[test]
#[ignore = "is the child of the test above"]
fn opens_on_a_full_disk() {
    let Some(dir) = child::dir() else { return };
    child::mount(&[
        "-t",
        "tmpfs",
        "-o",
        "size=20m",
        "none",
        dir.to_str().unwrap(),
    ]);
    let store = open(&dir);
    let mut tape = Tape::begin(&store, 1);
    tape.event(None, EventBody::Disposed);
    let id = tape.id.clone();
    drop(store);
    let mut junk = std::fs::File::create(dir.join("junk")).unwrap();
    while junk.write(&[1; 4096]).is_ok_and(|bytes| bytes > 0) {}

    let store = open(&dir);
    let mut tape = Tape {
        store: &store,
        id,
        index: 1,
    };
    for _ in 0..100 {
        tape.event(None, EventBody::Disposed);
    }
    assert_eq!(tape.bodies().len(), 101);
}

/// Records output until there is no room; checks that nothing was consumed by
/// the attempt that failed.
fn splice_until_full(store: &Store, shell: ShellId) -> u64 {
    let mut writer = store.output_writer(shell, Stream::Stdout);
    loop {
        let (mut reader, mut pipe) = std::io::pipe().unwrap();
        let sent = bytes_at(Stream::Stdout, writer.len(), 60_000);
        pipe.write_all(&sent).unwrap();
        drop(pipe);
        let mut moved = 0;
        let full = loop {
            match writer.splice_from(reader.as_fd(), 60_000) {
                Ok(Moved::Bytes(bytes)) => moved += bytes,
                Ok(Moved::End) => break false,
                Err(SpliceError::DiskFull) => break true,
                other => panic!("{other:?}"),
            }
        };
        if full {
            let mut rest = Vec::new();
            reader.read_to_end(&mut rest).unwrap();
            assert!(
                rest == sent[moved as usize..],
                "a failed attempt took bytes"
            );
            return writer.len();
        }
    }
}

fn check(store: &Store, tape: &Tape<'_>, events: u64, recorded: u64) {
    assert_eq!(store.cursor(&tape.id).unwrap().next, EventIndex(events));
    assert_eq!(
        store.events(&tape.id, EventIndex(0), 9999).unwrap().len() as u64,
        events
    );
    let read = store
        .read_output(ShellId(1), Stream::Stdout, 0, usize::MAX)
        .unwrap();
    assert!(
        read == bytes_at(Stream::Stdout, 0, recorded),
        "recorded bytes changed"
    );
}

#[test]
fn too_little_free_space_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let limits = Limits {
        disk_free_bytes_min: u64::MAX,
        ..roomy()
    };
    let store = Store::open(dir.path(), &limits).unwrap();
    assert!(store.disk_low());
    drop(store);
    assert!(!open(dir.path()).disk_low());
}

#[test]
fn what_was_put_off_waits_for_room() {
    let dir = tempfile::tempdir().unwrap();
    let test = "disk::puts_off_and_fills";
    let Some(mut child) = child::of_test_with_mounts(test, dir.path()) else {
        return;
    };
    assert!(child.status().unwrap().success());
}

#[test]
#[ignore = "is the child of the test above"]
fn puts_off_and_fills() {
    let Some(dir) = child::dir() else { return };
    child::mount(&[
        "-t",
        "tmpfs",
        "-o",
        "size=32m",
        "none",
        dir.to_str().unwrap(),
    ]);
    let store = open(&dir);
    let tape = Tape::begin(&store, 1);
    let shell = store.next_shell_id();
    let running = glass_model::Execution {
        phase: glass_model::Phase::Running,
        launch: Some(glass_model::LaunchId(1)),
        start: Some(EventIndex(0)),
        // More than the database has room for where it stands.
        command: "x".repeat(100_000),
        ..crate::fixture::execution(&tape.id, shell)
    };
    store
        .defer(&[glass_store::Change::InsertExecution(running.clone())])
        .unwrap();
    drop(store);
    std::fs::remove_file(dir.join("reserve")).unwrap();
    let mut filler = std::fs::File::create(dir.join("filler")).unwrap();
    while filler.write_all(&[1; 4096]).is_ok() {}
    drop(filler);

    for _ in 0..2 {
        let refused = Store::open(&dir, &roomy()).err();
        assert!(refused.is_some(), "there is no room for what was put off");
    }
    std::fs::remove_file(dir.join("filler")).unwrap();
    let store = open(&dir);
    assert_eq!(store.execution(shell).unwrap(), Some(running));
    assert!(store.next_shell_id() > shell);
}
