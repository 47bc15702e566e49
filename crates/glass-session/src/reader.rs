//! A session's events as one reader is told them: one after the other, without
//! secrets, none with too much output.

use crate::engine::{Engine, Late, Projection};
use crate::errors::LookupError;
use crate::feed::Follower;
use crate::text::incomplete_suffix;
use glass_model::{Event, EventBody, EventIndex, ShellId};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// Output that is told in one go, in bytes: the names of secrets may be longer
/// than the secrets.
const TOLD_BYTES_MAX: usize = 2 << 20;

/// Output above this is looked through off the reactor, in bytes.
const INLINE_BYTES_MAX: u64 = 64 * 1024;

/// When nothing has come for this long, somebody may be waiting for the little
/// that is held back.
const PAUSE: Duration = Duration::from_millis(100);

/// What a reader is told next.
pub enum Told {
    /// An event, with the bytes of output that it brings.
    Event(Box<Event>, Vec<u8>),
    /// Output that was held back.
    Late(Late),
}

/// Follows a session and tells what happens.
pub struct Reader {
    follower: Follower,
    /// Absent while it looks through output elsewhere, and once all is over.
    projection: Option<Projection>,
    /// The execution that is looked at, where only one is.
    only: Option<ShellId>,
    waiting: VecDeque<Arc<Event>>,
    ready: VecDeque<Told>,
    has_paused: bool,
    /// Output before this is not read, and told as events without bytes.
    unread_before: EventIndex,
}

impl Reader {
    /// Reads what follows; of one execution alone, where one is named.
    pub fn new(engine: &Engine, follower: Follower, only: Option<ShellId>) -> Reader {
        Reader {
            projection: Some(engine.projection(follower.session())),
            follower,
            only,
            waiting: VecDeque::new(),
            ready: VecDeque::new(),
            has_paused: false,
            unread_before: EventIndex(0),
        }
    }

    /// Leaves the output before an event unread.
    pub(crate) fn without_output_before(mut self, index: EventIndex) -> Reader {
        self.unread_before = index;
        self
    }

    /// Whether something can be told without waiting for what happens.
    pub(crate) fn has_more(&self) -> bool {
        !self.ready.is_empty() || !self.waiting.is_empty()
    }

    /// Whether every event before this one was told; the little that is held
    /// back may still follow.
    pub fn is_past(&self, index: EventIndex) -> bool {
        let next = self
            .waiting
            .front()
            .map_or(self.follower.at(), |event| event.index);
        self.ready.is_empty() && next >= index
    }

    /// What takes the secrets out; none once all is over.
    pub fn projection(&self) -> Option<&Projection> {
        self.projection.as_ref()
    }

    /// What comes next; nothing when the session is over. Dropping the future
    /// may lose something: it is for one who waits to the end.
    pub async fn next(&mut self) -> Result<Option<Told>, LookupError> {
        loop {
            if let Some(told) = self.ready.pop_front() {
                return Ok(Some(told));
            }
            if let Some(event) = self.waiting.pop_front() {
                let is_output = matches!(event.body, EventBody::Output { .. });
                if is_output && event.index < self.unread_before {
                    return Ok(Some(Told::Event(Box::new((*event).clone()), Vec::new())));
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
                            .extend(late.into_iter().flatten().map(Told::Late));
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
                    .extend(late.into_iter().flatten().map(Told::Late));
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

    async fn look_at(&mut self, event: Arc<Event>) -> Result<(), LookupError> {
        let mut projection = self.projection.take().ok_or(LookupError::Stopping)?;
        let is_large =
            matches!(&event.body, EventBody::Output { bytes, .. } if *bytes > INLINE_BYTES_MAX);
        let (projection, told) = if is_large {
            let look = move || {
                let told = tell(&mut projection, &event);
                (projection, told)
            };
            let looked = tokio::task::spawn_blocking(look).await;
            looked.map_err(|_| LookupError::Stopping)?
        } else {
            let told = tell(&mut projection, &event);
            (projection, told)
        };
        self.projection = Some(projection);
        self.ready.extend(told?);
        Ok(())
    }
}

/// An event, and before an execution's end what is left of its output.
pub fn tell(projection: &mut Projection, event: &Event) -> Result<Vec<Told>, LookupError> {
    let mut shown = Vec::new();
    if let (Some(id), EventBody::Exit { .. }) = (event.shell_id, &event.body) {
        for late in projection.rest(id)? {
            let pieces = pieces(late.bytes).into_iter();
            shown.extend(pieces.map(|bytes| Told::Late(Late { bytes, ..late })));
        }
    }
    let (event, bytes) = projection.show(event)?;
    let event = event.into_owned();
    for piece in pieces(bytes) {
        shown.push(Told::Event(Box::new(event.clone()), piece));
    }
    Ok(shown)
}

/// Output in pieces that can be told; at least one.
fn pieces(mut bytes: Vec<u8>) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    while bytes.len() > TOLD_BYTES_MAX {
        let held = incomplete_suffix(&bytes[..TOLD_BYTES_MAX]);
        let rest = bytes.split_off(TOLD_BYTES_MAX - held);
        pieces.push(std::mem::replace(&mut bytes, rest));
    }
    pieces.push(bytes);
    pieces
}
