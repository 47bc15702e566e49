//! Staying awake for an answer that comes at once.
//!
//! To be woken costs more than most builtins of a shell do. So a shell whose last
//! command was done at once is watched without sleep for as long as the next one
//! would take, and everybody else has their turn meanwhile.

use super::Actor;
use std::time::{Duration, Instant};

/// A command that is done within this time is quick.
const QUICK: Duration = Duration::from_micros(400);

/// What is known of how quick a shell is.
#[derive(Debug, Default)]
pub(super) struct Eager {
    sent: Option<Instant>,
    was_quick: bool,
}

impl Eager {
    /// A command was sent to the shell.
    pub(super) fn sent(&mut self, now: Instant) {
        self.sent = Some(now);
    }

    /// A command is done.
    pub(super) fn done(&mut self, now: Instant) {
        self.was_quick = self.is_young(now);
        self.sent = None;
    }

    fn expects(&self, now: Instant) -> bool {
        self.was_quick && self.is_young(now)
    }

    fn is_young(&self, now: Instant) -> bool {
        let sent = self.sent;
        sent.is_some_and(|sent| now.duration_since(sent) < QUICK)
    }
}

impl Actor {
    /// Whether the shell has answered while it was expected to.
    pub(super) async fn is_answered_at_once(&self) -> bool {
        while self.eager.expects(Instant::now()) {
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

#[cfg(test)]
mod tests {
    use super::{Eager, QUICK};
    use std::time::Instant;

    #[test]
    fn only_after_a_quick_command_an_answer_is_expected_and_not_for_long() {
        let mut eager = Eager::default();
        let now = Instant::now();
        eager.sent(now);
        assert!(!eager.expects(now), "nobody knows how quick it is");
        eager.done(now + QUICK / 2);
        assert!(!eager.expects(now + QUICK / 2), "nothing was sent");
        let now = now + QUICK;
        eager.sent(now);
        assert!(eager.expects(now + QUICK / 2));
        assert!(!eager.expects(now + QUICK));
        eager.done(now + QUICK);
        eager.sent(now + QUICK);
        assert!(!eager.expects(now + QUICK), "the last one was slow");
    }
}
