//! Moves bytes in and out of a hook until it ends, its time is up, or it says
//! too much. Never blocks on the hook: every pipe is polled.

use super::Printed;
use super::failed::{Failed, Why};
use crate::limits::{ANSWER_BYTES_MAX, COMPLAINT_BYTES_MAX};
use glass_spawn::tree::EndError;
use glass_spawn::{Aside, Streams};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::time::{Duration, Instant};

/// Bytes that are moved at once.
const CHUNK_BYTES: usize = 64 << 10;

/// Our side of a hook's standard streams, each until it is closed.
pub(super) struct Watch<'a> {
    payload: &'a [u8],
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    output: Vec<u8>,
    complaint: Vec<u8>,
    chunk: Vec<u8>,
}

/// What the kernel says that can be done.
struct Ready {
    ended: bool,
    forgotten: bool,
    stdin: bool,
    stdout: bool,
    stderr: bool,
}

impl<'a> Watch<'a> {
    pub(super) fn new(streams: Streams, payload: &'a [u8]) -> io::Result<Watch<'a>> {
        rustix::io::ioctl_fionbio(&streams.stdin, true)?;
        rustix::io::ioctl_fionbio(&streams.stdout, true)?;
        rustix::io::ioctl_fionbio(&streams.stderr, true)?;
        Ok(Watch {
            payload,
            stdin: Some(streams.stdin),
            stdout: Some(streams.stdout),
            stderr: Some(streams.stderr),
            output: Vec::new(),
            complaint: Vec::new(),
            chunk: vec![0; CHUNK_BYTES],
        })
    }

    /// Returns when the hook has ended by itself, or must be.
    pub(super) fn until_end(
        &mut self,
        aside: &Aside,
        caller: &OwnedFd,
        deadline: Instant,
        timeout: Duration,
    ) -> Result<(), Why> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Why::TimedOut(timeout));
            }
            let ready = self.wait(aside, caller, left).map_err(Why::Watch)?;
            if ready.forgotten {
                return Err(Why::Forgotten);
            }
            if ready.stdin {
                self.feed();
            }
            if ready.stdout {
                self.take_output()?;
            }
            if ready.stderr {
                self.take_complaint();
            }
            if ready.ended {
                return Ok(());
            }
        }
    }

    fn wait(&self, aside: &Aside, caller: &OwnedFd, left: Duration) -> io::Result<Ready> {
        let ended = aside.ended();
        let mut polled = vec![
            PollFd::new(&ended, PollFlags::IN),
            PollFd::new(caller, PollFlags::IN),
        ];
        let streams = [
            self.stdin.as_ref().map(|fd| (fd.as_fd(), PollFlags::OUT)),
            self.stdout.as_ref().map(|fd| (fd.as_fd(), PollFlags::IN)),
            self.stderr.as_ref().map(|fd| (fd.as_fd(), PollFlags::IN)),
        ];
        polled.extend(
            streams
                .iter()
                .flatten()
                .map(|(fd, flags)| PollFd::from_borrowed_fd(*fd, *flags)),
        );
        let wait = Timespec {
            tv_sec: left.as_secs().cast_signed(),
            tv_nsec: left.subsec_nanos().into(),
        };
        match poll(&mut polled, Some(&wait)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let mut happened = polled.iter().map(|fd| !fd.revents().is_empty());
        let mut next = |is_open: bool| is_open && happened.next() == Some(true);
        Ok(Ready {
            ended: next(true),
            forgotten: next(true),
            stdin: next(streams[0].is_some()),
            stdout: next(streams[1].is_some()),
            stderr: next(streams[2].is_some()),
        })
    }

    /// Writes as much of the payload as there is room for. A hook need not read
    /// it, so a closed pipe is no failure.
    fn feed(&mut self) {
        let Some(stdin) = &mut self.stdin else { return };
        match stdin.write(self.payload) {
            Ok(count) => self.payload = self.payload.get(count..).unwrap_or_default(),
            Err(error) if is_passing(&error) => return,
            Err(_) => self.payload = &[],
        }
        if self.payload.is_empty() {
            self.stdin = None;
        }
    }

    fn take_output(&mut self) -> Result<(), Why> {
        let Some(stdout) = &mut self.stdout else {
            return Ok(());
        };
        match stdout.read(&mut self.chunk) {
            Ok(0) => self.stdout = None,
            Ok(count) if self.output.len() + count > ANSWER_BYTES_MAX => {
                self.stdout = None;
                return Err(Why::TooMuch);
            }
            Ok(count) => self.output.extend_from_slice(&self.chunk[..count]),
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(Why::Watch(error)),
        }
        Ok(())
    }

    /// Gives how many bytes there were.
    fn take_complaint(&mut self) -> usize {
        let Some(stderr) = &mut self.stderr else {
            return 0;
        };
        match stderr.read(&mut self.chunk) {
            Err(error) if is_passing(&error) => 0,
            Ok(0) | Err(_) => {
                self.stderr = None;
                0
            }
            Ok(count) => {
                self.complaint.extend_from_slice(&self.chunk[..count]);
                let excess = self.complaint.len().saturating_sub(COMPLAINT_BYTES_MAX);
                self.complaint.drain(..excess);
                count
            }
        }
    }

    /// Takes what is still in the pipes of a hook that is gone, and says what
    /// became of it.
    pub(super) fn conclude(
        &mut self,
        watched: Result<(), Why>,
        ended: Result<(), EndError>,
        aside: &mut Aside,
    ) -> Result<Printed, Failed> {
        let verdict = watched
            .and_then(|()| self.drain())
            .and_then(|()| aside.status().map_err(|_| Why::Lost))
            .and_then(success)
            .and_then(|()| ended.map_err(|_| Why::Unkillable));
        // Somebody who got away may write on; what fits into a pipe is enough.
        for _ in 0..=COMPLAINT_BYTES_MAX {
            if self.take_complaint() < CHUNK_BYTES {
                break;
            }
        }
        let complaint = std::mem::take(&mut self.complaint);
        match verdict {
            Ok(()) => Ok(Printed {
                output: std::mem::take(&mut self.output),
                complaint,
            }),
            Err(why) => Err(Failed { why, complaint }),
        }
    }

    /// Takes the output that is in the pipe; nobody is left to add to it.
    fn drain(&mut self) -> Result<(), Why> {
        let mut before = usize::MAX;
        while self.stdout.is_some() && before != self.output.len() {
            before = self.output.len();
            self.take_output()?;
        }
        Ok(())
    }
}

fn success(status: ExitStatus) -> Result<(), Why> {
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(()),
        (Some(code), _) => Err(Why::Code(code)),
        (None, Some(signal)) => Err(Why::Signal(signal)),
        (None, None) => Err(Why::Lost),
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
