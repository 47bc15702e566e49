//! A thread that does nothing but take what a terminal is flooded with.
//!
//! The kernel has room for 4 KiB of a terminal's output, and a program that
//! writes more waits until somebody has taken that. While the task records and
//! shows what it has, nobody would take any more. So for as long as a flood lasts,
//! a thread takes it, and the task finds more at once whenever it comes back.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::Notify;

/// Bytes that are held for the task; it records as many at a time. Together they
/// are what a crash can lose.
const HELD_BYTES_MAX: usize = super::reader::TURN_BYTES_MAX / 2;

/// Bytes for which the task is woken.
const GATHERED_BYTES: usize = HELD_BYTES_MAX / 2;

/// What the kernel has of a terminal's output at most.
const PIECE_BYTES: usize = 4096;

/// The task is woken for fewer bytes when no more have come for so long.
const GATHERED_WITHIN: Duration = Duration::from_millis(1);

/// Nothing for so long, and the flood is over.
pub(super) const CALM: Duration = Duration::from_millis(5);

const STACK_BYTES: usize = 64 * 1024;

/// A flood, and the thread that takes it.
pub(super) struct Flood {
    basin: Arc<Basin>,
    thread: Option<JoinHandle<()>>,
}

/// What the task finds when it comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// There may be more.
    More,
    /// Nothing has come for a while, or nothing can come.
    Over,
}

#[derive(Default)]
struct Basin {
    held: Mutex<Held>,
    has_room: Condvar,
    is_due: Notify,
}

#[derive(Default)]
struct Held {
    bytes: Vec<u8>,
    is_due: bool,
    is_over: bool,
    /// Whether the thread is to end.
    is_unwanted: bool,
}

impl Flood {
    /// Takes what comes from now on. Nobody else may read meanwhile.
    pub(super) fn begin(terminal: &OwnedFd) -> io::Result<Flood> {
        let terminal = terminal.try_clone()?;
        let basin = Arc::<Basin>::default();
        let filled = Arc::clone(&basin);
        let thread = std::thread::Builder::new()
            .name("flood".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || fill(&filled, &terminal))?;
        Ok(Flood {
            basin,
            thread: Some(thread),
        })
    }

    /// Waits for more than a little, and puts it into the buffer, which is empty.
    pub(super) async fn take(&self, buffer: &mut Vec<u8>) -> Found {
        loop {
            {
                let mut held = self.basin.held();
                if held.is_due || held.is_over {
                    held.is_due = false;
                    std::mem::swap(buffer, &mut held.bytes);
                    self.basin.has_room.notify_one();
                    return match held.is_over {
                        true => Found::Over,
                        false => Found::More,
                    };
                }
            }
            self.basin.is_due.notified().await;
        }
    }

    /// Ends the thread before the flood is over, and appends what it had taken.
    pub(super) fn stop(mut self, buffer: &mut Vec<u8>) {
        self.dismiss();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the reader of a flood has panicked");
        }
        buffer.append(&mut self.basin.held().bytes);
    }

    fn dismiss(&self) {
        self.basin.held().is_unwanted = true;
        self.basin.has_room.notify_one();
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.dismiss();
    }
}

impl Basin {
    fn held(&self) -> MutexGuard<'_, Held> {
        // Every change leaves it whole.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a piece once there is room. Whether more is wanted.
    fn pour(&self, piece: &[u8]) -> bool {
        let mut held = self.held();
        while held.bytes.len() + piece.len() > HELD_BYTES_MAX && !held.is_unwanted {
            let waited = self.has_room.wait(held);
            held = waited.unwrap_or_else(PoisonError::into_inner);
        }
        held.bytes.extend_from_slice(piece);
        if held.bytes.len() >= GATHERED_BYTES {
            self.call(&mut held);
        }
        !held.is_unwanted
    }

    fn call(&self, held: &mut Held) {
        if !std::mem::replace(&mut held.is_due, true) {
            self.is_due.notify_one();
        }
    }

    /// Nothing has come for a moment: the task need not wait for more.
    fn settle(&self) -> bool {
        let mut held = self.held();
        if !held.bytes.is_empty() {
            self.call(&mut held);
        }
        !held.is_unwanted
    }

    fn end(&self) {
        let mut held = self.held();
        held.is_over = true;
        self.call(&mut held);
    }
}

fn fill(basin: &Basin, terminal: &OwnedFd) {
    let mut piece = [0; PIECE_BYTES];
    while comes_within(terminal, GATHERED_WITHIN)
        || (basin.settle() && comes_within(terminal, CALM))
    {
        let is_wanted = match rustix::io::read(terminal, &mut piece) {
            Ok(count @ 1..) => basin.pour(&piece[..count]),
            Err(Errno::AGAIN | Errno::INTR) => true,
            // The task finds out for itself what that means.
            Ok(_) | Err(_) => false,
        };
        if !is_wanted {
            break;
        }
    }
    basin.end();
}

/// Whether there is something to read, or an end.
fn comes_within(terminal: &OwnedFd, time: Duration) -> bool {
    let timeout = Timespec::try_from(time).ok();
    let mut ready = [PollFd::new(terminal, PollFlags::IN)];
    // Interrupted is as good as ready: nothing may be there to read, either.
    !matches!(poll(&mut ready, timeout.as_ref()), Ok(0))
}
