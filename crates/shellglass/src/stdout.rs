//! Data goes to standard output, and only through here.

use crate::error::{Failure, Kind};
use std::io::{self, ErrorKind, Write as _};

/// Whether anybody still reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// All was written.
    There,
    /// The reader closed its end, as `head` does.
    Gone,
}

/// Writes all of it at once.
pub(crate) fn write(bytes: &[u8]) -> Result<Reader, Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(Reader::There),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(error) => Err(Failure::new(
            Kind::Broken,
            format!("standard output cannot be written: {error}"),
        )),
    }
}

/// Writes a text; a reader that has gone has what it wanted.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    write(text.as_bytes()).map(|_| ())
}

/// Writes one JSON value and a newline.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    print(&format!("{value:#}\n"))
}
