//! What happens in a session, one thing after the other. A reader must not be
//! interrupted, and a console has more to do than to wait for it: so a task of its
//! own does.

use crate::engine::{Caller, Engine};
use crate::errors::LookupError;
use crate::reader::{Reader, Told};
use crate::view::mirror::extent::Extent;
use glass_model::{Event, EventIndex, Session};
use glass_vt::mirror::replay_bytes_max;
use tokio::sync::mpsc;

/// What was heard and waits.
const HEARD_MAX: usize = 1;

/// Something that happened.
pub(super) enum Heard {
    /// An event with its output, and whether the next is there already.
    Event(Box<Event>, Vec<u8>, bool),
    /// Output that was held back.
    Late(Vec<u8>),
    /// What comes now is live; the first event of that.
    Replayed(EventIndex),
    /// Nothing comes any more.
    Over,
    /// The session is not to be had any more.
    Failed(LookupError),
}

/// A session that is listened to, from its history on.
pub(super) struct Hearing {
    reader: Reader,
    /// The first event that is not part of the history.
    replay_end: EventIndex,
    /// Bytes of output in the history, and how many of them may be shown.
    pub(super) replay: (u64, u64),
}

impl Hearing {
    pub(super) async fn begin(
        engine: &Engine,
        caller: &Caller,
        session: &Session,
        from: EventIndex,
    ) -> Result<Hearing, LookupError> {
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
        Ok(Hearing {
            reader: reader.without_output_before(extent.kept_from),
            replay_end: end.max(from),
            replay: (extent.bytes, bytes_max),
        })
    }

    /// Listens until the session is over or nobody wants to hear.
    pub(super) fn start(self) -> mpsc::Receiver<Heard> {
        let (sender, heard) = mpsc::channel(HEARD_MAX);
        tokio::spawn(self.run(sender));
        heard
    }

    async fn run(mut self, sender: mpsc::Sender<Heard>) {
        let mut is_replay = true;
        loop {
            if is_replay && self.reader.is_past(self.replay_end) {
                is_replay = false;
                if sender.send(Heard::Replayed(self.replay_end)).await.is_err() {
                    return;
                }
            }
            let told = tokio::select! {
                told = self.reader.next() => told,
                () = sender.closed() => return,
            };
            let heard = match told {
                Ok(Some(Told::Event(event, bytes))) => {
                    Heard::Event(event, bytes, self.reader.has_more())
                }
                Ok(Some(Told::Late(late))) => Heard::Late(late.bytes),
                Ok(None) => Heard::Over,
                Err(error) => Heard::Failed(error),
            };
            let is_last = matches!(heard, Heard::Over | Heard::Failed(_));
            if is_last && is_replay {
                // A history that ends with the session.
                let _ = sender.send(Heard::Replayed(self.replay_end)).await;
            }
            if sender.send(heard).await.is_err() || is_last {
                return;
            }
        }
    }
}
