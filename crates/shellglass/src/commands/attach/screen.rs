//! Writing to the terminal. A thread of its own does it, because a terminal that
//! does not take its bytes would keep us from hearing that we are to go.

use super::modes::Modes;
use crate::error::{Failure, Kind};
use crate::stdout::{self, Reader};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Frames that wait for the terminal.
const FRAMES_MAX: usize = 4;

/// Time for a terminal to take the last frame.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// Clears what is shown, before everything is shown anew.
const CLEAR: &[u8] = b"\x1b[H\x1b[2J";

/// The terminal's output.
pub(in crate::commands) struct Screen {
    frames: mpsc::Sender<Vec<u8>>,
    /// Answered when the last frame is written.
    done: Option<oneshot::Receiver<()>>,
    modes: Modes,
}

/// Room for one frame.
pub(in crate::commands) struct Room<'a> {
    permit: mpsc::Permit<'a, Vec<u8>>,
    modes: &'a mut Modes,
}

impl Room<'_> {
    /// Shows it.
    pub(in crate::commands) fn show(self, bytes: Vec<u8>) {
        self.modes.follow(&bytes);
        self.permit.send(bytes);
    }
}

impl Screen {
    pub(in crate::commands) fn new() -> Result<Screen, Failure> {
        let (frames, mut receiver) = mpsc::channel::<Vec<u8>>(FRAMES_MAX);
        let (finished, done) = oneshot::channel();
        let writing = move || {
            while let Some(frame) = receiver.blocking_recv() {
                if !matches!(stdout::write(&frame), Ok(Reader::There)) {
                    break;
                }
            }
            // Nobody may wait for it.
            let _ = finished.send(());
        };
        let thread = std::thread::Builder::new().name("screen".to_owned());
        thread.spawn(writing).map_err(|error| {
            Failure::new(Kind::Broken, format!("no thread can be started: {error}"))
        })?;
        Ok(Screen {
            frames,
            done: Some(done),
            modes: Modes::default(),
        })
    }

    /// Waits for room; none when nobody reads what is shown.
    pub(in crate::commands) async fn room(&mut self) -> Option<Room<'_>> {
        let permit = self.frames.reserve().await.ok()?;
        let modes = &mut self.modes;
        Some(Room { permit, modes })
    }

    pub(in crate::commands) async fn clear(&mut self) {
        if let Some(room) = self.room().await {
            room.show(CLEAR.to_vec());
        }
    }

    /// Undoes whatever the session's programs did to the terminal, and waits
    /// for that, though not for long.
    pub(in crate::commands) async fn restore(mut self) {
        let reset = self.modes.reset();
        let _ = tokio::time::timeout(LAST_WAIT, async {
            if let Some(room) = self.room().await {
                room.show(reset);
            }
            let done = self.done.take();
            drop(self);
            if let Some(done) = done {
                let _ = done.await;
            }
        })
        .await;
    }
}
