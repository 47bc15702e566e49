//! What happens in a session, one thing after the other. A reader must not be
//! interrupted, and a console has more to do than to wait for it: so a task of its
//! own does.

use crate::engine::{Caller, Engine};
use crate::errors::LookupError;
use crate::reader::Told;
use crate::view::mirror::replay::Replay;
use glass_model::{Event, EventIndex, Session};
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
    pub(super) replay: Replay,
}

impl Hearing {
    pub(super) async fn begin(
        engine: &Engine,
        caller: &Caller,
        session: &Session,
        from: EventIndex,
    ) -> Result<Hearing, LookupError> {
        let replay = Replay::begin(engine, caller, session, from).await?;
        Ok(Hearing { replay })
    }

    /// Listens until the session is over or nobody wants to hear.
    pub(super) fn start(self) -> mpsc::Receiver<Heard> {
        let (sender, heard) = mpsc::channel(HEARD_MAX);
        tokio::spawn(self.run(sender));
        heard
    }

    async fn run(self, sender: mpsc::Sender<Heard>) {
        let Replay {
            mut reader, end, ..
        } = self.replay;
        let mut is_replay = true;
        loop {
            if is_replay && reader.is_past(end) {
                is_replay = false;
                if sender.send(Heard::Replayed(end)).await.is_err() {
                    return;
                }
            }
            let told = tokio::select! {
                told = reader.next() => told,
                () = sender.closed() => return,
            };
            let heard = match told {
                Ok(Some(Told::Event(event, bytes))) => {
                    Heard::Event(event, bytes, reader.has_more())
                }
                Ok(Some(Told::Late(late))) => Heard::Late(late.bytes),
                Ok(None) => Heard::Over,
                Err(error) => Heard::Failed(error),
            };
            let is_last = matches!(heard, Heard::Over | Heard::Failed(_));
            if is_last && is_replay {
                // A history that ends with the session.
                let _ = sender.send(Heard::Replayed(end)).await;
            }
            if sender.send(heard).await.is_err() || is_last {
                return;
            }
        }
    }
}
