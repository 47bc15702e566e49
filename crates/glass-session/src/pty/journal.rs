//! What of a terminal enters the journal: its output, as that of one long
//! execution, and its end. What is typed never does.

use super::Task;
use crate::context::now_ms;
use crate::recording::When;
use glass_model::{Event, EventBody, Outcome, Stream};
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
        if self.name_at.is_none() {
            self.name_at = Some(Instant::now() + NAME_AFTER);
        }
    }

    fn event(&mut self, body: EventBody) -> Event {
        let index = self.next;
        self.next = index.next();
        Event {
            index,
            at_ms: now_ms(),
            shell_id: match body {
                EventBody::Disposed => None,
                _ => Some(self.execution.shell_id),
            },
            body,
        }
    }

    fn recorded(&self, event: &Event) -> Change {
        Change::Event {
            session: self.session.id.clone(),
            event: event.clone(),
        }
    }

    /// Writes changes and publishes their events; what cannot be written waits,
    /// and nothing is written before it.
    fn write(&mut self, changes: Vec<Change>, events: Vec<Event>) {
        self.backlog.push_back((changes, events));
        self.write_backlog();
    }

    pub(super) fn write_backlog(&mut self) {
        self.retry_at = None;
        while let Some((changes, events)) = self.backlog.pop_front() {
            if let Err(error) = self.context.store.defer(&changes) {
                tracing::error!(session = %self.session.id, %error, "the journal cannot be written");
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
        if bodies.is_empty() {
            return;
        }
        let events: Vec<Event> = bodies.into_iter().map(|body| self.event(body)).collect();
        let changes = events.iter().map(|event| self.recorded(event)).collect();
        self.write(changes, events);
        self.session.active_ms = now_ms();
        self.keep_to_quota();
        self.show();
    }

    /// Tells the readers something about the session.
    pub(super) fn remark(&mut self, status: &str, detail: &str) {
        self.name(When::Running);
        let event = self.event(EventBody::Status {
            status: status.to_owned(),
            detail: detail.to_owned(),
        });
        let changes = vec![self.recorded(&event)];
        self.write(changes, vec![event]);
    }

    fn keep_to_quota(&mut self) {
        let keep = self.context.settings.limits.execution_output_bytes_max;
        let Some((_, keep)) = self.recording.over_quota(keep) else {
            return;
        };
        let reason = "the execution's output quota";
        let id = self.execution.shell_id;
        let trimmed = self
            .context
            .store
            .trim_execution(id, Stream::Stdout, keep, reason);
        match trimmed {
            Ok(bytes) => self.recording.trimmed(Stream::Stdout, bytes),
            Err(error) => tracing::error!(%error, "output could not be trimmed"),
        }
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
