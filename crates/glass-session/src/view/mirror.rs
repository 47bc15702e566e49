//! The mirror of a pipe or line session: its events as bytes for a terminal.
//!
//! A task of its own reads by cursor over the journal and holds nothing else, so
//! opening a mirror, or leaving one unread, changes nothing for the session.

mod announced;
mod extent;
mod painting;
mod readable;
pub(super) mod replay;

use super::Shown;
use crate::engine::{Caller, Engine};
use crate::errors::LookupError;
use announced::Announced;
use bytes::Bytes;
use glass_model::{EventIndex, Session, SessionId};
use glass_vt::mirror::Mirror;
use painting::Painting;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Ctrl+C, as a terminal sends it.
const CTRL_C: u8 = 0x03;

/// Answers to what was typed that wait for the reader. More say nothing new.
const FLASHES_MAX: usize = 4;

/// What waits for a slow reader: more would only be older when it is read.
const SHOWN_MAX: usize = 1;

pub(super) struct MirrorReader {
    shown: mpsc::Receiver<Result<Shown, LookupError>>,
    flashes: mpsc::Receiver<()>,
    announced: Arc<Announced>,
    announcements: mpsc::Receiver<String>,
    /// Whether the history was shown: only then is something shown beside it.
    is_ready: bool,
}

pub(super) struct MirrorWriter {
    engine: Engine,
    caller: Caller,
    id: SessionId,
    flash: mpsc::Sender<()>,
    announce: mpsc::Sender<String>,
}

/// Opens a mirror from an event on. What happens from here on is shown once: the
/// replay ends where the live part begins.
pub(super) async fn open(
    engine: &Engine,
    caller: &Caller,
    session: &Session,
    from: EventIndex,
) -> Result<(MirrorReader, MirrorWriter), LookupError> {
    let painting = Painting::begin(engine, caller, session, from).await?;
    let announced = painting.announced();
    let (sender, shown) = mpsc::channel(SHOWN_MAX);
    tokio::spawn(painting.run(sender));
    let (flash, flashes) = mpsc::channel(FLASHES_MAX);
    // There is one first command.
    let (announce, announcements) = mpsc::channel(1);
    let writer = MirrorWriter {
        engine: engine.clone(),
        caller: caller.clone(),
        id: session.id.clone(),
        flash,
        announce,
    };
    let reader = MirrorReader {
        shown,
        flashes,
        announced,
        announcements,
        is_ready: false,
    };
    Ok((reader, writer))
}

impl MirrorReader {
    pub(super) async fn next(&mut self) -> Result<Option<Shown>, LookupError> {
        loop {
            tokio::select! {
                shown = self.shown.recv() => {
                    self.is_ready |= matches!(shown, Some(Ok(Shown::Ready { .. })));
                    return shown.transpose();
                }
                // A writer that is gone types nothing.
                Some(()) = self.flashes.recv() => return Ok(Some(Shown::ReadOnlyInput)),
                Some(command) = self.announcements.recv(), if self.is_ready => {
                    let mut out = Vec::new();
                    Mirror::announcement(&command, &mut out);
                    if self.announced.announce(command) {
                        return Ok(Some(Shown::undated(Bytes::from(out))));
                    }
                }
            }
        }
    }

    pub(super) fn owes_refusal(&mut self) -> bool {
        self.flashes.try_recv().is_ok()
    }
}

impl MirrorWriter {
    /// Ctrl+C cancels what runs; all else, and Ctrl+C where nothing runs, is
    /// answered with a flash.
    pub(super) fn input(&self, bytes: &[u8]) {
        let interrupts = bytes.contains(&CTRL_C) && self.has_command();
        if interrupts {
            self.cancel();
        }
        if !interrupts || bytes.iter().any(|byte| *byte != CTRL_C) {
            // One that waits says the same.
            let _ = self.flash.try_send(());
        }
    }

    pub(super) fn announce(&self, command: String) {
        // The first one counts.
        let _ = self.announce.try_send(command);
    }

    fn has_command(&self) -> bool {
        let view = self.engine.session(&self.caller, self.id.as_str());
        view.is_ok_and(|view| view.running.is_some())
    }

    /// The answer comes when nothing of the command is left; the view goes on.
    fn cancel(&self) {
        let (engine, caller) = (self.engine.clone(), self.caller.clone());
        let id = self.id.clone();
        tokio::spawn(async move {
            if let Err(error) = engine.cancel(&caller, id.as_str(), None).await {
                tracing::debug!(%error, "nothing was cancelled");
            }
        });
    }
}
