//! Trimming keeps the head and the tail, counts what goes, and touches nothing
//! else.

use glass_model::{EventBody, ShellId, Stream};
use glass_store::Store;
use proptest::prelude::*;

use crate::fixture::{Tape, bytes_at, open};

/// Kept and dropped bytes of one stream; what is kept must read as written.
fn tally(store: &Store, tape: &Tape<'_>, shell: ShellId, stream: Stream) -> (u64, u64) {
    let (mut kept, mut dropped, mut position) = (0, 0, 0);
    for event in store.output_events(shell, 0, usize::MAX).unwrap() {
        match event.body {
            EventBody::Output {
                stream: of,
                offset,
                bytes,
                position: at,
            } => {
                assert_eq!(at, position);
                position += bytes;
                let read = store
                    .read_output(shell, of, offset, bytes as usize)
                    .unwrap();
                assert!(read == bytes_at(of, offset, bytes), "kept bytes changed");
                kept += if of == stream { bytes } else { 0 };
            }
            EventBody::Dropped {
                position: at,
                dropped: gone,
            } => {
                assert_eq!(
                    (at, gone.events, gone.reason.as_str()),
                    (position, 1, "too much")
                );
                position += gone.bytes;
                dropped += gone.bytes;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(tape.bodies().len() as u64, tape.index, "an event is gone");
    (kept, dropped)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn what_stays_and_what_goes_add_up(
        sizes in proptest::collection::vec((any::<bool>(), 1u64..6000), 1..40),
        more in proptest::collection::vec(1u64..6000, 0..20),
        keep in 0u64..60_000,
        ended: bool,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        let mut tape = Tape::begin(&store, 1);
        let shell = tape.execution();
        let (mut total, mut position) = (0, 0);
        for (out, bytes) in sizes {
            let stream = if out { Stream::Stdout } else { Stream::Stderr };
            tape.output(shell, stream, bytes, position);
            position += bytes;
            total += if out { bytes } else { 0 };
        }
        if ended {
            tape.end(shell);
        }
        let mut gone = store.trim_execution(shell, Stream::Stdout, keep, "too much").unwrap();
        let (kept, dropped) = tally(&store, &tape, shell, Stream::Stdout);
        prop_assert_eq!((kept + dropped, dropped), (total, gone));
        prop_assert!(kept <= keep || gone == 0);
        prop_assert_eq!(gone == 0, total <= keep);

        for bytes in more {
            tape.output(shell, Stream::Stdout, bytes, position);
            position += bytes;
            total += bytes;
        }
        gone += store.trim_execution(shell, Stream::Stdout, keep, "too much").unwrap();
        let (kept, dropped) = tally(&store, &tape, shell, Stream::Stdout);
        prop_assert_eq!((kept + dropped, dropped), (total, gone));
        prop_assert!(kept <= keep);
        prop_assert_eq!(store.output_writer(shell, Stream::Stdout).len(), total);
        prop_assert_eq!(store.trim_execution(shell, Stream::Stdout, keep, "").unwrap(), 0);
    }
}

#[test]
fn the_room_is_given_back_to_the_disk() {
    use std::os::unix::fs::MetadataExt;
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut tape = Tape::begin(&store, 1);
    let shell = tape.execution();
    for n in 0..64 {
        tape.output(shell, Stream::Stdout, 65_536, n * 65_536);
    }
    let path = store.output_path(shell, Stream::Stdout);
    let before = std::fs::metadata(&path).unwrap();
    assert_eq!(
        store
            .trim_execution(shell, Stream::Stdout, 8 * 65_536, "x")
            .unwrap(),
        56 * 65_536
    );
    let after = std::fs::metadata(&path).unwrap();
    assert_eq!(after.len(), before.len());
    assert!(
        after.blocks() <= before.blocks() / 4,
        "{} blocks are left",
        after.blocks()
    );
    assert_eq!(
        store
            .trim_execution(ShellId(99), Stream::Stdout, 0, "x")
            .unwrap(),
        0
    );
}
