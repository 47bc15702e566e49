//! The output of one execution, from its pipes to the journal.
//!
//! Bytes move from the pipe to the file in one system call, so the file is the
//! truth about them whatever kills us; the events that name them follow in
//! batches. Invariant: the events of a stream name its bytes in order, without
//! gap or overlap, and end between two characters where the stream is UTF-8.

mod channel;
mod own;
mod terminal;

use crate::actor::OutputEnd;
use crate::pipes::Pair;
use crate::ready::ReadyFd;
use crate::text::incomplete_suffix;
use channel::{Channel, Source, Step};
use glass_model::{Dropped, EventBody, ShellId, Stream};
use glass_store::{Moved, OutputWriter, ReadError, SpliceError, Store};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::task::Context;

pub(crate) use own::OwnOutputs;

/// Bytes that one event names at most, so that it fits a message.
const EVENT_BYTES_MAX: u64 = 256 * 1024;

/// A quota removes whole events, so that it holds at least so many of them.
const QUOTA_EVENTS_MIN: u64 = 16;

/// Bytes that one event may name however small the quota is.
const EVENT_BYTES_MIN: u64 = 4 * 1024;

/// Bytes moved for one execution before others get their turn.
const TURN_BYTES_MAX: usize = 1 << 20;

/// Something that has no event yet.
enum Pending {
    Bytes { stream: Stream, count: u64 },
    Lost { bytes: u64, reason: &'static str },
}

/// Both outputs of one execution.
pub(crate) struct Recording {
    shell_id: ShellId,
    channels: [Channel; 2],
    /// How much of the whole output has events.
    position: u64,
    pending: Vec<Pending>,
    /// Write ends of our own. A named pipe that its writer has not opened yet
    /// would otherwise look as if its last writer had left.
    guards: Option<Pair>,
    /// The shell's own outputs, where some of what belongs to the command
    /// arrives; lent for as long as it runs.
    own: Option<OwnOutputs>,
    /// How many bytes an event names at most.
    event_bytes_max: u64,
}

/// What a turn of moving bytes found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nothing more is there now.
    Quiet,
    /// There is more.
    More,
}

impl Recording {
    /// Begins, or goes on, recording. Bytes that are in the files without an
    /// event (the last daemon died in between) are pending at once.
    pub(crate) fn new(
        store: &Store,
        shell_id: ShellId,
        pipes: Pair,
        named: OutputEnd,
        begun: Begun,
    ) -> Recording {
        let channel = |stream, fd, named| {
            let writer = store.output_writer(shell_id, stream);
            let source = Source::Unwatched(fd);
            let length = match begun {
                Begun::Now => 0,
                Begun::Before => writer.len(),
            };
            Channel {
                stream,
                source,
                writer,
                length,
                named,
                trimmed: 0,
                enlarged: false,
                is_terminal: false,
            }
        };
        let channels = [
            channel(Stream::Stdout, pipes.0, named.stdout),
            channel(Stream::Stderr, pipes.1, named.stderr),
        ];
        let mut recording = Recording {
            shell_id,
            channels,
            position: named.position,
            pending: Vec::new(),
            guards: None,
            own: None,
            event_bytes_max: EVENT_BYTES_MAX,
        };
        for at in 0..2 {
            let channel = &recording.channels[at];
            let count = channel.length.saturating_sub(channel.named);
            recording.note(Pending::Bytes {
                stream: channel.stream,
                count,
            });
        }
        recording
    }

    /// Makes events small enough for a quota to keep a head and a tail of them.
    pub(crate) fn within(mut self, quota_bytes: u64) -> Recording {
        let share = quota_bytes / QUOTA_EVENTS_MIN;
        self.event_bytes_max = share.clamp(EVENT_BYTES_MIN, EVENT_BYTES_MAX);
        self
    }

    /// Waits from now on for what the pipes bring.
    pub(crate) fn watch(&mut self, guards: Option<Pair>) -> io::Result<()> {
        self.guards = guards;
        for channel in &mut self.channels {
            channel.source = match std::mem::replace(&mut channel.source, Source::Gone) {
                Source::Unwatched(fd) => Source::Open(ReadyFd::register(fd)?),
                other => other,
            };
        }
        Ok(())
    }

    /// Reads the shell's own outputs, too, until they are taken back.
    pub(crate) fn lend(&mut self, own: Option<OwnOutputs>) {
        self.own = own;
    }

    pub(crate) fn take_back(&mut self) -> Option<OwnOutputs> {
        self.own.take()
    }

    pub(crate) fn shell_id(&self) -> ShellId {
        self.shell_id
    }

    /// Whether a pipe may have something; else the task is woken later.
    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> bool {
        let mut readable = false;
        for channel in &self.channels {
            if let Source::Open(fd) = &channel.source {
                readable |= fd.poll_readable(cx);
            }
        }
        for (channel, fd) in self
            .channels
            .iter()
            .zip(self.own.iter().flat_map(|own| &own.0))
        {
            if !matches!(channel.source, Source::Unwatched(_)) {
                // A shell that gave its place to a program holds them no more.
                readable |= fd.poll_more_than(cx, 0);
            }
        }
        readable
    }

    /// Whether any process still holds one of the pipes, as far as is known.
    pub(crate) fn is_open(&self) -> bool {
        self.channels
            .iter()
            .any(|channel| matches!(channel.source, Source::Open(_) | Source::Unwatched(_)))
    }

    /// Whether bytes wait for their event.
    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Bytes that wait for their event.
    pub(crate) fn pending_bytes(&self) -> u64 {
        let bytes = |pending: &Pending| match pending {
            Pending::Bytes { count, .. } => *count,
            Pending::Lost { .. } => 0,
        };
        self.pending.iter().map(bytes).sum()
    }

    /// Moves what is in the pipes now.
    pub(crate) fn turn(&mut self, store: &Store) -> io::Result<Turn> {
        let mut turn = Turn::Quiet;
        // What the shell says of a command comes after what the command wrote
        // before: so it is counted first and read last.
        let own = [self.own_bytes(0)?, self.own_bytes(1)?];
        for (at, origin) in ORIGINS {
            // A pipe that nobody waits for may not have its writer yet, and
            // would look deserted; the turn is that of another execution.
            if matches!(self.channels[at].source, Source::Unwatched(_)) {
                continue;
            }
            let mut budget = match origin {
                Origin::Command => TURN_BYTES_MAX,
                Origin::Shell => own[at].min(TURN_BYTES_MAX),
            };
            if budget == 0 {
                if let Some(own) = &self.own {
                    own.0[at].exhausted();
                }
                continue;
            }
            while let Step::Moved(bytes) = self.step(at, origin, budget, store)? {
                budget = budget.saturating_sub(usize::try_from(bytes).unwrap_or(usize::MAX));
                if budget == 0 {
                    turn = Turn::More;
                    break;
                }
            }
        }
        Ok(turn)
    }

    /// Moves exactly what the command left in the pipes when it ended: later
    /// bytes of its background jobs are not waited for.
    pub(crate) fn drain(&mut self, store: &Store) -> io::Result<()> {
        self.guards = None;
        for (at, origin) in ORIGINS {
            let mut left = match self.fd(at, origin) {
                // It says what it has when it is read; what it can hold is bounded.
                Some(_) if self.channels[at].is_terminal => terminal::HELD_BYTES_MAX,
                Some(fd) => rustix::io::ioctl_fionread(fd)?,
                None => 0,
            };
            while left > 0 {
                let budget = usize::try_from(left)
                    .unwrap_or(usize::MAX)
                    .min(TURN_BYTES_MAX);
                match self.step(at, origin, budget, store)? {
                    Step::Moved(bytes) => left = left.saturating_sub(bytes),
                    Step::Blocked | Step::Ended => break,
                }
            }
            if origin == Origin::Command {
                // Once more, to learn whether a background job holds the pipe.
                self.step(at, origin, EVENT_BYTES_MAX as usize, store)?;
            }
        }
        Ok(())
    }

    /// How much the shell's own output has.
    fn own_bytes(&self, at: usize) -> io::Result<usize> {
        match self.fd(at, Origin::Shell) {
            Some(fd) => Ok(usize::try_from(rustix::io::ioctl_fionread(fd)?).unwrap_or(usize::MAX)),
            None => Ok(0),
        }
    }

    fn fd(&self, at: usize, origin: Origin) -> Option<BorrowedFd<'_>> {
        match origin {
            Origin::Command => self.channels[at].fd(),
            Origin::Shell => self.own.as_ref().map(|own| own.0[at].as_fd()),
        }
    }

    fn step(
        &mut self,
        at: usize,
        origin: Origin,
        budget: usize,
        store: &Store,
    ) -> io::Result<Step> {
        let channel = &mut self.channels[at];
        let own = self.own.as_ref().map(|own| &own.0[at]);
        let fd = match (origin, &channel.source, own) {
            (Origin::Shell, _, Some(own)) => own.as_fd(),
            (Origin::Command, Source::Open(fd), _) => fd.as_fd(),
            (Origin::Command, Source::Unwatched(fd) | Source::Ended(fd), _) => fd.as_fd(),
            (Origin::Command, Source::Gone, _) | (Origin::Shell, _, None) => {
                return Ok(Step::Ended);
            }
        };
        if channel.is_terminal && origin == Origin::Command {
            return self.step_terminal(budget, store);
        }
        let spliced = if store.disk_low() {
            Err(SpliceError::DiskFull)
        } else {
            channel.writer.splice_from(fd, budget)
        };
        let (moved, lost) = match spliced {
            Ok(moved) => (moved, None),
            Err(SpliceError::DiskFull) => (
                OutputWriter::discard_from(fd, budget)?,
                Some("the disk is almost full"),
            ),
            Err(SpliceError::Io(error)) => return Err(error),
        };
        match moved {
            Moved::Bytes(bytes) => {
                let stream = channel.stream;
                if lost.is_none() {
                    channel.length += bytes;
                }
                channel.enlarge_for(bytes);
                self.note(match lost {
                    None => Pending::Bytes {
                        stream,
                        count: bytes,
                    },
                    Some(reason) => Pending::Lost { bytes, reason },
                });
                Ok(Step::Moved(bytes))
            }
            Moved::WouldBlock => {
                match (origin, &channel.source, own) {
                    (Origin::Shell, _, Some(own)) => own.exhausted(),
                    (Origin::Command, Source::Open(fd), _) => fd.exhausted(),
                    _ => {}
                }
                Ok(Step::Blocked)
            }
            Moved::End => {
                match origin {
                    Origin::Command => channel.end(),
                    // The shell has gone, and nothing more will come.
                    Origin::Shell => self.own = None,
                }
                Ok(Step::Ended)
            }
        }
    }

    fn note(&mut self, pending: Pending) {
        match (self.pending.last_mut(), pending) {
            (_, Pending::Bytes { count: 0, .. }) => {}
            (
                Some(Pending::Bytes {
                    stream: last,
                    count,
                }),
                Pending::Bytes {
                    stream,
                    count: more,
                },
            ) if *last == stream => *count += more,
            (Some(Pending::Lost { bytes, .. }), Pending::Lost { bytes: more, .. }) => {
                *bytes += more;
            }
            (_, pending) => self.pending.push(pending),
        }
    }

    /// The events for everything that waits for one. Unless this is the `Last`
    /// time, an unfinished character at the end is held back.
    pub(crate) fn name(&mut self, store: &Store, when: When) -> Result<Vec<EventBody>, ReadError> {
        let mut bodies = Vec::new();
        let mut held_back = Vec::new();
        for pending in std::mem::take(&mut self.pending) {
            match pending {
                Pending::Lost { bytes, reason } => {
                    let dropped = Dropped {
                        bytes,
                        events: 1,
                        reason: reason.to_owned(),
                    };
                    bodies.push(EventBody::Dropped {
                        position: self.position,
                        dropped,
                    });
                    self.position += bytes;
                }
                Pending::Bytes { stream, count } => {
                    let left = self.name_bytes(store, stream, count, when, &mut bodies)?;
                    if left > 0 {
                        held_back.push(Pending::Bytes {
                            stream,
                            count: left,
                        });
                    }
                }
            }
        }
        self.pending = held_back;
        Ok(bodies)
    }

    fn name_bytes(
        &mut self,
        store: &Store,
        stream: Stream,
        count: u64,
        when: When,
        bodies: &mut Vec<EventBody>,
    ) -> Result<u64, ReadError> {
        let mut left = count;
        while left > 0 {
            let channel = &self.channels[stream as usize];
            let offset = channel.named;
            let mut bytes = left.min(self.event_bytes_max);
            if when == When::Running || bytes < left {
                let tail = bytes.min(4);
                let from = offset + bytes - tail;
                let last = store.read_output(self.shell_id, stream, from, tail as usize)?;
                bytes -= incomplete_suffix(&last) as u64;
            }
            if bytes == 0 {
                break;
            }
            bodies.push(EventBody::Output {
                stream,
                offset,
                bytes,
                position: self.position,
            });
            self.channels[stream as usize].named += bytes;
            self.position += bytes;
            left -= bytes;
        }
        Ok(left)
    }

    /// Which stream to cut, and to how many bytes, so that the execution keeps
    /// at most `keep` in all; none while there is room. Some slack makes
    /// cutting rare.
    pub(crate) fn over_quota(&self, keep: u64) -> Option<(Stream, u64)> {
        let kept = |channel: &Channel| channel.length.saturating_sub(channel.trimmed);
        let [stdout, stderr] = [kept(&self.channels[0]), kept(&self.channels[1])];
        if stdout + stderr <= keep + keep / 8 {
            return None;
        }
        let (stream, other) = if stdout >= stderr {
            (Stream::Stdout, stderr)
        } else {
            (Stream::Stderr, stdout)
        };
        Some((stream, keep.saturating_sub(other).max(keep / 2)))
    }

    pub(crate) fn trimmed(&mut self, stream: Stream, bytes: u64) {
        self.channels[stream as usize].trimmed += bytes;
    }

    /// How far the output has come.
    pub(crate) fn end(&self) -> OutputEnd {
        OutputEnd {
            stdout: self.channels[0].length,
            stderr: self.channels[1].length,
            position: self.position,
        }
    }

    /// Gives the pipes back for another command, once nobody writes to them.
    pub(crate) fn into_pipes(self) -> Option<(OwnedFd, OwnedFd)> {
        let [stdout, stderr] = self.channels;
        Some((stdout.into_fd()?, stderr.into_fd()?))
    }
}

/// Where bytes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The pipes that the command was given.
    Command,
    /// The outputs of the shell itself.
    Shell,
}

/// Everything that is read, by stream.
const ORIGINS: [(usize, Origin); 4] = [
    (0, Origin::Command),
    (1, Origin::Command),
    (0, Origin::Shell),
    (1, Origin::Shell),
];

/// Whether an execution begins with its recording, or had begun before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    Now,
    Before,
}

/// When events are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// More may follow.
    Running,
    /// Nothing follows, or nobody should wait for it.
    Last,
}
