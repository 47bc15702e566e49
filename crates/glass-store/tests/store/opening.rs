//! A data directory that cannot be had says why.

use std::os::unix::fs::{PermissionsExt, symlink};

use glass_store::{OpenError, Store};

use crate::child;
use crate::fixture::{open, roomy, session};

fn refusal(dir: &std::path::Path) -> OpenError {
    match Store::open(dir, &roomy()) {
        Ok(_) => panic!("{} was opened", dir.display()),
        Err(error) => error,
    }
}

#[test]
fn the_directory_is_made_and_private() {
    let base = tempfile::tempdir().unwrap();
    let dir = base.path().join("a/b");
    drop(open(&dir));
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o755)).unwrap();
    let store = open(&dir);
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&dir) & 0o777, 0o700);
    assert_eq!(mode(&dir.join("lock")) & 0o777, 0o600);
    drop(store);
}

#[test]
fn a_second_owner_is_told_who_the_first_is() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let error = refusal(dir.path());
    let said = error.to_string();
    assert!(matches!(error, OpenError::Locked { pid: Some(pid), .. } if pid == std::process::id()));
    assert!(
        said.contains(&format!("(pid {})", std::process::id())),
        "{said}"
    );
    let clone = store.clone();
    drop(store);
    assert!(matches!(refusal(dir.path()), OpenError::Locked { .. }));
    drop(clone);
    drop(open(dir.path()));
}

#[test]
fn a_file_is_not_a_data_directory() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(matches!(refusal(&file), OpenError::NotADirectory { .. }));
    assert!(matches!(
        refusal(&file.join("below")),
        OpenError::NotADirectory { .. }
    ));
}

#[test]
fn a_newer_format_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    let path = dir.path().join("journal.db");
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    drop(conn);
    let before = std::fs::read(&path).unwrap();
    assert!(matches!(
        refusal(dir.path()),
        OpenError::NewerSchema { found: 99, known } if known < 99
    ));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_damaged_journal_is_called_damaged() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("journal.db"),
        "this is not a database".repeat(500),
    )
    .unwrap();
    assert!(matches!(refusal(dir.path()), OpenError::Corrupt { .. }));
}

#[test]
fn a_lock_that_is_a_link_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let victim = dir.path().join("victim");
    std::fs::write(&victim, "precious").unwrap();
    symlink(&victim, dir.path().join("lock")).unwrap();
    assert!(matches!(refusal(dir.path()), OpenError::Io { .. }));
    assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
}

#[test]
fn a_read_only_directory_is_called_read_only() {
    let dir = tempfile::tempdir().unwrap();
    let name = "opening::finds_its_directory_read_only";
    let Some(mut child) = child::of_test_with_mounts(name, dir.path()) else {
        return;
    };
    assert!(child.status().unwrap().success());
}

#[test]
#[ignore = "is the child of the test above"]
fn finds_its_directory_read_only() {
    let Some(dir) = child::dir() else { return };
    let path = dir.to_str().unwrap();
    child::mount(&["-t", "tmpfs", "-o", "size=4m", "none", path]);
    let store = open(&dir);
    store
        .commit(&[glass_store::Change::InsertSession(session(1))])
        .unwrap();
    drop(store);
    child::mount(&["-o", "remount,ro", path]);
    assert!(matches!(refusal(&dir), OpenError::ReadOnly { .. }));
    assert!(matches!(
        refusal(&dir.join("new")),
        OpenError::ReadOnly { .. }
    ));
}
