//! Writing to the terminal. A thread of its own does it, because a terminal that
//! does not take its bytes would keep us from hearing that we are to go.

use super::modes::Modes;
use super::status::{self, Said, Status};
use crate::error::{Failure, Kind};
use crate::stdout::{self, Reader};
use glass_vt::screen::Whole;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

/// Frames that wait for the terminal.
const FRAMES_MAX: usize = 4;

/// Time for a terminal to take the last frame.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// The terminal's output. Only [`Screen::room`], [`Screen::settle`] and
/// [`Screen::restore`] wait for the terminal; everything else is done when it has
/// room.
pub(in crate::commands) struct Screen {
    frames: mpsc::Sender<Vec<u8>>,
    /// Answered when the last frame is written.
    done: Option<oneshot::Receiver<()>>,
    drawn: Drawn,
}

/// What the terminal was sent, and what it is to be sent yet.
#[derive(Default)]
struct Drawn {
    modes: Modes,
    /// What the session's programs wrote, as far as it is not finished.
    written: Whole,
    /// The status line, where there is one.
    status: Option<Status>,
    /// What it is to say.
    said: Said,
    /// What is to become of it.
    wish: Option<Wish>,
    /// Whether what is shown next is all that is shown.
    begins_anew: bool,
}

/// Clears what is shown, before everything is shown anew.
const CLEAR: &[u8] = b"\x1b[H\x1b[2J";

/// What is to become of the status line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    /// It is the last row of a terminal of this many columns and rows.
    There(u32, u32),
    /// There is none.
    Gone,
}

impl Drawn {
    /// Appends what makes the status line what it is to be. In the middle of a
    /// program's sequence nothing else is written: that waits for the rest of it.
    fn settle(&mut self, out: &mut Vec<u8>) {
        let can_be = self.free_at().is_some_and(|at| at <= Instant::now());
        match self.wish.take_if(|_| can_be) {
            Some(Wish::There(columns, rows)) => match &mut self.status {
                Some(status) => status.move_to(columns, rows, out),
                None => {
                    let status = self.status.insert(Status::new(columns, rows));
                    status.put_up(out);
                }
            },
            Some(Wish::Gone) => {
                let status = self.status.take();
                out.extend(status.iter().flat_map(Status::take_down));
            }
            None => {}
        }
        self.modes.follow(out);
        if let Some(status) = &mut self.status {
            status.say(&self.said, out);
        }
    }

    /// When there is something to settle; none where there is nothing.
    fn due(&self) -> Option<Instant> {
        match self.wish {
            Some(_) => self.free_at(),
            None => self.status.as_ref()?.due(&self.said),
        }
    }

    /// When something of ours may be written; none where more of a sequence has to
    /// come before.
    fn free_at(&self) -> Option<Instant> {
        match &self.status {
            Some(status) => status.free_at(),
            None => self.written.is_between().then(Instant::now),
        }
    }
}

/// Room for one frame.
pub(in crate::commands) struct Room<'a> {
    permit: mpsc::Permit<'a, Vec<u8>>,
    drawn: &'a mut Drawn,
}

impl Room<'_> {
    /// Shows what the session's programs wrote.
    pub(in crate::commands) fn show(self, mut bytes: Vec<u8>) {
        if std::mem::take(&mut self.drawn.begins_anew) {
            bytes.splice(..0, CLEAR.iter().copied());
        }
        let mut out = Vec::new();
        self.drawn.settle(&mut out);
        self.drawn.modes.follow(&bytes);
        self.drawn.written.follow(&bytes);
        match &mut self.drawn.status {
            Some(status) => status.show(&bytes, &mut out),
            None if out.is_empty() => out = bytes,
            None => out.extend_from_slice(&bytes),
        }
        self.permit.send(out);
    }

    /// Shows what is ours.
    fn settle(self) {
        let mut out = Vec::new();
        self.drawn.settle(&mut out);
        if !out.is_empty() {
            self.permit.send(out);
        }
    }
}

/// Whether a terminal has taken what brings it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Restored {
    /// It has.
    Seen,
    /// It takes nothing.
    Unseen,
}

/// Whether the terminal takes a frame now.
pub(in crate::commands) enum Taking<'a> {
    /// It does.
    Now(Room<'a>),
    /// It has not taken those before.
    Later,
    /// Nobody reads what is shown.
    Never,
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
            drawn: Drawn::default(),
        })
    }

    /// Keeps the last row of a terminal of this size for the status line.
    pub(super) fn put_status(&mut self, columns: u32, rows: u32) {
        self.drawn.wish = Some(Wish::There(columns, rows));
    }

    /// Says something in the status line.
    pub(super) fn say(&mut self, said: Said) {
        self.drawn.said = said;
    }

    /// Whether there is to be a status line.
    pub(super) fn has_status(&self) -> bool {
        match self.drawn.wish {
            Some(wish) => wish != Wish::Gone,
            None => self.drawn.status.is_some(),
        }
    }

    /// The session's programs have this size: where that leaves no row for the
    /// status line, there is none any more.
    pub(super) fn fit(&mut self, size: &str) {
        let rows = match self.drawn.wish {
            Some(Wish::There(_, rows)) => Some(rows),
            Some(Wish::Gone) => None,
            None => self.drawn.status.as_ref().map(Status::rows),
        };
        if rows.is_some_and(|rows| !status::fits(size, rows)) {
            self.take_status();
        }
    }

    /// Gives the last row back.
    pub(super) fn take_status(&mut self) {
        self.drawn.wish = Some(Wish::Gone);
    }

    /// Clears what is shown, before the next that is shown.
    pub(super) fn clear(&mut self) {
        self.drawn.begins_anew = true;
    }

    /// Waits until the status line is not what it is to be, and for room to
    /// change that.
    pub(super) async fn settle(&mut self) {
        match self.drawn.due() {
            Some(due) => tokio::time::sleep_until(due).await,
            None => std::future::pending().await,
        }
        match self.room().await {
            Some(room) => room.settle(),
            // Whoever waits to show something notices.
            None => std::future::pending().await,
        }
    }

    /// Waits for room; none when nobody reads what is shown.
    pub(in crate::commands) async fn room(&mut self) -> Option<Room<'_>> {
        let permit = self.frames.reserve().await.ok()?;
        Some(Room {
            permit,
            drawn: &mut self.drawn,
        })
    }

    /// The same without waiting.
    pub(in crate::commands) fn try_room(&mut self) -> Taking<'_> {
        match self.frames.try_reserve() {
            Ok(permit) => Taking::Now(Room {
                permit,
                drawn: &mut self.drawn,
            }),
            Err(mpsc::error::TrySendError::Full(())) => Taking::Later,
            Err(mpsc::error::TrySendError::Closed(())) => Taking::Never,
        }
    }

    /// Undoes whatever the session's programs did to the terminal, and waits
    /// for that, though not for long.
    pub(in crate::commands) async fn restore(mut self) -> Restored {
        (self.drawn.wish, self.drawn.begins_anew) = (None, false);
        let taken_down = self.drawn.status.take().map(|status| status.take_down());
        let reset = self.drawn.modes.reset(&taken_down.unwrap_or_default());
        let done = tokio::time::timeout(LAST_WAIT, async {
            if let Some(room) = self.room().await {
                room.show(reset);
            }
            let done = self.done.take();
            drop(self);
            if let Some(done) = done {
                let _ = done.await;
            }
        });
        match done.await {
            Ok(()) => Restored::Seen,
            Err(_) => Restored::Unseen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Drawn, Wish};

    /// What is written for a wish between these two pieces of a program, and after them.
    fn written_for(wish: Wish, status: Option<Wish>, pieces: [&[u8]; 2]) -> [Vec<u8>; 2] {
        let mut drawn = Drawn {
            wish: status,
            ..Drawn::default()
        };
        let mut shown = Vec::new();
        drawn.settle(&mut shown);
        drawn.wish = Some(wish);
        pieces.map(|piece| {
            drawn.written.follow(piece);
            if let Some(status) = &mut drawn.status {
                status.show(piece, &mut shown);
            }
            let mut out = Vec::new();
            let is_due = drawn.due().is_some();
            drawn.settle(&mut out);
            assert_eq!(is_due, !out.is_empty(), "{piece:?}");
            out
        })
    }

    #[test]
    fn a_wish_waits_for_the_end_of_a_programs_sequence() {
        let there = Wish::There(80, 30);
        for (wish, status) in [
            (there, None),
            (Wish::There(100, 40), Some(there)),
            (Wish::Gone, Some(there)),
        ] {
            for pieces in [
                [&b"\x1b]0;ti"[..], b"tle\x07"],
                [b"text \x1b[3", b"1m"],
                [b"\xc3", b"\xa9"],
                [b"\x1b[?2026h\x1bPq", b"#0\x1b\\\x1b[?2026l"],
            ] {
                let [within, after] = written_for(wish, status, pieces);
                assert_eq!(within, b"", "{wish:?} {pieces:?}");
                assert_ne!(after, b"", "{wish:?} {pieces:?}");
            }
            let [at_once, _] = written_for(wish, status, [b"whole", b"more"]);
            assert_ne!(at_once, b"", "{wish:?}");
        }
    }
}
