//! From an accepted command to a shell that has it.

use super::walls::Standing;
use super::{Accepted, Actor, Aftermath, Cost, Finished, OutputEnd, Refusal, Running};
use crate::context::now_ms;
use crate::driver::{self, Encoded, Request, RequestError};
use crate::failpoint;
use crate::gate::{Gate, Judged};
use crate::pipes::Pair;
use crate::recording::{Begun, Recording};
use crate::sandbox::write_new_at;
use crate::shell::WarmShell;
use crate::state::{Held, Input, RoomId};
use glass_model::{AbortReason, EventBody, Execution, Phase, ShellId, Startup, WaitStatus};
use glass_spawn::{Launched, tree};
use glass_store::{Change, WriteError};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Why a command does not run whose room cannot be entered.
pub(super) const WRONG_ROOM: &str = "its walls are not to be had in this session";

/// How often walls are planned for one shell, where files change meanwhile.
pub(super) const PLANS_MAX: u32 = 3;

/// A command that has a process and its pipes, and waits for the word.
pub(super) struct Prepared {
    pub(super) launched: Launched,
    pub(super) slot: u32,
    pub(super) pair: Pair,
    pub(super) since_ticks: u64,
    /// Where callers write, if they may.
    pub(super) stdin: Option<OwnedFd>,
}

impl Actor {
    /// Takes a command into the journal, and begins it if nothing is before it.
    pub(super) async fn accept(
        &mut self,
        mut execution: Execution,
        adapted: Option<String>,
        judged: Option<Judged>,
        reply: oneshot::Sender<Result<Accepted, Refusal>>,
        done: Option<oneshot::Sender<Finished>>,
    ) {
        if !self.backlog.is_empty() {
            drop(reply.send(Err(Refusal::Write(WriteError::DiskFull))));
            return;
        }
        if self.state.queued() >= self.context.settings.limits.queue_max as usize {
            drop(reply.send(Err(Refusal::QueueFull)));
            return;
        }
        // Given out here, so that a shell sees its numbers rise.
        let id = self.context.store.next_shell_id();
        execution.shell_id = id;
        let from = self.next;
        self.snapshot_at = None;
        let room = self.room_for(&execution.sandbox);
        self.accepted.insert(id, execution);
        self.watchers.entry(id).or_default().extend(done);
        self.fresh = Some(id);
        let held = match &judged {
            Some(Judged {
                gate: Gate::Open,
                by,
            }) => {
                self.passed.insert(id, by.clone());
                Held::No
            }
            Some(_) | None => Held::Yes,
        };
        self.hold(id, held);
        self.take(Input::Submit(id, room, held)).await;
        let written = match (self.fresh.take(), self.refused.take()) {
            (None, _) => Ok(()),
            (Some(_), Some(error)) => Err(error),
            // It waits for others, or for its shell.
            (Some(id), None) => self.accepted.get(&id).map_or(Ok(()), |execution| {
                self.context
                    .store
                    .commit(&[Change::InsertExecution(execution.clone())])
            }),
        };
        failpoint::hit("accepted");
        if let Err(error) = written {
            self.watchers.remove(&id);
            // It never was, so nothing of its end is written.
            (self.fresh, self.refused) = (Some(id), Some(error));
            self.take(Input::Abort(Some(id), AbortReason::User)).await;
            self.fresh = None;
            self.accepted.remove(&id);
            self.passed.remove(&id);
            let error = self.refused.take().unwrap_or(WriteError::DiskFull);
            drop(reply.send(Err(Refusal::Write(error))));
            return;
        }
        if let Some(detail) = adapted {
            self.note_of_adapter(id, detail);
        }
        drop(reply.send(Ok(Accepted { shell_id: id, from })));
        if let (Some(judged), Held::Yes) = (judged, held) {
            self.judge(id, judged).await;
        }
    }

    pub(super) async fn start_shell(&mut self, room: RoomId, startup: Startup) -> Option<Input> {
        self.enter_room(room).await;
        self.room.shell_killed = false;
        self.room.exports_unsure = false;
        let mut plans = 0;
        let started = loop {
            plans += 1;
            let cwd = self.session.cwd.clone();
            let setting = match self.setting(&cwd).await {
                Ok(setting) => setting,
                Err(why) => return Some(Input::RoomRefused(room, why)),
            };
            // The directory may be gone, or not be there behind these walls.
            self.session.cwd.clone_from(&setting.cwd);
            self.room.cwd = Some(setting.cwd.clone());
            let (context, session) = (&self.context, &self.session);
            match WarmShell::start(context, session, startup, &self.room, setting).await {
                Err(error) if error.is_outdated() && plans < PLANS_MAX => self.drop_plan(),
                started => break started,
            }
        };
        match started {
            Ok(shell) => {
                failpoint::hit("shell-started");
                self.context
                    .routes
                    .add(shell.id(), self.note_sender.clone());
                self.launches.add(shell.launched.clone());
                self.room.shell = Some(shell);
                None
            }
            Err(error) => Some(Input::ShellFailed(room, full_message(&error))),
        }
    }

    pub(super) async fn begin_warm(&mut self, id: ShellId) -> Option<Input> {
        if !self.enter_room_of(id).await {
            return Some(Input::CannotRun(WRONG_ROOM.to_owned()));
        }
        if let Some(why) = self.is_ignored_now(id) {
            return Some(Input::NotAllowed(why));
        }
        match self.mend_walls().await {
            Ok(Standing::Sound) => {}
            Ok(Standing::Lost(why)) => {
                self.replace_shell(why);
                return Some(Input::ShellExited(self.room.id, WaitStatus::Unknown));
            }
            Err(why) => return Some(Input::CannotRun(why)),
        }
        self.weigh_repositories_for(id).await;
        let (Some(shell), Some(execution)) = (&mut self.room.shell, self.accepted.get(&id)) else {
            return Some(Input::ShellExited(self.room.id, WaitStatus::Unknown));
        };
        let (slot, pair) = match shell.take_slot(&self.context).await {
            Ok(slot) => slot,
            Err(error) => return Some(Input::CannotRun(format!("no pipes: {error}"))),
        };
        failpoint::hit("slot-taken");
        let (nonce, launched) = (shell.nonce.clone(), shell.launched.clone());
        let encoded = match self.warm_request(execution, &nonce, slot) {
            Ok(encoded) => encoded,
            Err(error) => {
                if let Some(shell) = &mut self.room.shell {
                    shell.slots.give_back(slot, pair);
                }
                return Some(Input::CannotRun(error.to_string()));
            }
        };
        let prepared = Prepared {
            launched,
            slot,
            pair,
            since_ticks: tree::now_ticks(),
            stdin: None,
        };
        if let Some(input) = self.enter(id, prepared, encoded.file.as_deref()) {
            return Some(input);
        }
        if let (Some(shell), Some(running)) = (&mut self.room.shell, &mut self.running)
            && let Some(own) = shell.own.take()
        {
            // What it said since the last command belongs to none.
            own.take_stray(0);
            running.recording.lend(Some(own));
        }
        failpoint::hit("begin-journaled");
        if self.room.exports_unsure {
            // Should this command cost the shell its life, the next one has
            // what the last command exported.
            self.ask_whether_ready();
        }
        if let Some(shell) = &self.room.shell
            && let Err(error) = shell.send(&encoded.message)
        {
            tracing::warn!(session = %self.session.id, %error, "the shell does not read");
            self.kill_shell();
        }
        self.eager.sent(Instant::now());
        failpoint::hit("begin-sent");
        None
    }

    /// What the warm shell is told.
    pub(super) fn warm_request(
        &self,
        execution: &Execution,
        nonce: &str,
        slot: u32,
    ) -> Result<Encoded, RequestError> {
        let request = Request {
            seq: u64::from(execution.shell_id.0),
            nonce,
            slot,
            tool_call_id: &tool_call_id(execution),
            cwd: self.wanted_cwd(execution),
            env: &self.trust.env_of(execution),
            command: &execution.command,
        };
        driver::encode_run(self.session.shell.kind, &self.room.dir, &request)
    }

    /// Where the shell of the current room is to go before a command: where it
    /// was told to, or where the session went in another room.
    fn wanted_cwd<'a>(&'a self, execution: &'a Execution) -> Option<&'a [u8]> {
        if !execution.requested_cwd.is_empty() {
            return Some(execution.requested_cwd.as_bytes());
        }
        let arrived = self.room.cwd.as_ref();
        let elsewhere = arrived.is_some_and(|cwd| *cwd != self.session.cwd);
        elsewhere.then_some(self.session.cwd.as_bytes())
    }

    /// Writes down that a command begins, before its shell learns of it.
    pub(super) fn enter(
        &mut self,
        id: ShellId,
        prepared: Prepared,
        file: Option<&[u8]>,
    ) -> Option<Input> {
        let Prepared {
            launched,
            slot,
            pair,
            since_ticks,
            stdin,
        } = prepared;
        let launch = launched.id;
        let pid = u32::try_from(launched.child.pid).unwrap_or(0);
        let store = &self.context.store;
        let quota = self.context.settings.limits.execution_output_bytes_max;
        let recording =
            Recording::new(store, id, pair, OutputEnd::default(), Begun::Now).within(quota);
        let recording = match self.has_terminal() {
            true => recording.of_own_terminal(),
            false => recording,
        };
        if let Some(text) = file
            && let Err(error) = self.write_command(id, text)
        {
            self.abandon(launched, slot, recording);
            let why = format!("the command could not be handed over: {error}");
            return Some(Input::CannotRun(why));
        }
        let cwd = match self.accepted.get(&id) {
            Some(execution) if !execution.requested_cwd.is_empty() => {
                execution.requested_cwd.clone()
            }
            _ => self.session.cwd.clone(),
        };
        let execution = self.accepted.get_mut(&id)?;
        let started_ms = now_ms();
        let start = self.next;
        execution.cwd.clone_from(&cwd);
        execution.phase = Phase::Running;
        execution.launch = Some(launch);
        execution.slot = slot;
        execution.start = Some(start);
        let waited_ms = started_ms - execution.started_ms;
        execution.started_ms = started_ms;
        self.context
            .figures
            .began(execution.sandbox.kind, waited_ms);
        let timeout = u64::from(execution.timeout_ms);
        let deadline = (timeout > 0).then(|| Instant::now() + Duration::from_millis(timeout));
        let command = execution.command.clone();
        let change = if self.fresh == Some(id) {
            Change::InsertExecution(execution.clone())
        } else {
            Change::StartExecution {
                shell_id: id,
                launch,
                slot,
                start,
                started_ms,
                cwd: cwd.clone(),
            }
        };
        let ran = self.audit_ran(self.accepted.get(&id)?);
        let event = self.event(Some(id), EventBody::CommandStart { command, cwd, pid });
        let changes = [change, ran, self.recorded(&event)];
        if let Err(error) = self.commit_now(&changes) {
            self.next = start;
            let why = full_message(&error);
            if self.fresh == Some(id) {
                self.refused = Some(error);
            }
            self.abandon(launched, slot, recording);
            return Some(Input::CannotRun(why));
        }
        self.fresh = self.fresh.filter(|fresh| *fresh != id);
        let oom_before = glass_spawn::oom_kills(&launched);
        self.running = Some(Running {
            shell_id: id,
            recording,
            slot,
            launched,
            since_ticks,
            deadline,
            oom_before,
            stdin,
            relay: None,
            cost: Cost::default(),
        });
        self.conclude(Aftermath {
            events: vec![event],
            finished: None,
        });
        None
    }

    /// Gives back what a command that cannot begin was to have: the pipes of
    /// the warm shell, or the shell that was started for it.
    fn abandon(&mut self, launched: Launched, slot: u32, recording: Recording) {
        if self
            .room
            .shell
            .as_ref()
            .is_some_and(|shell| shell.id() == launched.id)
        {
            self.reuse(launched.id, slot, recording);
        } else {
            self.end_unneeded(launched);
        }
    }

    /// Waits for the output of the current command, which takes its time.
    pub(super) fn watch_running(&mut self, guards: Option<Pair>) {
        if let Some(running) = &mut self.running
            && let Err(error) = running.recording.watch(guards)
        {
            // What it writes is still read when it ends.
            tracing::error!(%error, "output cannot be waited for");
        }
    }

    /// The current command has begun and is not done: its output is shown while
    /// it runs.
    pub(super) fn watch_warm(&mut self) {
        let (Some(shell), Some(running)) = (&self.room.shell, &self.running) else {
            return;
        };
        match shell.slots.guards(running.slot) {
            Ok(guards) => self.watch_running(Some(guards)),
            Err(error) => tracing::error!(%error, "output cannot be waited for"),
        }
    }

    /// Writes down that the shell has begun its command, where the report that
    /// says so cannot stay in the channel.
    pub(super) fn note_begun(&mut self) {
        let Some(running) = &self.running else { return };
        let path = self.dir.join(begun_name(running.shell_id));
        if let Err(error) = std::fs::write(path, "") {
            tracing::error!(%error, "it is not on disk that a command has begun");
        }
        self.begun_noted = true;
    }

    /// Puts a long command where its shell will read it.
    pub(super) fn write_command(&self, id: ShellId, text: &[u8]) -> io::Result<()> {
        let path = self.room.dir.join(driver::command_name(u64::from(id.0)));
        write_new_at(rustix::fs::CWD, &path, text)
    }

    /// Reacts to a message that nobody could answer otherwise.
    pub(super) fn watch(&mut self, id: ShellId, done: oneshot::Sender<Finished>) {
        if self.accepted.contains_key(&id) {
            self.watchers.entry(id).or_default().push(done);
            return;
        }
        let ended = self.context.store.execution(id).ok().flatten();
        let execution = match ended {
            Some(execution) if execution.phase == Phase::Ended => Ok(Arc::new(execution)),
            _ => Err(format!("execution {id} is not known")),
        };
        drop(done.send(Finished {
            execution,
            cwd: self.session.cwd.clone(),
            output: None,
        }));
    }
}

/// The name, inside the session's directory, of the note that a command has
/// begun.
pub(super) fn begun_name(id: ShellId) -> String {
    format!("begun{id}")
}

/// The key that a command sees; a call without one gets one made from its
/// handle, so that every process can be told by its environment.
pub(super) fn tool_call_id(execution: &Execution) -> String {
    if execution.tool_call_id.is_empty() {
        format!("shell-{}", execution.shell_id)
    } else {
        execution.tool_call_id.clone()
    }
}

/// An error with all of its causes, in one line.
pub(crate) fn full_message(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
