//! Writing: nothing is published that is not in the journal.

use super::{Actor, Aftermath, End, Finished, OutputEnd, RETRY_MS, lock};
use crate::context::now_ms;
use crate::recording::When;
use crate::state::Input;
use glass_model::{Event, EventBody, Execution, Mode, Phase, ShellId};
use glass_store::{Change, WriteError};
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Actor {
    /// Gives an event its place. It must be written next.
    pub(super) fn event(&mut self, shell_id: Option<ShellId>, body: EventBody) -> Event {
        let index = self.next;
        self.next = index.next();
        Event {
            index,
            at_ms: now_ms(),
            shell_id,
            body,
        }
    }

    /// The change that writes an event.
    pub(super) fn recorded(&self, event: &Event) -> Change {
        Change::Event {
            session: self.session.id.clone(),
            event: event.clone(),
        }
    }

    /// Writes changes and then does what follows from them; when they cannot be
    /// written, keeps both in order until they can. Output that arrives
    /// meanwhile waits in its file.
    pub(super) fn write(&mut self, changes: Vec<Change>, aftermath: Aftermath) {
        if aftermath.finished.is_some() {
            // Somebody waits for this one: there may be room again.
            self.retry_backlog();
        }
        if self.backlog.is_empty() {
            let began = std::time::Instant::now();
            let written = self.context.store.defer(&changes);
            self.context.figures.journaled(began.elapsed());
            match written {
                Ok(()) => return self.conclude(aftermath),
                Err(error) => self.cannot_write(&error),
            }
        }
        if let Some(End {
            shell_id, output, ..
        }) = aftermath.finished.clone()
        {
            self.answer(
                shell_id,
                Err("the journal cannot be written".to_owned()),
                output,
            );
        }
        self.backlog.push_back((changes, aftermath));
    }

    /// Writes changes now or not at all. What waits to be written goes first,
    /// because its events come before these.
    pub(super) fn commit_now(&mut self, changes: &[Change]) -> Result<(), WriteError> {
        self.retry_backlog();
        if self.backlog.is_empty() {
            self.context.store.defer(changes)
        } else {
            Err(WriteError::DiskFull)
        }
    }

    fn cannot_write(&mut self, error: &WriteError) {
        tracing::error!(session = %self.session.id, %error, "the journal cannot be written");
        self.context.figures.journal_failed();
        self.retry_at = Some(Instant::now() + Duration::from_millis(RETRY_MS));
    }

    pub(super) fn retry_backlog(&mut self) {
        while let Some((changes, _)) = self.backlog.front() {
            if let Err(error) = self.context.store.commit(changes) {
                return self.cannot_write(&error);
            }
            if let Some((_, aftermath)) = self.backlog.pop_front() {
                self.conclude(aftermath);
            }
        }
    }

    /// What follows once the changes are in the journal.
    pub(super) fn conclude(&mut self, aftermath: Aftermath) {
        crate::failpoint::hit("journaled");
        // Whoever hears of an end asks where the session is now.
        lock(&self.live).session.cwd.clone_from(&self.session.cwd);
        self.context.note_change();
        self.feed.publish(aftermath.events);
        self.context.news.notify_one();
        crate::failpoint::hit("published");
        if let Some(end) = aftermath.finished {
            self.conclude_execution(end);
        }
    }

    fn conclude_execution(&mut self, end: End) {
        let End {
            shell_id,
            outcome,
            index,
            at_ms,
            output,
        } = end;
        let Some(mut execution) = self.accepted.remove(&shell_id) else {
            return;
        };
        lock(&self.live).last = Some((shell_id, execution.command.clone(), outcome.code));
        let took_ms = at_ms - execution.started_ms;
        tracing::debug!(session = %self.session.id, shell = %shell_id, code = outcome.code, took_ms, "a command ended");
        self.context.note_change();
        execution.phase = Phase::Ended;
        execution.end = Some(index);
        execution.ended_ms = Some(at_ms);
        execution.outcome = outcome;
        self.answer(shell_id, Ok(Arc::new(execution)), output);
    }

    fn answer(
        &mut self,
        id: ShellId,
        execution: Result<Arc<Execution>, String>,
        output: OutputEnd,
    ) {
        let stopped = execution
            .as_ref()
            .is_ok_and(|ended| ended.outcome.abort.is_some());
        let finished = Finished {
            execution,
            cwd: self.session.cwd.clone(),
            output: Some(output),
        };
        for watcher in self.watchers.remove(&id).unwrap_or_default() {
            drop(watcher.send(finished.clone()));
        }
        let (these, others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.cancels)
            .into_iter()
            .partition(|(cancel, _)| *cancel == id);
        self.cancels = others;
        for (_, reply) in these {
            let _ = reply.send(stopped);
        }
    }

    /// Gives their events to all bytes that have been recorded without one.
    pub(super) fn flush(&mut self) {
        self.flush_at = None;
        self.last_flush = Instant::now();
        if !self.backlog.is_empty() {
            return;
        }
        let store = self.context.store.clone();
        let running = self
            .running
            .iter_mut()
            .map(|running| &mut running.recording);
        let tails = self.tails.iter_mut().map(|tail| &mut tail.recording);
        let mut bodies = Vec::new();
        for recording in running
            .chain(tails)
            .filter(|recording| recording.has_pending())
        {
            let when = if recording.is_open() {
                When::Running
            } else {
                When::Last
            };
            match recording.name(&store, when) {
                Ok(named) => {
                    bodies.extend(named.into_iter().map(|body| (recording.shell_id(), body)));
                }
                Err(error) => tracing::error!(%error, "recorded output could not be read"),
            }
        }
        if bodies.is_empty() {
            return;
        }
        crate::failpoint::hit("output-named");
        let events: Vec<Event> = bodies
            .into_iter()
            .map(|(id, body)| self.event(Some(id), body))
            .collect();
        let changes = events.iter().map(|event| self.recorded(event)).collect();
        self.write(
            changes,
            Aftermath {
                events,
                finished: None,
            },
        );
        self.keep_to_quota();
    }

    /// Cuts the middle out of what a flooding command has left.
    pub(super) fn keep_to_quota(&mut self) {
        let keep = self.context.settings.limits.execution_output_bytes_max;
        let store = &self.context.store;
        let running = self
            .running
            .iter_mut()
            .map(|running| &mut running.recording);
        let tails = self.tails.iter_mut().map(|tail| &mut tail.recording);
        for recording in running.chain(tails) {
            let Some((stream, keep)) = recording.over_quota(keep) else {
                continue;
            };
            let reason = "the execution's output quota";
            match store.trim_execution(recording.shell_id(), stream, keep, reason) {
                Ok(bytes) => recording.trimmed(stream, bytes),
                Err(error) => tracing::error!(%error, "output could not be trimmed"),
            }
        }
    }

    /// Tells the watchers that a command's time is over; its end follows.
    pub(super) fn tell_timeout(&mut self, id: ShellId) {
        let ms = self.accepted.get(&id).map_or(0, |run| run.timeout_ms);
        self.remark(
            "timeout",
            format!("its time of {ms} ms is over: it is ended"),
        );
    }

    /// Tells the watchers something about the session.
    pub(super) fn remark(&mut self, status: &str, detail: String) -> Option<Input> {
        let body = EventBody::Status {
            status: status.to_owned(),
            detail,
        };
        let event = self.event(self.state.current(), body);
        let changes = vec![self.recorded(&event)];
        self.write(
            changes,
            Aftermath {
                events: vec![event],
                finished: None,
            },
        );
        None
    }

    pub(super) fn become_line(&mut self) -> Option<Input> {
        self.session.mode = Mode::Line;
        let change = self.session_change(None);
        self.write(vec![change], Aftermath::default());
        None
    }

    /// The change that writes where the session is, and what it exports if that
    /// is new.
    pub(super) fn session_change(&mut self, env: Option<Vec<Vec<u8>>>) -> Change {
        self.session.active_ms = now_ms();
        Change::UpdateSession {
            id: self.session.id.clone(),
            cwd: Some(self.session.cwd.clone()),
            env,
            mode: Some(self.session.mode),
            active_ms: self.session.active_ms,
            disposed_ms: self.session.disposed_ms,
        }
    }
}
