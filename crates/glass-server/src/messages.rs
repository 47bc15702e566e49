//! What a reader of a session is told, as messages.

use glass_model::{Event, EventBody, EventIndex};
use glass_proto::session_event;
use glass_proto::shellglass::v1 as wire;
use glass_session::{LookupError, Projection, Reader, Told, tell};

/// A session's events as messages.
pub(crate) struct Messages {
    reader: Reader,
    /// The index and the time of the last message.
    last: (EventIndex, i64),
}

impl Messages {
    pub(crate) fn new(reader: Reader) -> Messages {
        Messages {
            reader,
            last: (EventIndex(0), 0),
        }
    }

    /// The next message; none when the session is over.
    pub(crate) async fn next(&mut self) -> Result<Option<wire::SessionEvent>, LookupError> {
        let Some(told) = self.reader.next().await? else {
            return Ok(None);
        };
        let message = message(told, self.last.0, self.last.1);
        self.last = (EventIndex(message.index), message.unix_ms);
        Ok(Some(message))
    }
}

/// The messages for an event. What was held back goes before an execution's end
/// with the index of the event before: whoever goes on behind what they have
/// misses nothing.
pub(crate) fn of_event(
    projection: &mut Projection,
    event: &Event,
) -> Result<Vec<wire::SessionEvent>, LookupError> {
    let before = EventIndex(event.index.0.saturating_sub(1));
    let told = tell(projection, event)?;
    let messages = told.into_iter();
    Ok(messages
        .map(|told| message(told, before, event.at_ms))
        .collect())
}

/// The message for what is told; `before` and `at_ms` are for what was held
/// back and has no event of its own.
fn message(told: Told, before: EventIndex, at_ms: i64) -> wire::SessionEvent {
    match told {
        Told::Event(event, bytes) => session_event(*event, bytes),
        Told::Late(late) => {
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
