//! A shell on the other host that reads a few lines and answers.
//!
//! Invariant: it is sent nothing before it has answered a greeting. So what was never
//! greeted has never run, and what start files print is no part of an answer. Nothing is
//! waited for alone: both pipes, the end of `ssh` and a word to stop are looked at
//! together, and for a bounded time.

use super::words::Words;
use crate::relay::{RelayError, SSH_FAILED};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::ffi::OsString;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Most that is kept of what the other side says, in bytes. Of more, the oldest is
/// forgotten: answers are short, and come last.
const HEARD_BYTES_MAX: usize = 64 * 1024;

/// Bytes read at once.
const READ_BYTES: usize = 16 * 1024;

/// What came of a call.
#[derive(Debug)]
pub(super) enum Answer {
    /// It succeeded: the last line of what it said.
    Said(String),
    /// It did not.
    Failed(Reached),
    /// The host let us in, and this came where a shell was to answer.
    NoShell(Vec<u8>),
    /// `ssh` could not be started.
    NotStarted(io::Error),
    /// We were told to stop meanwhile.
    Cancelled(Reached),
}

/// How far a call came that did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    /// Nothing was sent, so nothing ran.
    Nobody,
    /// A shell there read some of it.
    Shell,
}

/// Has a shell on the other host read this script. `quiet` is how long nothing of it may
/// be taken, or nothing answered.
pub(super) fn call(
    way: &[OsString],
    secret: &str,
    script: &[u8],
    quiet: Duration,
    words: &mut Words<'_>,
) -> Result<Answer, RelayError> {
    let (program, arguments) = way.split_first().ok_or(RelayError::NoProgram)?;
    let started = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut ssh = match started {
        Ok(ssh) => ssh,
        Err(error) => return Ok(Answer::NotStarted(error)),
    };
    let talked = Talk::new(&mut ssh, secret, script).and_then(|mut talk| {
        let over = talk.attend(&mut ssh, quiet, words)?;
        Ok(talk.answer(over))
    });
    // Whatever it was, it is over with us.
    drop(ssh.kill());
    drop(ssh.wait());
    Ok(talked?)
}

/// How the talk ended.
enum Over {
    Ended(ExitStatus),
    Late,
    Cancelled,
}

struct Talk<'a> {
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    /// A line that only our greeting makes the other side say.
    mark: String,
    greeting: Vec<u8>,
    script: &'a [u8],
    /// How much of the greeting, or of the script, has been taken.
    taken: usize,
    is_greeted: bool,
    heard: Vec<u8>,
}

impl<'a> Talk<'a> {
    fn new(ssh: &mut Child, secret: &str, script: &'a [u8]) -> io::Result<Talk<'a>> {
        let stdin = ssh.stdin.take().ok_or(ErrorKind::BrokenPipe)?;
        let stdout = ssh.stdout.take().ok_or(ErrorKind::BrokenPipe)?;
        rustix::io::ioctl_fionbio(&stdin, true)?;
        rustix::io::ioctl_fionbio(&stdout, true)?;
        Ok(Talk {
            stdin: Some(stdin),
            stdout: Some(stdout),
            mark: format!("hi-{secret}\n"),
            // On a line of its own, whatever start files have printed.
            greeting: format!("echo; echo hi-{secret}\n").into_bytes(),
            script,
            taken: 0,
            is_greeted: false,
            heard: Vec::new(),
        })
    }

    /// What is to be written now.
    fn rest(&self) -> &[u8] {
        let text = match self.is_greeted {
            true => self.script,
            false => &self.greeting,
        };
        &text[self.taken..]
    }

    fn attend(
        &mut self,
        ssh: &mut Child,
        quiet: Duration,
        words: &mut Words<'_>,
    ) -> io::Result<Over> {
        let ended = pidfd_open(Pid::from_child(ssh), PidfdFlags::empty())?;
        let mut until = Instant::now() + quiet;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Over::Late);
            }
            let mut fds = vec![PollFd::new(&ended, PollFlags::IN)];
            let streams = [
                words.fd().map(|fd| (fd, PollFlags::IN)),
                self.stdout.as_ref().map(|it| (it.as_fd(), PollFlags::IN)),
                self.writes().map(|it| (it.as_fd(), PollFlags::OUT)),
            ];
            fds.extend(
                streams
                    .iter()
                    .flatten()
                    .map(|(fd, what)| PollFd::from_borrowed_fd(*fd, *what)),
            );
            wait(&mut fds, left)?;
            let has_ended = !fds[0].revents().is_empty();
            let mut told = fds[1..].iter().map(|fd| !fd.revents().is_empty());
            let ready = streams.map(|stream| stream.is_some() && told.next() == Some(true));
            if ready[0] && words.say_to_stop() {
                return Ok(Over::Cancelled);
            }
            if ready[1] || has_ended {
                self.read();
            }
            if has_ended {
                return Ok(Over::Ended(ssh.wait()?));
            }
            if ready[2] && self.write() {
                until = Instant::now() + quiet;
            }
        }
    }

    /// Where something is still to be written.
    fn writes(&self) -> Option<&ChildStdin> {
        self.stdin.as_ref().filter(|_| !self.rest().is_empty())
    }

    /// Writes as much as is taken; whether some was.
    fn write(&mut self) -> bool {
        let written = match self.stdin.take() {
            Some(mut stdin) => {
                let written = stdin.write(self.rest());
                self.stdin = Some(stdin);
                written
            }
            None => return false,
        };
        match written {
            Ok(count) => {
                self.taken += count;
                if self.is_greeted && self.rest().is_empty() {
                    self.stdin = None;
                }
                count > 0
            }
            Err(error) if is_for_later(&error) => false,
            // It is heard of again: `ssh` ends.
            Err(_) => {
                self.stdin = None;
                false
            }
        }
    }

    /// Reads all that is there.
    fn read(&mut self) {
        let mut buffer = [0; READ_BYTES];
        while let Some(stdout) = &mut self.stdout {
            match stdout.read(&mut buffer) {
                Ok(count) if count > 0 => self.hear(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Ok(_) | Err(_) => self.stdout = None,
            }
        }
    }

    fn hear(&mut self, bytes: &[u8]) {
        self.heard.extend_from_slice(bytes);
        if !self.is_greeted
            && let Some(at) = memchr::memmem::find(&self.heard, self.mark.as_bytes())
        {
            self.heard.drain(..at + self.mark.len());
            self.is_greeted = true;
            self.taken = 0;
        }
        let surplus = self.heard.len().saturating_sub(HEARD_BYTES_MAX);
        self.heard.drain(..surplus);
    }

    fn answer(&self, over: Over) -> Answer {
        let reached = match self.is_greeted {
            true => Reached::Shell,
            false => Reached::Nobody,
        };
        match over {
            Over::Cancelled => Answer::Cancelled(reached),
            Over::Ended(status) if status.success() && self.is_greeted => {
                let heard = String::from_utf8_lossy(&self.heard);
                Answer::Said(heard.lines().last().unwrap_or_default().trim().to_owned())
            }
            Over::Ended(status)
                if !self.is_greeted && status.code().is_some_and(|code| code != SSH_FAILED) =>
            {
                Answer::NoShell(self.heard.clone())
            }
            Over::Ended(_) | Over::Late => Answer::Failed(reached),
        }
    }
}

/// Waits for one of these, though not for longer than this.
fn wait(fds: &mut [PollFd<'_>], most: Duration) -> io::Result<()> {
    let most = Timespec {
        tv_sec: i64::try_from(most.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: most.subsec_nanos().into(),
    };
    match rustix::event::poll(fds, Some(&most)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
