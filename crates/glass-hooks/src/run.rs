//! Runs one hook: gives it its payload, takes what it prints, and ends it.
//!
//! A thread looks after each hook from its start to the end of its last
//! process, so that neither a slow hook nor a caller who has stopped waiting
//! keeps anything from being cleaned up.

mod failed;
mod watch;

pub(crate) use failed::{Failed, Why};

use crate::hook::Hook;
use crate::limits::{END_DEADLINE, STACK_BYTES};
use glass_spawn::Aside;
use rustix::pipe::{PipeFlags, pipe_with};
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use watch::Watch;

/// The shell of hooks. Not looked for, so that no `PATH` can replace it.
const SHELL: &str = "/bin/sh";

/// What all hooks share.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    pub environment: Arc<[(OsString, OsString)]>,
    pub turns: Turns,
}

/// When a hook is run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Occasion {
    Before,
    After,
}

/// How many hooks run at once. Those that are told after commands keep nobody
/// from being asked before one, and whoever is to be asked is waited for: too
/// many commands must not be a way around a hook.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    before: Arc<Semaphore>,
    after: Arc<Semaphore>,
}

impl Turns {
    pub(crate) fn new(each: usize) -> Turns {
        Turns {
            before: Arc::new(Semaphore::new(each)),
            after: Arc::new(Semaphore::new(each)),
        }
    }

    fn of(&self, occasion: Occasion) -> Arc<Semaphore> {
        match occasion {
            Occasion::Before => self.before.clone(),
            Occasion::After => self.after.clone(),
        }
    }
}

/// What a hook that ended well has printed.
pub(crate) struct Printed {
    pub output: Vec<u8>,
    pub complaint: Vec<u8>,
}

impl Printed {
    /// The hook has ended well, and failed all the same.
    pub(crate) fn failed(self, why: impl Into<Why>) -> Failed {
        Failed {
            why: why.into(),
            complaint: self.complaint,
        }
    }
}

/// One hook that is to run.
struct Job {
    command: Command,
    payload: Arc<[u8]>,
    timeout: Duration,
    /// Ends when nobody waits any more.
    caller: OwnedFd,
    /// The hook's turn, which lasts until its last process is gone.
    _turn: OwnedSemaphorePermit,
}

impl Surroundings {
    /// Runs a hook in a directory. When this is dropped, the hook is ended.
    pub(crate) async fn run(
        &self,
        hook: &Hook,
        occasion: Occasion,
        directory: &str,
        payload: &Arc<[u8]>,
    ) -> Result<Printed, Failed> {
        let turn = self.turns.of(occasion).acquire_owned().await;
        let turn = turn.map_err(|_| Why::Lost)?;
        let (caller, waiting) = pipe_with(PipeFlags::CLOEXEC).map_err(start_error)?;
        let job = Job {
            command: self.command(hook, directory),
            payload: Arc::clone(payload),
            timeout: hook.timeout,
            caller,
            _turn: turn,
        };
        let (report, outcome) = oneshot::channel();
        std::thread::Builder::new()
            .name("hook".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || look_after(job, report))
            .map_err(|error| Failed::from(Why::Start(error)))?;
        let outcome = outcome.await;
        drop(waiting);
        outcome.unwrap_or_else(|_| Err(Why::Lost.into()))
    }

    fn command(&self, hook: &Hook, directory: &str) -> Command {
        let mut command = Command::new(SHELL);
        command.arg("-c").arg(&hook.command);
        command.env_clear().envs(self.environment.iter().cloned());
        command.current_dir(existing(directory));
        command
    }
}

/// The directory, or the root where it is gone: a command whose directory was
/// removed is to be judged, too.
fn existing(directory: &str) -> PathBuf {
    let path = Path::new(directory);
    if path.is_absolute() && path.is_dir() {
        return path.to_path_buf();
    }
    PathBuf::from("/")
}

fn start_error(errno: rustix::io::Errno) -> Failed {
    Why::Start(errno.into()).into()
}

/// Runs the hook, reports it when nothing of it lives, and reaps it.
fn look_after(job: Job, report: oneshot::Sender<Result<Printed, Failed>>) {
    let deadline = Instant::now() + job.timeout;
    let (mut aside, streams) = match Aside::start(job.command) {
        Ok(started) => started,
        Err(error) => {
            // Nobody listens if the caller has gone.
            let _ = report.send(Err(Why::Start(error).into()));
            return;
        }
    };
    let outcome = match Watch::new(streams, &job.payload) {
        Ok(mut watch) => {
            let watched = watch.until_end(&aside, &job.caller, deadline, job.timeout);
            // What is left of it prints nothing more that could count.
            let ended = aside.end(END_DEADLINE);
            watch.conclude(watched, ended, &mut aside)
        }
        Err(error) => {
            let _ = aside.end(END_DEADLINE);
            Err(Why::Start(error).into())
        }
    };
    let _ = report.send(outcome);
    let _ = aside.reap();
}
