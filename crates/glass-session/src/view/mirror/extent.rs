//! How much of a session's history a replay shows.

use crate::engine::Engine;
use crate::errors::LookupError;
use glass_model::{EventBody, EventIndex, SessionId};
use std::collections::VecDeque;
use std::ops::Range;

/// Events that are counted in one go.
const COUNT_EVENTS_MAX: usize = 4096;

/// How much output there is to replay.
pub(super) struct Extent {
    pub(super) bytes: u64,
    /// The first event whose output is shown, at least in part.
    pub(super) kept_from: EventIndex,
}

impl Extent {
    /// Looks at a range of events of which `bytes_max` of output are shown.
    pub(super) fn of(
        engine: &Engine,
        id: &SessionId,
        range: Range<EventIndex>,
        bytes_max: u64,
    ) -> Result<Extent, LookupError> {
        let mut at = range.start;
        let mut total = 0_u64;
        // The last events, which together have what is shown.
        let mut kept: VecDeque<(EventIndex, u64)> = VecDeque::new();
        let mut kept_bytes = 0_u64;
        while at < range.end {
            let events = engine.events(id, at, COUNT_EVENTS_MAX)?;
            let Some(last) = events.last() else { break };
            at = last.index.next();
            for event in events.iter().filter(|event| event.index < range.end) {
                let EventBody::Output { bytes, .. } = event.body else {
                    continue;
                };
                total = total.saturating_add(bytes);
                kept.push_back((event.index, bytes));
                kept_bytes = kept_bytes.saturating_add(bytes);
                while let Some((_, oldest)) = kept.front().copied()
                    && kept_bytes - oldest >= bytes_max
                {
                    kept.pop_front();
                    kept_bytes -= oldest;
                }
            }
        }
        let kept_from = kept.front().map_or(range.start, |(index, _)| *index);
        Ok(Extent {
            bytes: total,
            kept_from,
        })
    }
}
