//! From pipes to files.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;

use glass_model::{ShellId, Stream};
use glass_store::{Moved, OutputWriter};

use crate::fixture::open;

#[test]
fn no_file_is_made_before_the_first_byte() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let (reader, pipe) = std::io::pipe().unwrap();
    let mut writer = store.output_writer(ShellId(1234), Stream::Stderr);
    let path = store.output_path(ShellId(1234), Stream::Stderr);
    assert_eq!(path, dir.path().join("output/1/1234.err"));
    assert_eq!(
        writer.splice_from(reader.as_fd(), 100).unwrap(),
        Moved::WouldBlock
    );
    drop(pipe);
    assert_eq!(writer.splice_from(reader.as_fd(), 100).unwrap(), Moved::End);
    assert!(!path.exists());
    assert!(writer.is_empty());
    assert_eq!(
        store
            .read_output(ShellId(1234), Stream::Stderr, 0, 10)
            .unwrap(),
        b""
    );
}

#[test]
fn a_second_writer_goes_on_where_the_first_ended() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let shell = ShellId(1);
    for (text, end) in [("hello ", 6), ("world", 11)] {
        let (reader, mut pipe) = std::io::pipe().unwrap();
        let mut writer = store.output_writer(shell, Stream::Stdout);
        assert_eq!(writer.len(), end - text.len() as u64);
        pipe.write_all(text.as_bytes()).unwrap();
        assert_eq!(
            writer.splice_from(reader.as_fd(), 2).unwrap(),
            Moved::Bytes(2)
        );
        let rest = Moved::Bytes(text.len() as u64 - 2);
        assert_eq!(writer.splice_from(reader.as_fd(), 99).unwrap(), rest);
        assert_eq!(
            writer.splice_from(reader.as_fd(), 99).unwrap(),
            Moved::WouldBlock
        );
        assert_eq!(writer.len(), end);
    }
    let read = |offset, len| {
        store
            .read_output(shell, Stream::Stdout, offset, len)
            .unwrap()
    };
    assert_eq!(read(0, usize::MAX), b"hello world");
    assert_eq!(read(6, 3), b"wor");
    assert_eq!(read(9, 10), b"ld");
    assert_eq!(read(u64::MAX, 10), b"");
    let path = store.output_path(shell, Stream::Stdout);
    assert_eq!(
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn discarded_bytes_are_counted_and_gone() {
    let (mut reader, mut pipe) = std::io::pipe().unwrap();
    assert_eq!(
        OutputWriter::discard_from(reader.as_fd(), 9).unwrap(),
        Moved::WouldBlock
    );
    pipe.write_all(b"0123456789").unwrap();
    assert_eq!(
        OutputWriter::discard_from(reader.as_fd(), 9).unwrap(),
        Moved::Bytes(9)
    );
    drop(pipe);
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "9");
    assert_eq!(
        OutputWriter::discard_from(reader.as_fd(), 9).unwrap(),
        Moved::End
    );
}

#[test]
fn what_is_not_a_pipe_is_an_error_and_not_a_panic() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let file = std::fs::File::open("/dev/zero").unwrap();
    let mut writer = store.output_writer(ShellId(1), Stream::Stdout);
    assert!(writer.splice_from(file.as_fd(), 10).is_err());
}
