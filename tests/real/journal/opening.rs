//! A data directory that cannot be had: the program says why, what to do, and
//! touches nothing.

use super::disk::SmallDisk;
use shellglass_tests::{Daemon, program};
use std::path::Path;
use std::process::{Command, Output};

/// Tries to serve from a data directory.
fn serve(home: &Path, data: &Path) -> Output {
    Command::new(program())
        .env("SHELLGLASS_HOME", home)
        .arg("serve")
        .arg("--data-dir")
        .arg(data)
        .output()
        .unwrap()
}

/// Checks that it is refused, with these words and a hint.
fn assert_refused(output: &Output, words: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for word in words.iter().chain(&["hint:"]) {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn a_second_daemon_is_told_who_has_the_directory() {
    let daemon = Daemon::start("");
    let data = daemon.home().join("data");
    let pid = format!("pid {}", daemon.pid());
    assert_refused(&serve(daemon.home(), &data), &["in use", &pid]);
}

#[test]
fn a_read_only_disk_is_named() {
    let home = tempfile::tempdir().unwrap();
    let disk = SmallDisk::new(4);
    disk.mount("remount,ro");
    let path = disk.path().to_str().unwrap();
    assert_refused(
        &serve(home.path(), disk.path()),
        &[path, "cannot be written"],
    );
}

#[test]
fn a_journal_of_a_newer_program_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let journal = data.join("journal.db");
    std::fs::write(&journal, empty_database(99)).unwrap();
    assert_refused(&serve(home.path(), &data), &["format 99"]);
    let after = std::fs::read(&journal).unwrap();
    assert_eq!(after, empty_database(99), "it is as it was");
}

#[test]
fn a_damaged_journal_is_named() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("journal.db"), vec![0x5a; 8192]).unwrap();
    assert_refused(&serve(home.path(), &data), &["journal.db", "damaged"]);
}

/// A SQLite database without a table, whose user gave it this version.
fn empty_database(version: u32) -> Vec<u8> {
    let mut page = vec![0; 512];
    page[..16].copy_from_slice(b"SQLite format 3\0");
    // The length of a page, the file formats, and the payload fractions.
    page[16..24].copy_from_slice(&[2, 0, 1, 1, 0, 64, 32, 32]);
    for (at, value) in [
        (24, 1),
        (28, 1),
        (44, 4),
        (56, 1),
        (60, version),
        (92, 1),
        (96, 3_045_000),
    ] {
        page[at..at + 4].copy_from_slice(&u32::to_be_bytes(value));
    }
    // An empty leaf of the table of tables.
    page[100] = 13;
    page[105..107].copy_from_slice(&u16::to_be_bytes(512));
    page
}
