//! How much is on its way to a client, and when it is too far behind.
//!
//! A browser takes in whatever comes and cannot be made to wait, so the page
//! says what it has drawn, and is sent no more than it can hold. A command that
//! writes faster than can be drawn would then be shown later and later; a view
//! that is late is opened anew instead, near the end.

use glass_session::Shown;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The smallest window, in bytes: a client that grants less could never be
/// shown anything.
const WINDOW_BYTES_MIN: u64 = 64 * 1024;

/// How far behind a live view may be.
const LATE: Duration = Duration::from_secs(2);

/// What is on its way.
pub(super) struct Flow {
    /// None for a client that does not say what it has shown.
    window: Option<u64>,
    under_way: u64,
    begun: Instant,
    /// How long the replay took, once it is over.
    replay: Option<Duration>,
}

impl Flow {
    pub(super) fn new(window_bytes: u64) -> Flow {
        Flow {
            window: (window_bytes > 0).then(|| window_bytes.max(WINDOW_BYTES_MIN)),
            under_way: 0,
            begun: Instant::now(),
            replay: None,
        }
    }

    /// A view begins anew; what is on its way still is.
    pub(super) fn begin(&mut self) {
        self.begun = Instant::now();
        self.replay = None;
    }

    pub(super) fn sent(&mut self, bytes: usize) {
        self.under_way = self.under_way.saturating_add(bytes as u64);
    }

    pub(super) fn acknowledged(&mut self, bytes: u64) {
        self.under_way = self.under_way.saturating_sub(bytes);
    }

    /// Whether more may be sent.
    pub(super) fn has_room(&self) -> bool {
        self.window.is_none_or(|window| self.under_way < window)
    }

    pub(super) fn replayed(&mut self) {
        self.replay = Some(self.begun.elapsed());
    }

    /// Whether this shows that a live view is too far behind.
    pub(super) fn is_late(&self, shown: &Shown) -> bool {
        let Shown::Bytes {
            at_ms: Some(at_ms), ..
        } = shown
        else {
            return false;
        };
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let now_ms = since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(0));
        self.is_behind(now_ms.saturating_sub(*at_ms))
    }

    fn is_behind(&self, behind_ms: i64) -> bool {
        // A client that is slow with every replay must not see nothing else.
        let allowed = |replay: Duration| LATE.max(replay * 2).as_millis();
        match (self.window, self.replay) {
            (Some(_), Some(replay)) => {
                u128::try_from(behind_ms).is_ok_and(|behind| behind > allowed(replay))
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Flow, WINDOW_BYTES_MIN};
    use std::time::Duration;

    #[test]
    fn a_window_fills_and_empties() {
        let mut flow = Flow::new(1);
        assert!(flow.has_room());
        flow.sent(WINDOW_BYTES_MIN as usize);
        assert!(!flow.has_room());
        flow.acknowledged(1);
        assert!(flow.has_room());
        flow.acknowledged(u64::MAX);
        flow.sent(usize::MAX);
        flow.sent(usize::MAX);
        assert!(!flow.has_room());
    }

    #[test]
    fn a_client_that_says_nothing_is_sent_everything() {
        let mut flow = Flow::new(0);
        flow.sent(usize::MAX);
        flow.replayed();
        assert!(flow.has_room());
        assert!(!flow.is_behind(i64::MAX));
    }

    #[test]
    fn only_a_live_view_is_late() {
        let mut flow = Flow::new(1 << 20);
        assert!(!flow.is_behind(1_000_000), "a replay shows what is old");
        flow.replay = Some(Duration::from_millis(10));
        assert!(!flow.is_behind(1_500));
        assert!(!flow.is_behind(-1_500), "clocks can be set back");
        assert!(flow.is_behind(2_500));
        flow.replay = Some(Duration::from_secs(2));
        assert!(!flow.is_behind(2_500));
        assert!(flow.is_behind(4_500));
    }
}
