//! What of a terminal enters the journal: its output, as that of one long
//! execution, and its end. What is typed never does.

use super::Task;
use crate::context::{Context, now_ms};
use crate::recording::{Recording, When};
use glass_model::{Event, EventBody, Outcome, ShellId};
use glass_store::Change;
use std::time::{Duration, Instant};

/// Output is named by events after so much time.
const NAME_AFTER: Duration = Duration::from_millis(20);

/// How often a write that failed is tried again.
const RETRY: Duration = Duration::from_millis(500);

impl Task {
    /// Records output. It is in the file before anybody sees it.
    pub(super) fn record(&mut self, bytes: &[u8]) {
        let store = &self.context.store;
        if let Err(error) = self.recording.append(store, bytes) {
            tracing::error!(session = %self.session.id, %error, "output could not be recorded");
        }
        if let Some(front) = &mut self.front
            && let Err(error) = front.record(store, bytes)
        {
            tracing::error!(session = %self.session.id, %error, "output could not be recorded");
        }
        self.name_soon();
    }

    pub(super) fn name_soon(&mut self) {
        if self.name_at.is_none() {
            self.name_at = Some(Instant::now() + NAME_AFTER);
        }
    }

    fn event(&mut self, body: EventBody) -> Event {
        let shell_id = match body {
            EventBody::Disposed => None,
            _ => Some(self.execution.shell_id),
        };
        self.event_of(shell_id, body)
    }

    /// Gives an event of an execution its place. It must be written next.
    pub(super) fn event_of(&mut self, shell_id: Option<ShellId>, body: EventBody) -> Event {
        let index = self.next;
        self.next = index.next();
        Event {
            index,
            at_ms: now_ms(),
            shell_id,
            body,
        }
    }

    pub(super) fn recorded(&self, event: &Event) -> Change {
        Change::Event {
            session: self.session.id.clone(),
            event: event.clone(),
        }
    }

    /// Writes changes and publishes their events; what cannot be written waits,
    /// and nothing is written before it.
    pub(super) fn write(&mut self, changes: Vec<Change>, events: Vec<Event>) {
        self.backlog.push_back((changes, events));
        self.write_backlog();
    }

    pub(super) fn write_backlog(&mut self) {
        self.retry_at = None;
        while let Some((changes, events)) = self.backlog.pop_front() {
            if let Err(error) = self.context.store.defer(&changes) {
                tracing::error!(session = %self.session.id, %error, "the journal cannot be written");
                self.context.figures.journal_failed();
                self.backlog.push_front((changes, events));
                self.retry_at = Some(Instant::now() + RETRY);
                return;
            }
            self.feed.publish(events);
            self.context.news.notify_one();
        }
    }

    /// Gives their events to all bytes that have none. While the journal cannot
    /// be written, they wait in their file.
    pub(super) fn name(&mut self, when: When) {
        self.name_at = None;
        if !self.backlog.is_empty() {
            return;
        }
        let bodies = match self.recording.name(&self.context.store, when) {
            Ok(bodies) => bodies,
            Err(error) => {
                tracing::error!(session = %self.session.id, %error, "output could not be read");
                return;
            }
        };
        self.write_named(self.execution.shell_id, bodies);
        if let Some(mut front) = self.front.take() {
            self.name_recording(&mut front.recording, When::Running);
            self.keep_to_quota(&mut front.recording);
            self.front = Some(front);
        }
        self.name_plain(When::Running);
        self.keep_shell_to_quota();
        self.show_activity();
    }

    /// The same for the output of one command.
    pub(super) fn name_recording(&mut self, recording: &mut Recording, when: When) {
        match recording.name(&self.context.store, when) {
            Ok(bodies) => self.write_named(recording.shell_id(), bodies),
            Err(error) => {
                tracing::error!(session = %self.session.id, %error, "output could not be read");
            }
        }
    }

    fn write_named(&mut self, id: ShellId, bodies: Vec<EventBody>) {
        if bodies.is_empty() {
            return;
        }
        let bodies = bodies.into_iter();
        let events: Vec<Event> = bodies.map(|body| self.event_of(Some(id), body)).collect();
        let changes = events.iter().map(|event| self.recorded(event)).collect();
        self.write(changes, events);
        self.session.active_ms = now_ms();
    }

    /// Tells the readers something about the session.
    pub(super) fn remark(&mut self, status: &str, detail: &str) {
        self.remark_on(self.execution.shell_id, status, detail);
    }

    /// Tells the readers something about an execution.
    pub(super) fn remark_on(&mut self, id: ShellId, status: &str, detail: &str) {
        self.name(When::Running);
        let event = self.event_of(
            Some(id),
            EventBody::Status {
                status: status.to_owned(),
                detail: detail.to_owned(),
            },
        );
        let changes = vec![self.recorded(&event)];
        self.write(changes, vec![event]);
    }

    fn keep_shell_to_quota(&mut self) {
        let context = self.context.clone();
        keep_to_quota(&context, &mut self.recording);
    }

    pub(super) fn keep_to_quota(&self, recording: &mut Recording) {
        keep_to_quota(&self.context, recording);
    }

    /// Writes the end of the shell, and of the session with it.
    pub(super) fn write_end(&mut self, outcome: &Outcome) {
        self.name(When::Last);
        let exit = self.event(EventBody::Exit {
            command: self.execution.command.clone(),
            outcome: outcome.clone(),
        });
        let end = Change::EndExecution {
            shell_id: self.execution.shell_id,
            end: Some(exit.index),
            ended_ms: exit.at_ms,
            outcome: outcome.clone(),
        };
        let disposed = self.event(EventBody::Disposed);
        self.session.disposed_ms = Some(disposed.at_ms);
        self.session.active_ms = disposed.at_ms;
        let session = Change::UpdateSession {
            id: self.session.id.clone(),
            cwd: None,
            env: None,
            mode: None,
            active_ms: disposed.at_ms,
            disposed_ms: self.session.disposed_ms,
        };
        let changes = vec![self.recorded(&exit), end, self.recorded(&disposed), session];
        self.write(changes, vec![exit, disposed]);
    }
}

fn keep_to_quota(context: &Context, recording: &mut Recording) {
    let keep = context.settings.limits.execution_output_bytes_max;
    let Some((stream, keep)) = recording.over_quota(keep) else {
        return;
    };
    let reason = "the execution's output quota";
    match context
        .store
        .trim_execution(recording.shell_id(), stream, keep, reason)
    {
        Ok(bytes) => recording.trimmed(stream, bytes),
        Err(error) => tracing::error!(%error, "output could not be trimmed"),
    }
}
