//! All living sessions at a glance, for whoever shows them as they change.

use super::{Caller, Engine, SessionView, may_see, view};
use crate::actor::lock;
use tokio::sync::watch;

/// What all sessions together have done since the daemon started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Commands that began.
    pub commands: u64,
    /// Bytes that commands wrote.
    pub output_bytes: u64,
}

impl Engine {
    /// How much has been done since the daemon started.
    pub fn totals(&self) -> Totals {
        let (commands, output_bytes) = self.0.context.figures.in_all();
        Totals {
            commands,
            output_bytes,
        }
    }

    /// Changes whenever something of a session can be seen from outside: that
    /// it is there, its directory, what runs, what waits, what ended last. Many
    /// changes may be seen as one.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.context.changes.subscribe()
    }

    /// The living sessions that the caller may see, oldest first; also those
    /// that are made for one command.
    pub fn overview(&self, caller: &Caller) -> Vec<SessionView> {
        let mut views: Vec<SessionView> = lock(&self.0.sessions).values().map(view).collect();
        views.retain(|view| {
            view.session.disposed_ms.is_none() && may_see(caller, &view.session).is_ok()
        });
        views.sort_by(|a, b| {
            (a.session.created_ms, &a.session.id).cmp(&(b.session.created_ms, &b.session.id))
        });
        views
    }
}
