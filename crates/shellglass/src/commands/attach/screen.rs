//! Writing to the terminal. A thread of its own does it, because a terminal that
//! does not take its bytes would keep us from hearing that we are to go.

use super::modes::Modes;
use super::status::{Said, Status};
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
    /// The status line, where there is one.
    status: Option<Status>,
}

/// Room for one frame.
pub(in crate::commands) struct Room<'a> {
    permit: mpsc::Permit<'a, Vec<u8>>,
    modes: &'a mut Modes,
    status: &'a mut Option<Status>,
}

impl Room<'_> {
    /// Shows what the session's programs wrote.
    pub(in crate::commands) fn show(self, bytes: Vec<u8>) {
        self.modes.follow(&bytes);
        let Some(status) = self.status else {
            return self.permit.send(bytes);
        };
        let mut out = Vec::with_capacity(bytes.len());
        status.show(&bytes, &mut out);
        self.permit.send(out);
    }

    /// Shows what is ours.
    fn send(self, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            self.permit.send(bytes);
        }
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
            status: None,
        })
    }

    /// Keeps the last row of a terminal of this size for the status line.
    pub(super) async fn put_status(&mut self, columns: u32, rows: u32) {
        let mut out = Vec::new();
        match &mut self.status {
            Some(status) => status.move_to(columns, rows, &mut out),
            None => {
                let status = self.status.insert(Status::new(columns, rows));
                status.put_up(&mut out);
            }
        }
        self.modes.follow(&out);
        if let Some(room) = self.room().await {
            room.send(out);
        }
    }

    /// Says something in the status line.
    pub(super) async fn say(&mut self, said: Said) {
        let mut out = Vec::new();
        if let Some(status) = &mut self.status {
            status.say(said, &mut out);
        }
        if let Some(room) = self.room().await {
            room.send(out);
        }
    }

    /// Whether there is a status line.
    pub(super) fn has_status(&self) -> bool {
        self.status.is_some()
    }

    /// The session's programs have this size: where that leaves no row for the
    /// status line, there is none any more.
    pub(super) async fn fit(&mut self, size: &str) {
        if self
            .status
            .as_ref()
            .is_some_and(|status| !status.fits(size))
        {
            self.take_status().await;
        }
    }

    /// Gives the last row back.
    pub(super) async fn take_status(&mut self) {
        let taken_down = self.status.take().map(|status| status.take_down());
        if let Some(room) = self.room().await {
            room.send(taken_down.unwrap_or_default());
        }
    }

    /// Shows what the session's programs wrote.
    pub(super) async fn show(&mut self, bytes: Vec<u8>) {
        if let Some(room) = self.room().await {
            room.show(bytes);
        }
    }

    /// Waits for room; none when nobody reads what is shown.
    pub(in crate::commands) async fn room(&mut self) -> Option<Room<'_>> {
        let permit = self.frames.reserve().await.ok()?;
        Some(Room {
            permit,
            modes: &mut self.modes,
            status: &mut self.status,
        })
    }

    pub(in crate::commands) async fn clear(&mut self) {
        if let Some(room) = self.room().await {
            room.show(CLEAR.to_vec());
        }
    }

    /// Undoes whatever the session's programs did to the terminal, and waits
    /// for that, though not for long.
    pub(in crate::commands) async fn restore(mut self) {
        let taken_down = self.status.take().map(|status| status.take_down());
        let reset = self.modes.reset(&taken_down.unwrap_or_default());
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
