//! Waiting for something to happen in an execution: one call that answers at
//! the first of several conditions.
//!
//! Output and the end are learned from the session's events. What the kernel
//! tells nobody, a port or a file, is looked at every 50 ms.

mod pattern;
mod place;

use super::{Caller, Engine};
use crate::actor::{Message, lock};
use crate::errors::{LookupError, WaitError};
use crate::redaction::Veil;
use glass_model::{Event, EventBody, Execution, Phase, ShellId};
use glass_spawn::{Launched, tree};
use pattern::Pattern;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The longest wait, and that of a caller who names none.
const WAIT_MAX: Duration = Duration::from_secs(600);

/// Between two looks at what does not announce itself.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What may be part of a secret is shown some time after it was written, so the
/// output is looked at again until then.
const HELD_BACK: Duration = Duration::from_millis(300);

/// Bytes of output that are searched in one go.
const STEP_BYTES: u64 = 64 * 1024;

/// Bytes of a path; the kernel's own limit.
const PATH_BYTES_MAX: usize = 4095;

/// What to wait for; without any condition, the end.
#[derive(Clone, Debug, Default)]
pub struct WaitSpec {
    /// The execution's end.
    pub exit: bool,
    /// A regular expression over its output, from `offset` on.
    pub pattern: String,
    /// Where that output begins; absent is after the last read.
    pub offset: Option<u64>,
    /// A TCP port that a process of it listens on; 0 is none.
    pub port: u32,
    /// A path that is there, or empty.
    pub file: String,
    /// So long without output; zero is none.
    pub quiet: Duration,
    /// How long to wait at most; zero is as long as there is.
    pub timeout: Duration,
}

/// What happened first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// The execution ended.
    Exit,
    /// The pattern is in the output.
    Pattern,
    /// Something listens on the port.
    Port,
    /// The path is there.
    File,
    /// Nothing was written for so long.
    Quiet,
    /// None of it, in time.
    Timeout,
}

/// The end of a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waited {
    /// What happened.
    pub held: Held,
    /// What matched, or which port or path it was.
    pub matched: String,
    /// The execution's code, where it is over and that is known.
    pub code: Option<i32>,
}

/// A wait that is under way.
struct Watch {
    id: ShellId,
    pattern: Option<Pattern>,
    veil: Veil,
    /// Where the output that was not searched begins.
    at: u64,
    port: Option<u16>,
    file: Option<PathBuf>,
    launched: Option<Launched>,
    /// Whether it is over, and the code.
    ended: Option<Option<i32>>,
    /// Whether its end is the end of the wait, whatever it left behind.
    ends_with_exit: bool,
    last_output: Instant,
    look_at: Instant,
}

impl Engine {
    /// Waits for the first of these conditions. An execution that ends ends
    /// every wait, unless it left something behind that runs (`server &`) and its
    /// end is not what was asked for.
    pub async fn wait(
        &self,
        caller: &Caller,
        id: ShellId,
        spec: WaitSpec,
    ) -> Result<Waited, WaitError> {
        let session = self.execution(caller, id)?.session;
        // Events from here on, and everything before as it is now: so nothing
        // falls between the two.
        let mut follower = self.follower(session, self.tail_of(id)?);
        let execution = self.execution(caller, id)?;
        let timeout = match spec.timeout {
            Duration::ZERO => WAIT_MAX,
            given => given.min(WAIT_MAX),
        };
        let deadline = Instant::now() + timeout;
        let mut watch = self.watch_for(&execution, &spec)?;
        loop {
            if let Some(waited) = watch.look(self).await? {
                return Ok(waited);
            }
            let now = Instant::now();
            let quiet_at = (!spec.quiet.is_zero()).then(|| watch.last_output + spec.quiet);
            if quiet_at.is_some_and(|at| at <= now) {
                return Ok(watch.waited(Held::Quiet, String::new()));
            }
            if deadline <= now {
                return Ok(watch.waited(Held::Timeout, String::new()));
            }
            let next = [quiet_at, watch.next_look(now)].into_iter().flatten();
            let next = next.fold(deadline, Instant::min);
            match tokio::time::timeout_at(next.into(), follower.next()).await {
                Err(_) => {}
                Ok(Ok(Some(events))) => events.iter().for_each(|event| watch.learn(event)),
                Ok(Ok(None)) => {
                    // Its session is over, and with it all that it left behind.
                    watch.ends_with_exit = true;
                    watch.ended = Some(self.execution(caller, id)?.outcome.code);
                }
                Ok(Err(error)) => return Err(LookupError::from(error).into()),
            }
        }
    }

    fn watch_for(&self, execution: &Execution, spec: &WaitSpec) -> Result<Watch, WaitError> {
        let id = execution.shell_id;
        let pattern = match spec.pattern.as_str() {
            "" => None,
            pattern => Some(Pattern::new(pattern).map_err(WaitError::Pattern)?),
        };
        let port = match u16::try_from(spec.port) {
            Ok(0) => None,
            Ok(port) => Some(port),
            Err(_) => {
                let why = format!("{} is no port: 65535 is the last", spec.port);
                return Err(WaitError::Invalid(why));
            }
        };
        let file = path_of(execution, &spec.file)?;
        if port.is_some() || file.is_some() {
            let session = self.0.context.store.session(&execution.session);
            let session = session.map_err(LookupError::from)?;
            if session.is_some_and(|session| session.is_elsewhere()) {
                let why = "ports and files of another host cannot be seen from here";
                return Err(WaitError::Invalid(why.to_owned()));
            }
        }
        let known = lock(&self.0.cursors).get(&id).copied();
        let is_over = execution.phase == Phase::Ended;
        let has_others =
            pattern.is_some() || port.is_some() || file.is_some() || !spec.quiet.is_zero();
        let now = Instant::now();
        Ok(Watch {
            id,
            pattern,
            veil: self.veil_of(execution)?,
            at: spec.offset.or(known).unwrap_or(0),
            ends_with_exit: spec.exit || !has_others,
            port,
            file,
            launched: None,
            ended: is_over.then_some(execution.outcome.code),
            last_output: now,
            look_at: now,
        })
    }

    /// The processes of an execution, once it has begun.
    async fn launched(&self, id: ShellId) -> Result<Option<Launched>, LookupError> {
        let execution = self.0.context.store.execution(id)?;
        let Some((launch, handle)) = execution
            .and_then(|execution| Some((execution.launch?, self.live(&execution.session)?)))
        else {
            return Ok(None);
        };
        let (reply, answer) = oneshot::channel();
        let find = Message::Find { launch, reply };
        if handle.mailbox.send(find).await.is_err() {
            return Ok(None);
        }
        Ok(answer.await.ok().flatten())
    }
}

impl Watch {
    /// Whether one of the conditions holds now. The order is that in which they
    /// can have come about: output before the end.
    async fn look(&mut self, engine: &Engine) -> Result<Option<Waited>, WaitError> {
        let ended = self.ended;
        if let Some(matched) = self.search(engine).await? {
            return Ok(Some(self.waited(Held::Pattern, matched)));
        }
        if Instant::now() >= self.look_at || ended.is_some() {
            self.look_at = Instant::now() + LOOK_EVERY;
            if let Some(found) = self.look_around(engine).await? {
                return Ok(Some(found));
            }
        }
        let is_over = ended.is_some() && (self.ends_with_exit || !self.has_left(engine).await?);
        Ok(is_over.then(|| self.waited(Held::Exit, String::new())))
    }

    /// Searches what has been written since the last time.
    async fn search(&mut self, engine: &Engine) -> Result<Option<String>, WaitError> {
        let Some(mut pattern) = self.pattern.take() else {
            return Ok(None);
        };
        loop {
            let (id, veil, at, engine) = (self.id, self.veil.clone(), self.at, engine.clone());
            // A pattern may take its time.
            let searched = tokio::task::spawn_blocking(move || {
                let page = engine.page(id, &veil, at, STEP_BYTES)?;
                if page.dropped > 0 {
                    pattern.skip();
                }
                let found = pattern.push(&page.bytes);
                Ok::<_, LookupError>((pattern, page.next_offset, found))
            });
            let searched = searched.await.map_err(|_| LookupError::Stopping)??;
            let (searched, next, found) = searched;
            pattern = searched;
            let moved = next > self.at;
            self.at = next;
            if found.is_some() || !moved {
                self.pattern = Some(pattern);
                return Ok(found);
            }
        }
    }

    /// Whether an execution that is over has left something behind that runs.
    async fn has_left(&mut self, engine: &Engine) -> Result<bool, WaitError> {
        if self.launched.is_none() {
            self.launched = engine.launched(self.id).await?;
        }
        let Some(launched) = self.launched.clone() else {
            return Ok(false);
        };
        let left = tokio::task::spawn_blocking(move || {
            let ours = [Some(launched.child), launched.init];
            let all = tree::descendants(&launched.reaper);
            all.iter()
                .any(|process| !process.dead && !ours.contains(&Some(process.as_ref())))
        });
        Ok(left.await.map_err(|_| LookupError::Stopping)?)
    }

    /// Looks at the port and the file.
    async fn look_around(&mut self, engine: &Engine) -> Result<Option<Waited>, WaitError> {
        if self.port.is_none() && self.file.is_none() {
            return Ok(None);
        }
        if self.launched.is_none() {
            self.launched = engine.launched(self.id).await?;
        }
        let (launched, port, file) = (self.launched.clone(), self.port, self.file.clone());
        let found = tokio::task::spawn_blocking(move || {
            let listens = |launched: &Launched, port| tree::listens(&launched.reaper, port);
            if let Some((launched, port)) = launched.as_ref().zip(port)
                && listens(launched, port)
            {
                return Some((Held::Port, port.to_string()));
            }
            let path = file.filter(|path| place::exists(launched.as_ref(), path))?;
            Some((Held::File, path.to_string_lossy().into_owned()))
        });
        let found = found.await.map_err(|_| LookupError::Stopping)?;
        Ok(found.map(|(held, matched)| self.waited(held, matched)))
    }

    /// When to look again, though nothing is heard.
    fn next_look(&self, now: Instant) -> Option<Instant> {
        if self.port.is_some() || self.file.is_some() || self.ended.is_some() {
            return Some(self.look_at);
        }
        let is_fresh = now < self.last_output + HELD_BACK;
        (self.pattern.is_some() && is_fresh).then(|| now + LOOK_EVERY)
    }

    fn learn(&mut self, event: &Event) {
        if event.shell_id != Some(self.id) {
            return;
        }
        match &event.body {
            EventBody::Output { .. } | EventBody::Dropped { .. } => {
                self.last_output = Instant::now();
            }
            EventBody::Exit { outcome, .. } => self.ended = Some(outcome.code),
            _ => {}
        }
    }

    fn waited(&self, held: Held, matched: String) -> Waited {
        Waited {
            held,
            matched,
            code: self.ended.flatten(),
        }
    }
}

/// The path that is waited for, from where the execution began.
fn path_of(execution: &Execution, file: &str) -> Result<Option<PathBuf>, WaitError> {
    let invalid = |why: &str| Err(WaitError::Invalid(why.to_owned()));
    if file.is_empty() {
        return Ok(None);
    }
    if file.contains('\0') {
        return invalid("the path has a NUL byte");
    }
    if file.len() > PATH_BYTES_MAX {
        return invalid("the path has more bytes than any path can have");
    }
    let wanted = match execution.requested_cwd.is_empty() {
        true => &execution.cwd,
        false => &execution.requested_cwd,
    };
    Ok(Some(Path::new(wanted).join(file)))
}
