//! The process beside a command on another host: between `ssh` and the pipes that
//! the daemon and the keeper hold.
//!
//! Invariant: what is left in the end file is known. The command was not sent
//! before a shell there had answered; its code is the one that was said with the
//! secret, and that `ssh` does not contradict.

mod input;
mod streams;
mod terminal;

use crate::end::{End, end_name};
use crate::sieve::Word;
pub use input::INPUT_FD;
use input::{INTERRUPT_LINE, feed};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};
use streams::{Event, Which, channel, listen};
pub use terminal::DIRECTORY;

/// What lets a relay begin: before this it does nothing.
pub const GO: &[u8] = b"g";

/// What makes it stop its command.
pub const CANCEL: &[u8] = b"c";

/// What makes it interrupt its command, as Ctrl+C would.
pub const INTERRUPT: &[u8] = b"i";

/// Time for a shell on the other host to answer, in milliseconds; `ssh` itself gives
/// up earlier.
const ANSWER_MS_MAX: u64 = 60_000;

/// Time for the other host to end a command and to say so, in milliseconds.
pub const STOP_MS_MAX: u64 = 15_000;

/// Time for `ssh` to end once everything has been said, in milliseconds. Something
/// that the command left behind may hold its streams for ever.
const LEAVE_MS_MAX: u64 = 1_000;

/// What `ssh` ends with where it could not do what it was told.
const SSH_FAILED: i32 = 255;

/// Begins the reason where a host let us in and no shell answered.
pub const NO_SHELL: &str = "the host runs no shell for us";

/// How much of what `ssh` says is read, in bytes.
const LOG_BYTES_MAX: u64 = 16 * 1024;

/// How many of its last lines are told.
const LOG_LINES_MAX: usize = 2;

/// What to carry, and how.
#[derive(Clone, Debug)]
pub struct RelayOrder {
    /// The session's directory: what to do is in `cN` there, and how it ended will be
    /// in `rN`, and the shell's state in `sN`.
    pub dir: PathBuf,
    /// The number of the execution.
    pub number: u64,
    /// Where `ssh` writes what it has to say.
    pub log: PathBuf,
    /// Whether the command reads what comes over [`INPUT_FD`].
    pub input: bool,
    /// Whether the command's terminal is ours: then words for us come over standard
    /// error, and so many of the words of `ssh` are for what is carried there, and the
    /// others for the terminal.
    pub terminal: Option<usize>,
    /// `ssh` and its arguments.
    pub ssh: Vec<OsString>,
}

/// Why a relay could not leave how its command ended.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// What its order says makes no sense.
    #[error("there is no program to start")]
    NoProgram,
    /// A file could not be written.
    #[error("the end of the command could not be left")]
    Io(#[from] io::Error),
}

/// Carries one command, whose word to go comes over our standard input and whose
/// outputs are ours. Without that word it does nothing. Where all three are a terminal,
/// the word comes over standard error in its place.
pub fn relay(order: &RelayOrder) -> Result<(), RelayError> {
    let words = match order.terminal {
        Some(_) => rustix::stdio::stderr(),
        None => rustix::stdio::stdin(),
    };
    let mut go = [0; 1];
    // Unbuffered, so that nothing behind the word is lost to whoever reads on.
    if rustix::io::read(words, &mut go).map_err(io::Error::from)? == 0 {
        return Ok(());
    }
    let (program, arguments) = order.ssh.split_first().ok_or(RelayError::NoProgram)?;
    let script_path = order.dir.join(format!("c{}", order.number));
    let end = match fs::read(&script_path) {
        Ok(script) => {
            drop(fs::remove_file(&script_path));
            match order.terminal {
                Some(carrying) => terminal::carry(order, &script, carrying, words)?,
                None => {
                    let mut command = Command::new(program);
                    command.args(arguments);
                    carry(order, command, &script)?
                }
            }
        }
        Err(error) => End::NotBegun(format!("the command could not be read: {error}")),
    };
    leave(&order.dir, &end_name(order.number), end.encode().as_bytes())?;
    Ok(())
}

/// Writes a file that is there whole or not at all.
fn leave(dir: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let unfinished = dir.join(format!("{name}.new"));
    fs::write(&unfinished, bytes)?;
    fs::rename(unfinished, dir.join(name))
}

fn carry(order: &RelayOrder, mut command: Command, script: &[u8]) -> io::Result<End> {
    let secret = secret()?;
    let started = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut ssh = match started {
        Ok(ssh) => ssh,
        Err(error) => return Ok(End::NotBegun(format!("ssh does not start: {error}"))),
    };
    let (sender, receiver) = channel();
    let grants = match order.input {
        true => Some(feed(sender.clone())?),
        false => None,
    };
    let events = listen(&mut ssh, &secret, (sender, receiver))?;
    let mut stdin = ssh.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    // An error here is heard of again: it ends.
    drop(stdin.write_all(greeting(&secret).as_bytes()));
    let mut carried = Carried {
        order,
        script,
        stdin: Some(stdin),
        grants,
        greeted: 0,
        sent: false,
        listens: false,
        stopping: false,
        code: None,
        left: None,
        missing: None,
        ended: [false; 2],
        closed: [false; 2],
        instead: [Vec::new(), Vec::new()],
        until: Instant::now() + Duration::from_millis(ANSWER_MS_MAX),
        waits_for_ever: false,
    };
    carried.attend(&events)?;
    Ok(carried.judge(&mut ssh))
}

/// A secret that nobody else knows.
fn secret() -> io::Result<String> {
    let mut bytes = [0; 16];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What the other shell is told first. What its start files have printed comes
/// before its answer, and is nobody's output.
fn greeting(secret: &str) -> String {
    format!(
        "sg_secret={secret}\n\
         printf '\\036%s:hi\\n' \"$sg_secret\"; printf '\\036%s:hi\\n' \"$sg_secret\" >&2\n"
    )
}

/// What is known of a command under way.
struct Carried<'a> {
    order: &'a RelayOrder,
    script: &'a [u8],
    /// As long as this is open, the other side lets the command run.
    stdin: Option<ChildStdin>,
    /// Lets a piece of the command's input pass.
    grants: Option<SyncSender<()>>,
    /// Streams on which a shell has answered.
    greeted: usize,
    sent: bool,
    /// Whether the other side takes lines.
    listens: bool,
    stopping: bool,
    code: Option<i32>,
    left: Option<u32>,
    missing: Option<String>,
    /// Streams on which the command has written its last.
    ended: [bool; 2],
    closed: [bool; 2],
    /// What came where a shell was to answer, and none has.
    instead: [Vec<u8>; 2],
    until: Instant,
    waits_for_ever: bool,
}

impl Carried<'_> {
    /// Returns when all has been said, or nothing more will be.
    fn attend(&mut self, events: &Receiver<Event>) -> io::Result<()> {
        while self.closed != [true; 2] {
            let now = Instant::now();
            let event = if self.waits_for_ever {
                events.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else if now >= self.until {
                return Ok(());
            } else {
                events.recv_timeout(self.until - now)
            };
            match event {
                Ok(Event::Said(which, word)) => self.hear(which, word)?,
                Ok(Event::Closed(which, instead)) => {
                    self.closed[which as usize] = true;
                    self.instead[which as usize] = instead;
                }
                Ok(Event::Cancel) => self.stop(),
                Ok(Event::Interrupt) if self.listens => self.write(INTERRUPT_LINE),
                // Nothing runs that could be interrupted.
                Ok(Event::Interrupt) => {}
                Ok(Event::Input(line)) => self.write(&line),
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
        Ok(())
    }

    fn hear(&mut self, which: Which, word: Word) -> io::Result<()> {
        match word {
            Word::Hello => {
                self.greeted += 1;
                if self.greeted == 2 && !self.sent && !self.stopping {
                    self.send();
                }
            }
            Word::End => self.ended[which as usize] = true,
            Word::Exit(code) => {
                self.code = Some(code);
                self.ended[Which::Err as usize] = true;
            }
            Word::Got => {
                self.listens = true;
                self.grant();
            }
            Word::Gone(left) => {
                self.left = Some(left);
                self.leave_soon();
            }
            Word::Missing(what) => {
                self.missing = Some(what);
                self.leave_soon();
            }
            Word::State(state) => {
                leave(&self.order.dir, &format!("s{}", self.order.number), &state)?
            }
        }
        if self.code.is_some() && self.ended == [true; 2] {
            self.leave_soon();
        }
        Ok(())
    }

    /// From here on the command may run.
    fn send(&mut self) {
        self.sent = true;
        self.waits_for_ever = true;
        let script = self.script;
        self.write(script);
    }

    /// Writes to the other side. There is room: a piece of input comes when the last
    /// was taken.
    fn write(&mut self, bytes: &[u8]) {
        if let Some(stdin) = &mut self.stdin {
            // An error here is heard of again: the streams end.
            drop(stdin.write_all(bytes).and_then(|()| stdin.flush()));
        }
    }

    fn grant(&self) {
        if let Some(grants) = &self.grants {
            // Whoever reads may have come to the end. One word is all that waits.
            let _ = grants.try_send(());
        }
    }

    /// The end of its input is what the other side ends the command at.
    fn stop(&mut self) {
        if !self.stopping && self.code.is_none() {
            self.stopping = true;
            self.stdin = None;
            let wait = if self.sent { STOP_MS_MAX } else { 0 };
            self.end_within(wait);
        }
    }

    fn leave_soon(&mut self) {
        self.end_within(LEAVE_MS_MAX);
    }

    fn end_within(&mut self, ms: u64) {
        self.waits_for_ever = false;
        self.until = Instant::now() + Duration::from_millis(ms);
    }

    /// What is known now. `ssh` is over when this returns.
    fn judge(&mut self, ssh: &mut Child) -> End {
        let left_by_itself = self.closed == [true; 2];
        if !left_by_itself {
            drop(ssh.kill());
        }
        self.stdin = None;
        let status = ssh.wait().ok().and_then(|status| status.code());
        let status = status.filter(|_| left_by_itself);
        let said = || {
            last_words(&self.order.log).unwrap_or_else(|| match status {
                Some(code) if !self.sent && code != SSH_FAILED => {
                    let [out, err] = &self.instead;
                    no_shell(&[err.as_slice(), b"\n", out].concat())
                }
                Some(code) => format!("ssh ended with {code} and did not say why"),
                None => "the other host does not answer".to_owned(),
            })
        };
        if let Some(what) = &self.missing {
            return End::NotBegun(what.clone());
        }
        match self.code {
            Some(code) if status.is_none_or(|status| status == code) => return End::Exited(code),
            Some(code) => {
                let other = status.unwrap_or_default();
                return End::Lost(format!("the command said {code}, and ssh says {other}"));
            }
            None => {}
        }
        match (self.sent, self.stopping) {
            (_, true) => End::Stopped(if self.sent { self.left } else { Some(0) }),
            (true, false) => End::Lost(said()),
            (false, false) => End::NotBegun(said()),
        }
    }
}

/// Why nothing ran on a host that let us in, and said this where a shell would have answered.
fn no_shell(instead: &[u8]) -> String {
    let instead = String::from_utf8_lossy(instead);
    let is_blank = |c: char| c.is_whitespace() || c.is_control();
    let mut lines = instead.lines().map(|line| line.trim_matches(is_blank));
    match lines.rfind(|line| !line.is_empty()) {
        Some(line) => format!("{NO_SHELL}: {line}"),
        None => NO_SHELL.to_owned(),
    }
}

/// What `ssh` said last.
fn last_words(log: &Path) -> Option<String> {
    let mut text = String::new();
    let log = fs::File::open(log).ok()?;
    log.take(LOG_BYTES_MAX).read_to_string(&mut text).ok()?;
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !is_ornament(line));
    let lines: Vec<&str> = lines.collect();
    let last = &lines[lines.len().saturating_sub(LOG_LINES_MAX)..];
    (!last.is_empty()).then(|| last.join("; "))
}

/// The frame around a warning.
fn is_ornament(line: &str) -> bool {
    line.chars().all(|c| c == '@' || c.is_whitespace())
}
