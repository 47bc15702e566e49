//! Wrong tokens cost time. A token is far too long to be guessed; this keeps
//! whoever tries from keeping us busy, and says so in the log.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Wrong tokens in a row that are answered at once.
const FREE_MAX: u32 = 10;

/// Time in which one of them is forgiven.
const FORGIVEN_EVERY: Duration = Duration::from_secs(1);

/// How long each further one waits for its answer. With the limit on
/// connections this bounds how many can be tried.
const DELAY: Duration = Duration::from_millis(500);

/// How many wrong tokens there were lately.
#[derive(Default)]
pub(super) struct Guesses(Mutex<Option<Recent>>);

#[derive(Clone, Copy)]
struct Recent {
    count: u32,
    at: Instant,
}

/// What becomes of a wrong token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Penalty {
    /// It is wrong, and no more.
    Wrong,
    /// There were too many of them; the answer is late and says so.
    TooMany,
}

impl Guesses {
    /// Counts a wrong token and waits, where that is due.
    pub(super) async fn wrong(&self) -> Penalty {
        let penalty = self.count(Instant::now());
        if penalty == Penalty::TooMany {
            tokio::time::sleep(DELAY).await;
        }
        penalty
    }

    fn count(&self, now: Instant) -> Penalty {
        let mut recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = recent.map_or(0, |recent| {
            let forgiven =
                now.saturating_duration_since(recent.at).as_millis() / FORGIVEN_EVERY.as_millis();
            recent
                .count
                .saturating_sub(u32::try_from(forgiven).unwrap_or(u32::MAX))
        });
        let count = before.saturating_add(1).min(FREE_MAX + 1);
        *recent = Some(Recent { count, at: now });
        if count <= FREE_MAX {
            return Penalty::Wrong;
        }
        tracing::warn!("many wrong tokens were presented over TCP");
        Penalty::TooMany
    }
}

#[cfg(test)]
mod tests {
    use super::{FORGIVEN_EVERY, FREE_MAX, Guesses, Penalty};
    use std::time::Instant;

    #[test]
    fn many_wrong_tokens_wait_until_some_are_forgiven() {
        let guesses = Guesses::default();
        let now = Instant::now();
        for _ in 0..FREE_MAX {
            assert_eq!(guesses.count(now), Penalty::Wrong);
        }
        for _ in 0..1000 {
            assert_eq!(guesses.count(now), Penalty::TooMany);
        }
        let later = now + FORGIVEN_EVERY * 2;
        assert_eq!(guesses.count(later), Penalty::Wrong);
        assert_eq!(guesses.count(later), Penalty::TooMany);
    }
}
