//! Staying awake for an answer that comes at once.
//!
//! To be woken costs more than most builtins of a shell do. So a shell whose last
//! command was done at once is watched without sleep for as long as the next one
//! would take, and everybody else has their turn meanwhile.

use super::Actor;
use std::time::{Duration, Instant};

/// A command that is done within this time is quick.
const QUICK: Duration = Duration::from_micros(200);

/// What is known of how quick a shell is.
#[derive(Debug, Default)]
pub(super) struct Eager {
    sent: Option<Instant>,
    was_quick: bool,
}

impl Eager {
    /// A command was sent to the shell.
    pub(super) fn sent(&mut self) {
        self.sent = Some(Instant::now());
    }

    /// A command is done.
    pub(super) fn done(&mut self) {
        let sent = self.sent.take();
        self.was_quick = sent.is_some_and(|sent| sent.elapsed() < QUICK);
    }

    fn expects(&self) -> bool {
        self.was_quick && self.sent.is_some_and(|sent| sent.elapsed() < QUICK)
    }
}

impl Actor {
    /// Whether the shell has answered while it was expected to.
    pub(super) async fn is_answered_at_once(&self) -> bool {
        while self.eager.expects() {
            let shell = self.room.shell.as_ref();
            if shell.is_some_and(|shell| shell.has_news()) {
                return true;
            }
            // The shell may need this core, and others this thread.
            rustix::thread::sched_yield();
            tokio::task::yield_now().await;
        }
        false
    }
}
