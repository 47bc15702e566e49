//! Where a view of a session's events begins: with its history, as far as that is
//! shown, and nothing missing or twice between that and what happens then.

use super::extent::Extent;
use crate::engine::{Caller, Engine};
use crate::errors::LookupError;
use crate::reader::Reader;
use glass_model::{EventIndex, Session};
use glass_vt::mirror::replay_bytes_max;

/// A session that is read from its history on.
pub(in crate::view) struct Replay {
    pub(in crate::view) reader: Reader,
    /// The first event that is not part of the history.
    pub(in crate::view) end: EventIndex,
    /// Bytes of output in the history, and how many of them may be shown.
    pub(in crate::view) bytes: u64,
    pub(in crate::view) bytes_max: u64,
}

impl Replay {
    pub(in crate::view) async fn begin(
        engine: &Engine,
        caller: &Caller,
        session: &Session,
        from: EventIndex,
    ) -> Result<Replay, LookupError> {
        let (first, _) = engine.bounds(&session.id)?;
        let from = from.max(first);
        // First the reader and then the end of the history: what happens in
        // between is read once, as part of what is live.
        let follower = engine.follow(caller, session.id.as_str(), from)?;
        let (_, end) = engine.bounds(&session.id)?;
        let bytes_max = replay_bytes_max(session.scrollback);
        let counter = (engine.clone(), session.id.clone());
        let counted = tokio::task::spawn_blocking(move || {
            Extent::of(&counter.0, &counter.1, from..end, bytes_max)
        });
        let extent = counted.await.map_err(|_| LookupError::Stopping)??;
        let reader = Reader::new(engine, follower, None);
        Ok(Replay {
            reader: reader.without_output_before(extent.kept_from),
            // A cursor beyond the end has nothing to replay.
            end: end.max(from),
            bytes: extent.bytes,
            bytes_max,
        })
    }
}
