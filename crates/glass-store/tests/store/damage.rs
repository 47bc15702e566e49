//! A damaged directory opens or is refused, and never panics.

use std::path::{Path, PathBuf};

use glass_model::{EventIndex, Stream};
use glass_store::{Change, Store};
use proptest::prelude::*;

use crate::fixture::{Tape, open, roomy, session};

/// Makes a directory as a killed process leaves it, and names its files.
fn killed(dir: &Path) -> Vec<PathBuf> {
    let original = tempfile::tempdir().unwrap();
    let store = open(original.path());
    let mut tape = Tape::begin(&store, 1);
    for _ in 0..4 {
        let shell = tape.execution();
        tape.output(shell, Stream::Stdout, 300, 0);
        tape.output(shell, Stream::Stderr, 300, 300);
        tape.end(shell);
    }
    let mut files = Vec::new();
    let mut folders = vec![original.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(original.path()).unwrap();
            let copy = dir.join(name);
            if path.is_dir() {
                std::fs::create_dir_all(copy).unwrap();
                folders.push(path);
            } else if name != Path::new("reserve") {
                std::fs::copy(&path, &copy).unwrap();
                files.push(copy);
            }
        }
    }
    files.sort();
    files
}

/// Reads and changes whatever is there.
fn use_it(store: &Store) {
    for session in store.sessions(true).unwrap_or_default() {
        let _ = store.events(&session.id, EventIndex(0), 100);
        let _ = store.cursor(&session.id);
        for execution in store.executions(&session.id).unwrap_or_default() {
            let _ = store.recorded(execution.shell_id);
            let _ = store.output_events(execution.shell_id, 0, 100);
            let _ = store.read_output(execution.shell_id, Stream::Stdout, 0, 1000);
        }
    }
    let _ = store.commit(&[Change::InsertSession(session(9))]);
    let _ = store.retain(1 << 40);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn damage_never_panics(
        wounds in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>(), 0..8_u8),
            1..12,
        ),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let files = killed(dir.path());
        for (file, at, byte, how) in wounds {
            let path = file.get(&files);
            let mut bytes = std::fs::read(path).unwrap();
            if bytes.is_empty() {
                continue;
            }
            let length = bytes.len();
            let at = at.index(length);
            match how {
                0 => bytes.truncate(at),
                // Headers are where it hurts most.
                1..4 => bytes[at % 100.min(length)] = byte,
                _ => bytes[at] = byte,
            }
            std::fs::write(path, bytes).unwrap();
        }
        if let Ok(store) = Store::open(dir.path(), &roomy()) {
            use_it(&store);
        }
    }
}
