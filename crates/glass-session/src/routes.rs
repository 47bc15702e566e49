//! Which session a child of the keeper belongs to.

use crate::look::Seen;
use glass_model::{LaunchId, Usage, WaitStatus};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::UnboundedSender;

/// Something that a session learns from the machine and not from a caller.
/// Unbounded channels carry these: there are at most a few for each child.
#[derive(Debug)]
pub(crate) enum Note {
    /// A child's own process ended, and had used so much, where that is known.
    Exited(LaunchId, WaitStatus, Option<Usage>),
    /// The processes that were to be ended are gone; or, where some would not
    /// go, what is left of them.
    TreeEnded(Option<String>),
    /// Somebody has looked at its processes; there is one such look at a time.
    Saw(Box<Seen>),
}

/// The senders of all sessions, by child.
#[derive(Default)]
pub(crate) struct Routes(Mutex<HashMap<LaunchId, Route>>);

enum Route {
    To(UnboundedSender<Note>),
    /// It ended before its session had heard that it began.
    Early(WaitStatus, Option<Usage>),
}

impl Routes {
    fn table(&self) -> MutexGuard<'_, HashMap<LaunchId, Route>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on `sender` hears of this child; at once, if it has ended.
    pub(crate) fn add(&self, id: LaunchId, sender: UnboundedSender<Note>) {
        let mut table = self.table();
        match table.remove(&id) {
            // A session that is gone needs no news.
            Some(Route::Early(status, usage)) => {
                drop(sender.send(Note::Exited(id, status, usage)));
            }
            _ => drop(table.insert(id, Route::To(sender))),
        }
    }

    /// Passes on that a child's own process ended, which it does once.
    pub(crate) fn exited(&self, id: LaunchId, status: WaitStatus, usage: Option<Usage>) {
        let mut table = self.table();
        match table.remove(&id) {
            Some(Route::To(sender)) => drop(sender.send(Note::Exited(id, status, usage))),
            _ => drop(table.insert(id, Route::Early(status, usage))),
        }
    }
}
