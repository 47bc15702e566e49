//! A session as a terminal that only shows: its history, then what happens.
//!
//! Reading is by cursor: a reader that is slow reads later, and costs the
//! session nothing.

use glass_model::{Event, EventBody, EventIndex};
use glass_session::{Caller, Engine, Follower, LookupError};
use glass_vt::mirror::{Mirror, MirrorEvent, replay_bytes_max};
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes after which a piece is handed over, so that a replay begins to be
/// shown before all of it is read.
const PIECE_BYTES_MAX: usize = 256 * 1024;

/// Events that are counted in one go before a replay.
const COUNT_EVENTS_MAX: usize = 4096;

/// A mirror of one session.
pub(crate) struct MirrorView {
    engine: Engine,
    follower: Follower,
    mirror: Mirror,
    /// Events that were read and are not shown yet.
    pending: VecDeque<Arc<Event>>,
    /// The first event that is not part of the replay; none once it is over.
    replay_end: Option<EventIndex>,
    /// What opening made, to be shown first.
    opening: Vec<u8>,
}

/// What a mirror shows next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Bytes for the terminal.
    Bytes(Vec<u8>),
    /// The session has another directory.
    Cwd(String),
    /// The replay is over; what follows is live and begins with this event.
    Ready(EventIndex),
}

impl MirrorView {
    /// Opens a mirror from an event on; the session does not notice. Also says
    /// the session's directory.
    pub(crate) async fn open(
        engine: Engine,
        caller: &Caller,
        id: &str,
        from: EventIndex,
    ) -> Result<(MirrorView, String), LookupError> {
        let session = engine.session(caller, id)?.session;
        let (first, _) = engine.bounds(&session.id)?;
        let from = from.max(first);
        // First the reader and then the end of the history: what happens in
        // between is read once, as part of what is live.
        let follower = engine.follow(caller, id, from)?;
        let (_, end) = engine.bounds(&session.id)?;
        let counter = (engine.clone(), session.id.clone());
        let counted =
            tokio::task::spawn_blocking(move || output_bytes(&counter.0, &counter.1, from, end));
        let bytes = counted.await.map_err(|_| LookupError::Stopping)??;
        let mut opening = Vec::new();
        let mut mirror = Mirror::open(&session.cwd, &mut opening);
        mirror.limit_replay(bytes, replay_bytes_max(session.scrollback), &mut opening);
        let view = MirrorView {
            engine,
            follower,
            mirror,
            pending: VecDeque::new(),
            replay_end: Some(end),
            opening,
        };
        // A cursor beyond the end has nothing to replay.
        Ok((view.with_replay_from(from), session.cwd))
    }

    fn with_replay_from(mut self, from: EventIndex) -> MirrorView {
        self.replay_end = self.replay_end.map(|end| end.max(from));
        if self.replay_end == Some(from) {
            self.mirror.settle(&mut self.opening);
        }
        self
    }

    /// What is to be shown next; none when the session is over. Dropping the
    /// future loses nothing.
    pub(crate) async fn next(&mut self) -> Result<Option<Shown>, LookupError> {
        if !self.opening.is_empty() {
            return Ok(Some(Shown::Bytes(std::mem::take(&mut self.opening))));
        }
        loop {
            if let Some(shown) = self.show_pending()? {
                return Ok(Some(shown));
            }
            match self.follower.next().await? {
                Some(events) => self.pending.extend(events),
                None => return Ok(self.end_replay()),
            }
        }
    }

    /// Shows what was read, up to a piece; none when nothing of it is visible.
    fn show_pending(&mut self) -> Result<Option<Shown>, LookupError> {
        let mut out = Vec::new();
        while out.len() < PIECE_BYTES_MAX {
            let next = self.pending.front();
            let is_replay = |end| next.is_some_and(|event: &Arc<Event>| event.index < end);
            if let Some(end) = self.replay_end
                && !is_replay(end)
                && (next.is_some() || self.is_replayed(end))
            {
                self.mirror.settle(&mut out);
                if out.is_empty() {
                    self.replay_end = None;
                    return Ok(Some(Shown::Ready(end)));
                }
                return Ok(Some(Shown::Bytes(out)));
            }
            let Some(event) = self.pending.pop_front() else {
                break;
            };
            if let EventBody::Cwd { cwd } = &event.body {
                if !out.is_empty() {
                    self.pending.push_front(event);
                    break;
                }
                self.mirror
                    .show(MirrorEvent::Cwd { path: cwd }, &mut self.opening);
                return Ok(Some(Shown::Cwd(cwd.clone())));
            }
            self.show(&event, &mut out)?;
        }
        Ok((!out.is_empty()).then_some(Shown::Bytes(out)))
    }

    /// Whether the reader stands at the end of the replay.
    fn is_replayed(&self, end: EventIndex) -> bool {
        self.follower.at() >= end
    }

    fn show(&mut self, event: &Event, out: &mut Vec<u8>) -> Result<(), LookupError> {
        match &event.body {
            EventBody::CommandStart { command, .. } => {
                self.mirror.show(MirrorEvent::CommandStart { command }, out);
            }
            EventBody::Output { bytes, .. } => {
                if !self.mirror.drops_whole(*bytes) {
                    let (event, bytes) = self.engine.with_bytes(event)?;
                    match &event.body {
                        EventBody::Dropped { dropped, .. } => self.show_dropped(dropped, out),
                        _ => self.mirror.show(MirrorEvent::Output { bytes: &bytes }, out),
                    }
                }
            }
            EventBody::Dropped { dropped, .. } => self.show_dropped(dropped, out),
            EventBody::Exit { outcome, .. } => {
                let code = outcome.code;
                self.mirror.show(MirrorEvent::Exit { code }, out);
            }
            EventBody::Cwd { .. }
            | EventBody::Disposed
            | EventBody::ApprovalPending { .. }
            | EventBody::Status { .. } => {}
        }
        Ok(())
    }

    /// A gap that nobody sees would be a lie.
    fn show_dropped(&mut self, dropped: &glass_model::Dropped, out: &mut Vec<u8>) {
        let notice = format!("[{} bytes dropped: {}]\n", dropped.bytes, dropped.reason);
        let bytes = notice.as_bytes();
        self.mirror.show(MirrorEvent::Output { bytes }, out);
    }

    /// The session is over: a replay that has not ended does so now.
    fn end_replay(&mut self) -> Option<Shown> {
        let end = self.replay_end.take()?;
        Some(Shown::Ready(end))
    }
}

/// How many bytes of output there are between two events.
fn output_bytes(
    engine: &Engine,
    id: &glass_model::SessionId,
    from: EventIndex,
    end: EventIndex,
) -> Result<u64, LookupError> {
    let (mut at, mut total) = (from, 0_u64);
    while at < end {
        let events = engine.events(id, at, COUNT_EVENTS_MAX)?;
        let Some(last) = events.last() else { break };
        let next = last.index.next();
        for event in events.iter().filter(|event| event.index < end) {
            if let EventBody::Output { bytes, .. } = event.body {
                total = total.saturating_add(bytes);
            }
        }
        at = next;
    }
    Ok(total)
}
