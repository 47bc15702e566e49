//! The keeper's log: its standard error, which its first daemon made a file.
//!
//! A keeper may live for months, and whoever knocks at its socket makes it write a
//! line; so a file that is full is begun anew. Nothing that goes wrong here is told
//! to anybody: the keeper must not die of its log.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use tracing::level_filters::LevelFilter;

/// What the file may grow to, in bytes.
const LOG_BYTES_MAX: u64 = 1024 * 1024;

/// Logs from now on. The level is fixed: daemons with settings come and go, and what
/// a keeper has to say is little.
pub(super) fn start() {
    let Ok(stderr) = io::stderr().as_fd().try_clone_to_owned() else {
        return;
    };
    let log = Bounded {
        file: File::from(stderr),
        bytes_max: LOG_BYTES_MAX,
    };
    let _ = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::INFO)
        .with_ansi(false)
        // It would print to where nothing could be written, and panic.
        .log_internal_errors(false)
        .with_writer(std::sync::Mutex::new(log))
        .try_init();
}

/// A file that is emptied before it grows too large.
struct Bounded {
    file: File,
    bytes_max: u64,
}

impl Write for Bounded {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let meta = self.file.metadata()?;
        let more = u64::try_from(line.len()).unwrap_or(u64::MAX);
        if meta.is_file() && meta.len().saturating_add(more) > self.bytes_max {
            self.file.set_len(0)?;
            self.file
                .write_all(b"(the log was full, and begins anew)\n")?;
        }
        self.file.write(line)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Bounded;
    use std::fs::OpenOptions;
    use std::io::Write;

    #[test]
    fn a_full_log_begins_anew() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("keeper.log");
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let mut log = Bounded {
            file: file.expect("a file"),
            bytes_max: 100,
        };
        for number in 0..50 {
            writeln!(log, "line {number}").expect("there is room");
            let bytes = std::fs::metadata(&path).expect("it is there").len();
            assert!(bytes <= 100, "{bytes} bytes after line {number}");
        }
        let text = std::fs::read_to_string(&path).expect("it is text");
        assert!(text.starts_with("(the log was full"), "{text}");
        assert!(text.ends_with("line 49\n"), "{text}");
    }
}
