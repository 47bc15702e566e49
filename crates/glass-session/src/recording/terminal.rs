//! Recording what comes from a terminal, which cannot be spliced: it has been
//! read already, and is appended.

use super::channel::{Channel, Source, Step};
use super::{Begun, EVENT_BYTES_MAX, Pending, Recording};
use crate::actor::OutputEnd;
use glass_model::{ShellId, Stream};
use glass_store::{SpliceError, Store};
use rustix::io::Errno;
use std::io;

/// More than a terminal ever holds for its reader, in bytes.
pub(super) const HELD_BYTES_MAX: u64 = 1 << 20;

/// Bytes that one read of a terminal takes.
const READ_BYTES: usize = 16 * 1024;

impl Recording {
    /// Begins, or goes on, recording a terminal. Bytes that are in the file
    /// without an event are pending at once.
    pub(crate) fn of_terminal(
        store: &Store,
        shell_id: ShellId,
        named: OutputEnd,
        begun: Begun,
    ) -> Recording {
        let channel = |stream, named| {
            let writer = store.output_writer(shell_id, stream);
            let length = match begun {
                Begun::Now => 0,
                Begun::Before => writer.len(),
            };
            Channel {
                stream,
                source: Source::Gone,
                writer,
                length,
                named,
                trimmed: 0,
                enlarged: false,
                is_terminal: false,
            }
        };
        let channels = [
            channel(Stream::Stdout, named.stdout),
            channel(Stream::Stderr, named.stderr),
        ];
        let count = channels[0].length.saturating_sub(channels[0].named);
        let mut recording = Recording {
            shell_id,
            channels,
            position: named.position,
            pending: Vec::new(),
            guards: None,
            own: None,
            event_bytes_max: EVENT_BYTES_MAX,
        };
        recording.note(Pending::Bytes {
            stream: Stream::Stdout,
            count,
        });
        recording
    }

    /// Says that standard output is our end of a terminal.
    pub(crate) fn of_own_terminal(mut self) -> Recording {
        self.channels[0].is_terminal = true;
        self
    }

    /// Moves what the terminal of a command has.
    pub(super) fn step_terminal(&mut self, budget: usize, store: &Store) -> io::Result<Step> {
        let mut buffer = [0; READ_BYTES];
        let most = budget.min(READ_BYTES);
        let read = loop {
            let Some(fd) = self.channels[0].fd() else {
                return Ok(Step::Ended);
            };
            match rustix::io::read(fd, &mut buffer[..most]) {
                Err(Errno::INTR) => {}
                read => break read,
            }
        };
        match read {
            // The last process that had it is gone.
            Ok(0) | Err(Errno::IO) => {
                self.channels[0].end();
                Ok(Step::Ended)
            }
            Ok(count) => {
                self.append(store, &buffer[..count])?;
                Ok(Step::Moved(count as u64))
            }
            Err(Errno::AGAIN) => {
                if let Source::Open(fd) = &self.channels[0].source {
                    fd.exhausted();
                }
                Ok(Step::Blocked)
            }
            Err(errno) => Err(errno.into()),
        }
    }

    /// Records bytes. Where they cannot be kept, they are counted.
    pub(crate) fn append(&mut self, store: &Store, bytes: &[u8]) -> io::Result<()> {
        let count = bytes.len() as u64;
        let channel = &mut self.channels[0];
        let appended = match store.disk_low() {
            true => Err(SpliceError::DiskFull),
            false => channel.writer.append(bytes),
        };
        let pending = match appended {
            Ok(()) => {
                channel.length += count;
                Pending::Bytes {
                    stream: Stream::Stdout,
                    count,
                }
            }
            Err(SpliceError::DiskFull) => Pending::Lost {
                bytes: count,
                reason: "the disk is almost full",
            },
            Err(SpliceError::Io(error)) => {
                self.note(Pending::Lost {
                    bytes: count,
                    reason: "its file could not be written",
                });
                return Err(error);
            }
        };
        self.note(pending);
        Ok(())
    }

    /// How many bytes the file of a terminal has.
    pub(crate) fn recorded_bytes(&self) -> u64 {
        self.channels[0].length
    }
}
