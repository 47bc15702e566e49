//! Staying awake for an answer that comes at once.
//!
//! To be woken costs more than most builtins of a shell do. So a shell whose last
//! command was done at once is watched without sleep for as long as the next one
//! would take, and everybody else has their turn meanwhile.

use super::Actor;
use std::time::{Duration, Instant};

/// A command that is done within this time is quick.
const QUICK: Duration = Duration::from_micros(400);

/// How many commands are not watched once somebody computed for long on our
/// core: who is woken is given it at once, who only let others pass is not.
const UNWATCHED: u32 = 32;

/// What is known of how quick a shell is.
#[derive(Debug, Default)]
pub(super) struct Eager {
    sent: Option<Instant>,
    was_quick: bool,
    unwatched: u32,
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
        self.unwatched = self.unwatched.saturating_sub(1);
    }

    fn expects(&self, now: Instant) -> bool {
        self.unwatched == 0 && self.was_quick && self.is_young(now)
    }

    /// Others were let pass.
    fn let_pass(&mut self, from: Instant, to: Instant) {
        if to.duration_since(from) > QUICK {
            self.unwatched = UNWATCHED;
        }
    }

    fn is_young(&self, now: Instant) -> bool {
        let sent = self.sent;
        sent.is_some_and(|sent| now.duration_since(sent) < QUICK)
    }
}

impl Actor {
    /// Whether the shell has answered while it was expected to.
    pub(super) async fn is_answered_at_once(&mut self) -> bool {
        let mut now = Instant::now();
        while self.eager.expects(now) {
            let shell = self.room.shell.as_ref();
            if shell.is_some_and(|shell| shell.has_news()) {
                return true;
            }
            // The shell may need this core, and others this thread.
            rustix::thread::sched_yield();
            self.eager.let_pass(now, Instant::now());
            tokio::task::yield_now().await;
            now = Instant::now();
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::{Eager, QUICK, UNWATCHED};
    use std::time::{Duration, Instant};

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

    #[test]
    fn where_others_compute_the_next_commands_are_not_watched() {
        let mut eager = Eager::default();
        let mut now = Instant::now();
        let mut is_watched = |eager: &mut Eager| {
            now += 2 * QUICK;
            eager.sent(now);
            let is_watched = eager.expects(now);
            eager.done(now + QUICK / 2);
            is_watched
        };
        is_watched(&mut eager);
        assert!(is_watched(&mut eager));
        let begun = Instant::now();
        eager.let_pass(begun, begun + QUICK);
        assert!(is_watched(&mut eager), "they were quick");
        eager.let_pass(begun, begun + QUICK + Duration::from_micros(1));
        for _ in 0..UNWATCHED {
            assert!(!is_watched(&mut eager));
        }
        assert!(is_watched(&mut eager));
    }
}
