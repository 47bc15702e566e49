//! Events on their way from a session to whoever reads it.
//!
//! Readers hold a cursor and nothing else. Recent events are kept in memory,
//! older ones come from the journal, and both are the same records: a reader
//! that is slow reads later, and costs the session nothing.

use crate::figures::Figures;
use glass_model::{Event, EventBody, EventIndex, SessionId, ShellId};
use glass_store::{ReadError, Store};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Bytes of recent events kept in memory for each session.
const RECENT_BYTES_MAX: usize = 16 * 1024;

/// Events that one read takes from the journal.
const BATCH_EVENTS_MAX: usize = 256;

/// Executions of a session whose beginning is remembered, to measure them.
const BEGUN_MAX: usize = 64;

/// The live end of a session's events.
pub(crate) struct Feed {
    figures: Arc<Figures>,
    /// The execution that is a terminal's shell, where there is one: what its
    /// commands write are copies of what it writes.
    terminal: Option<ShellId>,
    recent: Mutex<Recent>,
    next: watch::Sender<Progress>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Progress {
    next: EventIndex,
    closed: bool,
}

#[derive(Default)]
struct Recent {
    first: EventIndex,
    events: VecDeque<Arc<Event>>,
    bytes: usize,
    /// When executions began that are not over; no more than a few.
    begun: Vec<(ShellId, i64)>,
}

impl Feed {
    pub(crate) fn new(next: EventIndex, figures: Arc<Figures>, terminal: Option<ShellId>) -> Feed {
        let recent = Recent {
            first: next,
            ..Recent::default()
        };
        Feed {
            figures,
            terminal,
            recent: Mutex::new(recent),
            next: watch::Sender::new(Progress {
                next,
                closed: false,
            }),
        }
    }

    /// Makes events visible. They are in the journal already.
    pub(crate) fn publish(&self, events: Vec<Event>) {
        let Some(last) = events.last() else { return };
        let next = last.index.next();
        {
            let mut recent = self.recent();
            for event in events {
                let began_ms = recent.began_ms(&event);
                if self.counts(&event) {
                    self.figures.published(&event, began_ms);
                }
                recent.push(event);
            }
        }
        self.next.send_modify(|progress| progress.next = next);
    }

    /// Whether an event counts. In a terminal all output is its shell's, and what
    /// its commands wrote a copy of that; and the shell itself is no command.
    fn counts(&self, event: &Event) -> bool {
        let is_terminal = self.terminal.is_some() && event.shell_id == self.terminal;
        match &event.body {
            EventBody::CommandStart { .. } => !is_terminal,
            EventBody::Output { .. } | EventBody::Dropped { .. } => {
                self.terminal.is_none() || is_terminal
            }
            _ => true,
        }
    }

    /// Says that no more will come.
    pub(crate) fn close(&self) {
        self.next.send_modify(|progress| progress.closed = true);
    }

    pub(crate) fn next_index(&self) -> EventIndex {
        self.next.borrow().next
    }

    fn recent(&self) -> MutexGuard<'_, Recent> {
        // A panic elsewhere cannot leave the ring half changed in a way that
        // matters: the journal has everything.
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The recent events from `from` on, if all of them are still here.
    fn since(&self, from: EventIndex) -> Option<Vec<Arc<Event>>> {
        let recent = self.recent();
        let skip = from.0.checked_sub(recent.first.0)?;
        let skip = usize::try_from(skip).ok()?;
        Some(recent.events.iter().skip(skip).cloned().collect())
    }
}

impl Recent {
    /// When the execution of an event began, if the event ends it.
    fn began_ms(&mut self, event: &Event) -> Option<i64> {
        let id = event.shell_id?;
        match &event.body {
            EventBody::CommandStart { .. } => {
                if self.begun.len() < BEGUN_MAX {
                    self.begun.push((id, event.at_ms));
                }
                None
            }
            EventBody::Exit { .. } => {
                let at = self.begun.iter().position(|(known, _)| *known == id)?;
                Some(self.begun.swap_remove(at).1)
            }
            _ => None,
        }
    }

    fn push(&mut self, event: Event) {
        self.bytes += weight(&event);
        self.events.push_back(Arc::new(event));
        while self.bytes > RECENT_BYTES_MAX
            && let Some(oldest) = self.events.pop_front()
        {
            self.bytes -= weight(&oldest);
            self.first = self.first.next();
        }
    }
}

/// Roughly what an event costs in memory.
fn weight(event: &Event) -> usize {
    let text = match &event.body {
        EventBody::CommandStart { command, cwd, .. } => command.len() + cwd.len(),
        EventBody::Exit { command, .. } => command.len(),
        EventBody::Cwd { cwd } => cwd.len(),
        EventBody::Dropped { dropped, .. } => dropped.reason.len(),
        EventBody::ApprovalPending {
            command, reason, ..
        } => command.len() + reason.len(),
        EventBody::Status { status, detail } => status.len() + detail.len(),
        EventBody::Output { .. } | EventBody::Disposed => 0,
    };
    size_of::<Event>() + 32 + text
}

/// A reader of one session's events, from an index on, without gap or repeat.
pub struct Follower {
    session: SessionId,
    store: Store,
    at: EventIndex,
    live: Option<Live>,
}

struct Live {
    feed: Arc<Feed>,
    progress: watch::Receiver<Progress>,
}

impl Follower {
    pub(crate) fn live(session: SessionId, store: Store, feed: Arc<Feed>, at: EventIndex) -> Self {
        let progress = feed.next.subscribe();
        Follower {
            session,
            store,
            at,
            live: Some(Live { feed, progress }),
        }
    }

    /// A reader of a session that is over.
    pub(crate) fn stored(session: SessionId, store: Store, at: EventIndex) -> Follower {
        Follower {
            session,
            store,
            at,
            live: None,
        }
    }

    /// Whose events these are.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// The event that is read next.
    pub fn at(&self) -> EventIndex {
        self.at
    }

    /// The next events, at least one; none when the session is over. Waits for
    /// live ones.
    pub async fn next(&mut self) -> Result<Option<Vec<Arc<Event>>>, ReadError> {
        loop {
            let closed = match &mut self.live {
                Some(live) => live.progress.borrow_and_update().closed,
                None => true,
            };
            let batch = self.ready()?;
            if let Some(last) = batch.last() {
                self.at = last.index.next();
                return Ok(Some(batch));
            }
            if closed {
                return Ok(None);
            }
            if let Some(live) = &mut self.live
                && live.progress.changed().await.is_err()
            {
                self.live = None;
            }
        }
    }

    /// The next events that can be had without waiting.
    pub(crate) fn take_ready(&mut self) -> Result<Vec<Arc<Event>>, ReadError> {
        let batch = self.ready()?;
        if let Some(last) = batch.last() {
            self.at = last.index.next();
        }
        Ok(batch)
    }

    /// What can be had without waiting.
    fn ready(&self) -> Result<Vec<Arc<Event>>, ReadError> {
        if let Some(live) = &self.live {
            // The index is read first: what is published after that belongs to
            // the next round.
            let next = live.feed.next_index();
            if self.at >= next {
                return Ok(Vec::new());
            }
            if let Some(recent) = live.feed.since(self.at) {
                return Ok(recent);
            }
        }
        let events = self
            .store
            .events(&self.session, self.at, BATCH_EVENTS_MAX)?;
        Ok(events.into_iter().map(Arc::new).collect())
    }
}
