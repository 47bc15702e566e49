//! Output that a limit may remove while it is being read.
//!
//! A removed stretch of a file reads as zeros. The journal says that it is gone
//! before it goes, so bytes that were read are right if the journal, asked
//! afterwards, still has them. Bytes without a zero need no asking.

use super::Engine;
use crate::errors::LookupError;
use glass_model::{Dropped, Event, EventBody, ShellId, Stream};
use glass_store::ReadError;
use std::borrow::Cow;

/// Why an event's output is gone whose row is gone as well.
const FORGOTTEN: &str = "session_events_max";

/// Whether these can only be the bytes that were written.
pub(super) fn is_surely_intact(read: &[u8], wanted: u64) -> bool {
    read.len() as u64 == wanted && !read.contains(&0)
}

impl Engine {
    /// An event with the bytes that it names. One whose output was removed since
    /// it was read comes as what it is now.
    pub(super) fn with_bytes<'a>(
        &self,
        event: &'a Event,
    ) -> Result<(Cow<'a, Event>, Vec<u8>), LookupError> {
        let (
            Some(shell_id),
            EventBody::Output {
                stream,
                offset,
                bytes,
                position,
            },
        ) = (event.shell_id, &event.body)
        else {
            return Ok((Cow::Borrowed(event), Vec::new()));
        };
        match self.intact_piece(shell_id, *stream, (*offset, *bytes), *position)? {
            Ok(read) => Ok((Cow::Borrowed(event), read)),
            Err(dropped) => {
                let body = EventBody::Dropped {
                    position: *position,
                    dropped,
                };
                let event = Event {
                    body,
                    ..event.clone()
                };
                Ok((Cow::Owned(event), Vec::new()))
            }
        }
    }

    /// Some bytes of a stream (offset and count) that the event at `position`
    /// names, or what became of that event.
    pub(super) fn intact_piece(
        &self,
        id: ShellId,
        stream: Stream,
        (offset, count): (u64, u64),
        position: u64,
    ) -> Result<Result<Vec<u8>, Dropped>, ReadError> {
        let read = self.piece(id, stream, offset, count)?;
        if is_surely_intact(&read, count) {
            return Ok(Ok(read));
        }
        let now = self.0.context.store.output_events(id, position, 1)?;
        Ok(match now.into_iter().next().map(|event| event.body) {
            Some(EventBody::Output { position: at, .. }) if at == position => Ok(read),
            Some(EventBody::Dropped {
                position: at,
                dropped,
            }) if at == position => Err(dropped),
            _ => Err(Dropped {
                bytes: count,
                events: 1,
                reason: FORGOTTEN.to_owned(),
            }),
        })
    }
}
