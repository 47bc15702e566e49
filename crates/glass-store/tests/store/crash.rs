//! Kill -9 at random moments, between and inside of splices and commits.

use std::io::Write;
use std::os::fd::AsFd;
use std::time::Duration;

use glass_model::{EventBody, EventIndex, ShellId, Stream};
use glass_store::{Change, Moved, Store};

use crate::child;
use crate::fixture::{byte_at, bytes_at, end, event, execution, open, session};

const KILLS: u32 = 50;
/// The longest that a child lives before it is killed, in microseconds.
const LIFE_US_MAX: u64 = 30_000;
const SHELL: ShellId = ShellId(1);

/// The test that is the child.
const CHILD: &str = "crash::writes_until_it_is_killed";

#[test]
fn a_kill_at_any_moment_loses_no_byte_and_no_commit() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let session = session(1);
    assert_eq!(store.next_shell_id(), SHELL);
    store
        .commit(&[
            Change::InsertSession(session.clone()),
            Change::InsertExecution(execution(&session.id, SHELL)),
        ])
        .unwrap();
    drop(store);

    let mut random = 0x2545_F491_4F6C_DD1Du64;
    let mut recorded = 0;
    for _ in 0..KILLS {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let told = child::kill_after(
            CHILD,
            dir.path(),
            Duration::from_micros((random >> 33) % LIFE_US_MAX),
        );
        let store = open(dir.path());
        let next = store.cursor(&session.id).unwrap().next.0;
        assert!(
            next >= recorded.max(told),
            "{told} commits were confirmed, {next} are there"
        );
        recorded = next;
        check(&store);
    }
    assert!(
        recorded > 100,
        "only {recorded} events in all: nothing was tested"
    );
}

/// The files hold a prefix of what was sent; the events name it without gaps,
/// and name nothing beyond.
fn check(store: &Store) {
    let id = session(1).id;
    let events = store.events(&id, EventIndex(0), usize::MAX).unwrap();
    let mut named = [0u64; 2];
    let mut position = 0;
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event.index.0, index as u64);
        let EventBody::Output {
            stream,
            offset,
            bytes,
            position: at,
        } = event.body
        else {
            continue;
        };
        assert_eq!(offset, named[stream as usize]);
        assert_eq!(at, position);
        named[stream as usize] += bytes;
        position += bytes;
    }
    for stream in [Stream::Stdout, Stream::Stderr] {
        let bytes = store.read_output(SHELL, stream, 0, usize::MAX).unwrap();
        assert!(
            bytes.len() as u64 >= named[stream as usize],
            "an event names bytes beyond"
        );
        let wrong = bytes
            .iter()
            .zip(0..)
            .position(|(byte, at)| *byte != byte_at(stream, at));
        assert_eq!(wrong, None, "a byte of {stream:?} is not what was sent");
    }
}

#[test]
#[ignore = "is the child of the test above"]
fn writes_until_it_is_killed() {
    let Some(dir) = child::dir() else { return };
    let store = open(&dir);
    let id = session(1).id;
    let mut index = store.cursor(&id).unwrap().next.0;
    let events = store.events(&id, EventIndex(0), usize::MAX).unwrap();
    let mut named = [0u64; 2];
    for event in &events {
        if let EventBody::Output { stream, bytes, .. } = event.body {
            named[stream as usize] += bytes;
        }
    }
    tell("writing");
    let streams = [Stream::Stdout, Stream::Stderr];
    let mut writers = streams.map(|stream| store.output_writer(SHELL, stream));
    for round in 0u64.. {
        let which = (round % 2) as usize;
        let (stream, writer) = (streams[which], &mut writers[which]);
        let (reader, mut pipe) = std::io::pipe().unwrap();
        let sent = bytes_at(stream, writer.len(), 1 + round * 37 % 5000);
        pipe.write_all(&sent).unwrap();
        drop(pipe);
        while let Moved::Bytes(_) = writer.splice_from(reader.as_fd(), 1500).unwrap() {}
        let (offset, position) = (named[which], named[0] + named[1]);
        let bytes = writer.len() - offset;
        let body = EventBody::Output {
            stream,
            offset,
            bytes,
            position,
        };
        let shell = store.next_shell_id();
        store
            .commit(&[
                event(&id, index, Some(SHELL), body),
                Change::InsertExecution(execution(&id, shell)),
                end(shell),
            ])
            .unwrap();
        named[which] += bytes;
        index += 1;
        tell(&index.to_string());
    }
}

/// Tells the parent, at once.
fn tell(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
}
