//! The command in front: what the shell says of it becomes an execution of the
//! session, with its part of the terminal's output, whoever asked for it.

use super::beliefs::Fact;
use super::postamble::Postamble;
use super::preamble::Preamble;
use super::{Task, close::NO_OUTPUT};
use crate::actor::{Finished, ORPHANS_WITHIN, OutputEnd, asked_by, how, in_short, lock};
use crate::context::now_ms;
use crate::recording::{Begun, Recording, When};
use glass_model::{
    AbortReason, AuditEntry, AuditKind, EventBody, Execution, ExitDetails, Outcome, Phase,
    ShellKind, signal_of_exit_code,
};
use glass_spawn::{terminal, tree};
use glass_store::{Change, Store};
use glass_vt::Marker;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A program that was told to stop has so long before it is told more firmly.
const STOP_GRACE: Duration = Duration::from_millis(1500);

/// When a command that was adopted, and whose end may be lost, is looked at.
const LOST_LOOK: Duration = Duration::from_secs(1);

/// The command that runs in front of the shell.
pub(super) struct Front {
    pub(super) execution: Execution,
    pub(super) recording: Recording,
    /// What it wrote first, where that may be its shell's.
    preamble: Option<Preamble>,
    /// What it wrote last, where that may be its shell's.
    postamble: Option<Postamble>,
    /// When its time is over.
    deadline: Option<Instant>,
    /// When to see whether it ended while nobody listened.
    lost_at: Option<Instant>,
    stop: Option<Stop>,
}

/// How far it is with being stopped.
struct Stop {
    reason: AbortReason,
    step: Step,
    next: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Interrupted,
    Asked,
    Forced,
}

impl Front {
    /// When something is due about it.
    pub(super) fn due(&self) -> Option<Instant> {
        match &self.stop {
            Some(stop) => Some(stop.next),
            None => self.deadline.into_iter().chain(self.lost_at).min(),
        }
    }

    /// Takes up a command that began before this daemon did.
    pub(super) fn adopted(execution: Execution, recording: Recording, kind: ShellKind) -> Front {
        let elapsed_ms = (now_ms() - execution.started_ms).max(0);
        let left = i64::from(execution.timeout_ms) - elapsed_ms;
        let left = Duration::from_millis(u64::try_from(left).unwrap_or(0));
        let now = Instant::now();
        // It may have ended in time, and the word of that is still to be read.
        let left = left.max(LOST_LOOK);
        Front {
            deadline: (execution.timeout_ms > 0).then(|| now + left),
            lost_at: Some(now + LOST_LOOK),
            execution,
            recording,
            preamble: None,
            postamble: Postamble::of(kind),
            stop: None,
        }
    }

    /// Records what the terminal brought while it ran.
    pub(super) fn record(&mut self, store: &Store, bytes: &[u8]) -> std::io::Result<()> {
        let Some(preamble) = &mut self.preamble else {
            return self.append(store, bytes);
        };
        match preamble.take(bytes) {
            None => Ok(()),
            Some(own) => {
                self.preamble = None;
                self.append(store, &own)
            }
        }
    }

    fn append(&mut self, store: &Store, bytes: &[u8]) -> std::io::Result<()> {
        match &mut self.postamble {
            None => self.recording.append(store, bytes),
            Some(postamble) => self.recording.append(store, &postamble.take(bytes)),
        }
    }

    /// Records what was held back in case it was the shell's.
    fn record_rest(&mut self, store: &Store) -> std::io::Result<()> {
        if let Some(preamble) = self.preamble.take() {
            self.append(store, &preamble.finish())?;
        }
        match self.postamble.take() {
            None => Ok(()),
            Some(postamble) => self.recording.append(store, &postamble.finish()),
        }
    }
}

impl Task {
    /// Believes a marker of the shell's own.
    pub(super) fn believe(&mut self, marker: Marker) {
        for fact in self.beliefs.take(marker) {
            match fact {
                Fact::Ready => self.integrated(),
                Fact::Prompt => {
                    self.leaves.0 = self.leaves.0.saturating_sub(1);
                    self.show();
                }
                Fact::Taken(number) => self.taken(number),
                Fact::Draft => self.has_draft = true,
                Fact::Began { command, taken } => self.began(command, taken),
                Fact::Ended { code } => self.ended(code),
                Fact::Passed(number) => self.passed_over(number),
                Fact::Cwd(cwd) => self.moved(cwd),
            }
        }
    }

    fn integrated(&mut self) {
        super::integration::remove_scripts(&self.room());
        self.set_integration("rich", "the shell marks its commands");
    }

    /// Says how much the shell tells, and why no more.
    pub(super) fn set_integration(&mut self, level: &str, reason: &str) {
        self.integration = format!("{level}: {reason}");
        let detail = self.integration.clone();
        self.remark("integration", &detail);
        self.show();
    }

    fn moved(&mut self, cwd: String) {
        if cwd == self.session.cwd {
            return;
        }
        self.session.cwd.clone_from(&cwd);
        self.name(When::Running);
        let event = self.event_of(None, EventBody::Cwd { cwd: cwd.clone() });
        let session = Change::UpdateSession {
            id: self.session.id.clone(),
            cwd: Some(cwd),
            env: None,
            mode: None,
            active_ms: event.at_ms,
            disposed_ms: None,
        };
        let changes = vec![self.recorded(&event), session];
        self.write(changes, vec![event]);
        self.show();
    }

    pub(super) fn began(&mut self, command: Option<String>, taken: Option<u32>) {
        // Nothing begins before what ran has ended, whether that was told or not.
        self.ended(None);
        // It was told, so what was written down of it is not needed.
        self.forget_said();
        let handed = taken.and_then(|number| self.take_offered(number));
        let mut changes = Vec::new();
        let mut execution = handed.unwrap_or_else(|| {
            let execution = self.typed(command.unwrap_or_default());
            changes.push(Change::InsertExecution(execution.clone()));
            execution
        });
        let allowed = self.queue.passed.remove(&execution.shell_id);
        self.name(When::Running);
        let id = execution.shell_id;
        execution.cwd.clone_from(&self.session.cwd);
        let start = EventBody::CommandStart {
            command: execution.command.clone(),
            cwd: execution.cwd.clone(),
            pid: u32::try_from(self.launched.child.pid).unwrap_or(0),
        };
        let event = self.event_of(Some(id), start);
        execution.phase = Phase::Running;
        let waited_ms = event.at_ms - execution.started_ms;
        self.context
            .figures
            .began(execution.sandbox.kind, waited_ms);
        execution.started_ms = event.at_ms;
        execution.start = Some(event.index);
        execution.launch = Some(self.launched.id);
        changes.push(Change::StartExecution {
            shell_id: id,
            launch: self.launched.id,
            slot: 0,
            start: event.index,
            started_ms: event.at_ms,
            cwd: execution.cwd.clone(),
        });
        changes.push(self.recorded(&event));
        changes.push(self.audit_ran(&execution, allowed));
        self.write(changes, vec![event]);
        let quota = self.context.settings.limits.execution_output_bytes_max;
        let recording = Recording::of_terminal(&self.context.store, id, NO_OUTPUT, Begun::Now);
        let allowed_ms = Duration::from_millis(u64::from(execution.timeout_ms));
        self.front = Some(Front {
            deadline: (!allowed_ms.is_zero()).then(|| Instant::now() + allowed_ms),
            lost_at: None,
            recording: recording.within(quota),
            preamble: Preamble::of(self.session.shell.kind),
            postamble: Postamble::of(self.session.shell.kind),
            execution,
            stop: None,
        });
        if self.queue.doomed.take_if(|doomed| *doomed == id).is_some() {
            self.stop_front(AbortReason::User);
        }
        self.looks.began();
        self.show();
    }

    /// What a person typed is an execution like any other.
    fn typed(&self, command: String) -> Execution {
        Execution {
            shell_id: self.context.store.next_shell_id(),
            command,
            cwd: self.session.cwd.clone(),
            phase: Phase::Queued,
            launch: None,
            start: None,
            started_ms: now_ms(),
            ..self.execution.clone()
        }
    }

    pub(super) fn ended(&mut self, code: Option<i32>) {
        let Some(front) = self.front.take() else {
            return;
        };
        if self.session.shell.kind == ShellKind::Nu {
            // It has been read.
            drop(std::fs::remove_file(self.room().join(super::nu::FILE)));
        }
        if let Some(init) = self.launched.init {
            // Behind walls nothing outlives its command but the shell's own jobs.
            tree::end_orphans(&init, ORPHANS_WITHIN);
        }
        let outcome = match &front.stop {
            Some(stop) => Outcome {
                abort: Some(stop.reason),
                ..Outcome::default()
            },
            None => Outcome {
                code,
                details: ExitDetails {
                    signal: code.and_then(signal_of_exit_code),
                    ..ExitDetails::default()
                },
                ..Outcome::default()
            },
        };
        self.finish_front(front, outcome);
    }

    /// Writes the end of what ran in front, after all that it wrote.
    pub(super) fn finish_front(&mut self, mut front: Front, outcome: Outcome) {
        self.name(When::Running);
        if let Err(error) = front.record_rest(&self.context.store) {
            tracing::error!(session = %self.session.id, %error, "output could not be recorded");
        }
        self.name_recording(&mut front.recording, When::Last);
        let output = front.recording.end();
        self.finish(front.execution, output, outcome);
    }

    /// Writes how an execution ended, and tells whoever waits for that.
    pub(super) fn finish(&mut self, mut execution: Execution, output: OutputEnd, outcome: Outcome) {
        let id = execution.shell_id;
        let withdrawn = self.withdraw(&execution);
        self.queue.passed.remove(&id);
        let exit = self.event_of(
            Some(id),
            EventBody::Exit {
                command: execution.command.clone(),
                outcome: outcome.clone(),
            },
        );
        let mut changes = vec![
            self.recorded(&exit),
            Change::EndExecution {
                shell_id: id,
                end: Some(exit.index),
                ended_ms: exit.at_ms,
                outcome: outcome.clone(),
            },
        ];
        changes.extend(withdrawn);
        let ended = AuditKind::Ended {
            code: outcome.code,
            how: how(&outcome),
        };
        changes.push(Change::Audit(
            self.audit_entry(&execution, exit.at_ms, ended),
        ));
        execution.phase = Phase::Ended;
        execution.end = Some(exit.index);
        execution.ended_ms = Some(exit.at_ms);
        execution.outcome = outcome;
        self.session.active_ms = exit.at_ms;
        self.write(changes, vec![exit]);
        // What it says of itself is shown below.
        let _ = self.looks.ended();
        lock(&self.live).last = Some((id, execution.command.clone(), execution.outcome.code));
        self.show();
        self.tell_end(execution, output);
    }

    fn tell_end(&mut self, execution: Execution, output: OutputEnd) {
        let id = execution.shell_id;
        let stopped = execution.outcome.abort.is_some();
        let finished = Finished {
            execution: match self.backlog.is_empty() {
                true => Ok(Arc::new(execution)),
                false => Err("the journal cannot be written".to_owned()),
            },
            cwd: self.session.cwd.clone(),
            output: Some(output),
        };
        for watcher in self.queue.watchers.remove(&id).unwrap_or_default() {
            drop(watcher.send(finished.clone()));
        }
        let cancels = std::mem::take(&mut self.queue.cancels);
        for (cancelled, reply) in cancels {
            if cancelled == id {
                // Whoever asked may have left.
                let _ = reply.send(stopped);
            } else {
                self.queue.cancels.push((cancelled, reply));
            }
        }
    }

    /// Stops the command in front, ever more firmly until it ends.
    pub(super) fn stop_front(&mut self, reason: AbortReason) {
        let Some(front) = &mut self.front else {
            return;
        };
        if front.stop.is_none() {
            front.stop = Some(Stop {
                reason,
                step: Step::Interrupted,
                next: Instant::now() + STOP_GRACE,
            });
            self.say(bytes::Bytes::from_static(&[super::orders::CTRL_C]));
        }
    }

    /// Does what is due about the command in front.
    pub(super) fn tend_front(&mut self, now: Instant) {
        let Some(front) = &mut self.front else {
            return;
        };
        let Some(stop) = &mut front.stop else {
            if front.lost_at.take_if(|at| *at <= now).is_some() && self.has_lost_end(now) {
                self.beliefs.is_at_prompt();
                return self.ended(None);
            }
            return self.stop_late(now);
        };
        if stop.next > now {
            return;
        }
        stop.next = now + STOP_GRACE;
        stop.step = match stop.step {
            Step::Interrupted => Step::Asked,
            Step::Asked | Step::Forced => Step::Forced,
        };
        let manner = match stop.step {
            Step::Interrupted | Step::Asked => terminal::Ending::Asked,
            Step::Forced => terminal::Ending::Forced,
        };
        let shell = self.launched.child.pid;
        if terminal::end_foreground(self.master.get_ref(), shell, manner) {
            return;
        }
        if terminal::reads_keys(self.master.get_ref(), shell) {
            // It is at its prompt, and what it said of that is lost.
            self.beliefs.is_at_prompt();
            return self.ended(None);
        }
        // A loop of the shell's own has only this to hear of it.
        self.say(bytes::Bytes::from_static(&[super::orders::CTRL_C]));
    }

    fn stop_late(&mut self, now: Instant) {
        let is_late = |deadline: &mut Instant| *deadline <= now;
        let front = self.front.as_mut();
        if front.is_some_and(|front| front.deadline.take_if(is_late).is_some()) {
            self.stop_front(AbortReason::Timeout);
        }
    }

    /// Whether the shell is at its prompt, and what it said of the end of the
    /// command that was adopted went down with the last daemon.
    fn has_lost_end(&mut self, now: Instant) -> bool {
        if !terminal::reads_keys(self.master.get_ref(), self.launched.child.pid) {
            return false;
        }
        let is_quiet = self.looks.silent_for(now) >= LOST_LOOK / 2;
        if let Some(front) = self.front.as_mut().filter(|_| !is_quiet) {
            // The end may be in what still comes.
            front.lost_at = Some(now + LOST_LOOK);
        }
        is_quiet
    }

    pub(super) fn audit_ran(&self, execution: &Execution, allowed: Option<String>) -> Change {
        let what = AuditKind::Ran {
            cwd: execution.cwd.clone(),
            sandbox: in_short(&execution.sandbox),
        };
        let detail = allowed.map_or_else(|| "typed".to_owned(), |by| format!("allowed: {by}"));
        Change::Audit(AuditEntry {
            command: execution.command.clone(),
            detail,
            ..self.audit_entry(execution, execution.started_ms, what)
        })
    }

    /// An entry about an execution, without its text.
    pub(super) fn audit_entry(
        &self,
        execution: &Execution,
        at_ms: i64,
        what: AuditKind,
    ) -> AuditEntry {
        AuditEntry {
            at_ms,
            session: self.session.id.as_str().to_owned(),
            shell_id: execution.shell_id.0,
            task: execution.task(&self.session).to_owned(),
            asked_by: asked_by(execution.asked_by, execution.task(&self.session)),
            what,
            command: String::new(),
            detail: String::new(),
        }
    }
}
