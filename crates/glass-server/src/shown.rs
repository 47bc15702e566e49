//! A session's events as one reader is shown them: one after the other, without
//! secrets, each message small enough.

use glass_model::{Event, EventBody, EventIndex, ShellId};
use glass_proto::session_event;
use glass_proto::shellglass::v1 as wire;
use glass_session::{Engine, Follower, Late, LookupError, Projection, incomplete_suffix};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// Output of one message, in bytes: the names of secrets may be longer than the
/// secrets.
const MESSAGE_BYTES_MAX: usize = 2 << 20;

/// Output above this is looked through off the reactor, in bytes.
const INLINE_BYTES_MAX: u64 = 64 * 1024;

/// When nothing has come for this long, somebody may be waiting for the little
/// that is held back.
const PAUSE: Duration = Duration::from_millis(100);

/// What a reader is shown next.
pub(crate) enum Shown {
    /// An event, with the bytes of output that it brings.
    Event(Box<Event>, Vec<u8>),
    /// Output that was held back.
    Late(Late),
}

/// Follows a session and shows what happens.
pub(crate) struct Reader {
    follower: Follower,
    /// Absent while it looks through output elsewhere, and once all is over.
    projection: Option<Projection>,
    /// The execution that is looked at, where only one is.
    only: Option<ShellId>,
    waiting: VecDeque<Arc<Event>>,
    ready: VecDeque<Shown>,
    has_paused: bool,
    /// The index and the time of the last message.
    last: (EventIndex, i64),
    /// Output before this is not read, and shown as events without bytes.
    unread_before: EventIndex,
}

impl Reader {
    pub(crate) fn new(follower: Follower, projection: Projection, only: Option<ShellId>) -> Reader {
        Reader {
            follower,
            projection: Some(projection),
            only,
            waiting: VecDeque::new(),
            ready: VecDeque::new(),
            has_paused: false,
            last: (EventIndex(0), 0),
            unread_before: EventIndex(0),
        }
    }

    /// Leaves the output before an event unread.
    pub(crate) fn without_output_before(mut self, index: EventIndex) -> Reader {
        self.unread_before = index;
        self
    }

    /// Whether something can be shown without waiting for what happens.
    pub(crate) fn has_more(&self) -> bool {
        !self.ready.is_empty() || !self.waiting.is_empty()
    }

    /// Whether every event before this one was shown; the little that is held
    /// back may still follow.
    pub(crate) fn is_past(&self, index: EventIndex) -> bool {
        let next = self
            .waiting
            .front()
            .map_or(self.follower.at(), |event| event.index);
        self.ready.is_empty() && next >= index
    }

    pub(crate) fn projection(&self) -> Option<&Projection> {
        self.projection.as_ref()
    }

    /// What comes next; nothing when the session is over. Dropping the future
    /// may lose something: it is for one who waits to the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Shown>, LookupError> {
        loop {
            if let Some(shown) = self.ready.pop_front() {
                return Ok(Some(shown));
            }
            if let Some(event) = self.waiting.pop_front() {
                let is_output = matches!(event.body, EventBody::Output { .. });
                if is_output && event.index < self.unread_before {
                    return Ok(Some(Shown::Event(Box::new((*event).clone()), Vec::new())));
                }
                self.look_at(event).await?;
                continue;
            }
            let holds = |projection: &Projection| projection.holds();
            let may_pause = !self.has_paused && self.projection.as_ref().is_some_and(holds);
            let events = if may_pause {
                match tokio::time::timeout(PAUSE, self.follower.next()).await {
                    Ok(events) => events?,
                    Err(_) => {
                        self.has_paused = true;
                        let late = self.projection.as_mut().map(Projection::pause);
                        self.ready
                            .extend(late.into_iter().flatten().map(Shown::Late));
                        continue;
                    }
                }
            } else {
                self.follower.next().await?
            };
            let Some(events) = events else {
                let late = self
                    .projection
                    .take()
                    .map(|mut projection| projection.end());
                self.ready
                    .extend(late.into_iter().flatten().map(Shown::Late));
                if self.ready.is_empty() {
                    return Ok(None);
                }
                continue;
            };
            self.has_paused = false;
            let is_meant = |event: &Arc<Event>| self.only.is_none() || event.shell_id == self.only;
            self.waiting.extend(events.into_iter().filter(is_meant));
        }
    }

    /// The same as a message.
    pub(crate) async fn next_message(&mut self) -> Result<Option<wire::SessionEvent>, LookupError> {
        let Some(shown) = self.next().await? else {
            return Ok(None);
        };
        let message = message(shown, self.last.0, self.last.1);
        self.last = (EventIndex(message.index), message.unix_ms);
        Ok(Some(message))
    }

    async fn look_at(&mut self, event: Arc<Event>) -> Result<(), LookupError> {
        let mut projection = self.projection.take().ok_or(LookupError::Stopping)?;
        let is_large =
            matches!(&event.body, EventBody::Output { bytes, .. } if *bytes > INLINE_BYTES_MAX);
        let (projection, shown) = if is_large {
            let look = move || {
                let shown = show(&mut projection, &event);
                (projection, shown)
            };
            let looked = tokio::task::spawn_blocking(look).await;
            looked.map_err(|_| LookupError::Stopping)?
        } else {
            let shown = show(&mut projection, &event);
            (projection, shown)
        };
        self.projection = Some(projection);
        self.ready.extend(shown?);
        Ok(())
    }
}

/// An event, and before an execution's end what is left of its output.
fn show(projection: &mut Projection, event: &Event) -> Result<Vec<Shown>, LookupError> {
    let mut shown = Vec::new();
    if let (Some(id), EventBody::Exit { .. }) = (event.shell_id, &event.body) {
        for late in projection.rest(id)? {
            let pieces = pieces(late.bytes).into_iter();
            shown.extend(pieces.map(|bytes| Shown::Late(Late { bytes, ..late })));
        }
    }
    let (event, bytes) = projection.show(event)?;
    let event = event.into_owned();
    for piece in pieces(bytes) {
        shown.push(Shown::Event(Box::new(event.clone()), piece));
    }
    Ok(shown)
}

/// Output in pieces that fit a message each; at least one.
fn pieces(mut bytes: Vec<u8>) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    while bytes.len() > MESSAGE_BYTES_MAX {
        let held = incomplete_suffix(&bytes[..MESSAGE_BYTES_MAX]);
        let rest = bytes.split_off(MESSAGE_BYTES_MAX - held);
        pieces.push(std::mem::replace(&mut bytes, rest));
    }
    pieces.push(bytes);
    pieces
}

/// The messages for an event. What was held back goes before an execution's end
/// with the index of the event before: whoever goes on behind what they have
/// misses nothing.
pub(crate) fn messages(
    projection: &mut Projection,
    event: &Event,
) -> Result<Vec<wire::SessionEvent>, LookupError> {
    let before = EventIndex(event.index.0.saturating_sub(1));
    let shown = show(projection, event)?;
    let messages = shown.into_iter();
    Ok(messages
        .map(|shown| message(shown, before, event.at_ms))
        .collect())
}

/// The message for what is shown; `before` and `at_ms` are for what was held
/// back and has no event of its own.
pub(crate) fn message(shown: Shown, before: EventIndex, at_ms: i64) -> wire::SessionEvent {
    match shown {
        Shown::Event(event, bytes) => session_event(*event, bytes),
        Shown::Late(late) => {
            let body = EventBody::Output {
                stream: late.stream,
                offset: 0,
                bytes: 0,
                position: 0,
            };
            let event = Event {
                index: before,
                at_ms,
                shell_id: Some(late.shell_id),
                body,
            };
            session_event(event, late.bytes)
        }
    }
}

/// A reader of all events of a session.
pub(crate) fn all(engine: &Engine, follower: Follower) -> Reader {
    let projection = engine.projection(follower.session());
    Reader::new(follower, projection, None)
}
