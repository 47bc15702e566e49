//! How large a terminal is: as small as the smallest of those who use it, and
//! changed no more often than programs can follow.

use glass_vt::screen::ScreenSize;
use std::time::{Duration, Instant};

/// A size that comes sooner after another is applied once sizes rest for so
/// long.
const REST: Duration = Duration::from_millis(500);

/// The size of one terminal.
#[derive(Debug)]
pub(super) struct Sizing {
    current: ScreenSize,
    wanted: ScreenSize,
    asked: Option<Instant>,
    due: Option<Instant>,
}

impl Sizing {
    pub(super) fn new(current: ScreenSize) -> Sizing {
        Sizing {
            current,
            wanted: current,
            asked: None,
            due: None,
        }
    }

    pub(super) fn current(&self) -> ScreenSize {
        self.current
    }

    /// Asks for a size; gives it back where it is to be applied at once.
    pub(super) fn want(&mut self, size: ScreenSize, now: Instant) -> Option<ScreenSize> {
        let size = size.clamped();
        if size == self.wanted {
            return None;
        }
        self.wanted = size;
        let asked = self.asked.replace(now);
        if asked.is_some_and(|asked| now < asked + REST) {
            self.due = Some(now + REST);
            return None;
        }
        self.apply()
    }

    /// When a size that waits is to be applied.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// The size whose time has come.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<ScreenSize> {
        if self.due.is_none_or(|due| now < due) {
            return None;
        }
        self.apply()
    }

    fn apply(&mut self) -> Option<ScreenSize> {
        self.due = None;
        let is_new = self.wanted != self.current;
        self.current = self.wanted;
        is_new.then_some(self.current)
    }
}

/// The largest size that everybody can show; none where nobody has one.
pub(super) fn smallest(sizes: impl Iterator<Item = ScreenSize>) -> Option<ScreenSize> {
    sizes.reduce(|one, other| ScreenSize {
        columns: one.columns.min(other.columns),
        rows: one.rows.min(other.rows),
    })
}

#[cfg(test)]
mod tests {
    use super::{REST, Sizing, smallest};
    use glass_vt::screen::ScreenSize;
    use std::time::{Duration, Instant};

    fn size(columns: u16, rows: u16) -> ScreenSize {
        ScreenSize { columns, rows }
    }

    #[test]
    fn the_first_size_is_applied_at_once_and_later_ones_when_they_rest() {
        let mut sizing = Sizing::new(size(80, 30));
        let begin = Instant::now();
        let at = |ms| begin + Duration::from_millis(ms);
        assert_eq!(sizing.want(size(100, 40), at(0)), Some(size(100, 40)));
        assert_eq!(sizing.want(size(101, 40), at(10)), None);
        assert_eq!(sizing.want(size(102, 40), at(400)), None);
        assert_eq!(sizing.take_due(at(510)), None, "it did not rest");
        assert_eq!(sizing.due(), Some(at(400) + REST));
        assert_eq!(sizing.take_due(at(900)), Some(size(102, 40)));
        assert_eq!(sizing.due(), None);
        assert_eq!(sizing.want(size(80, 24), at(2000)), Some(size(80, 24)));
    }

    #[test]
    fn a_size_that_comes_back_in_time_changes_nothing() {
        let mut sizing = Sizing::new(size(80, 30));
        let now = Instant::now();
        assert_eq!(sizing.want(size(90, 30), now), Some(size(90, 30)));
        assert_eq!(sizing.want(size(91, 30), now), None);
        assert_eq!(sizing.want(size(90, 30), now), None);
        assert_eq!(sizing.take_due(now + REST * 2), None);
        assert_eq!(sizing.current(), size(90, 30));
    }

    #[test]
    fn absurd_sizes_become_possible_ones() {
        let mut sizing = Sizing::new(size(80, 30));
        let applied = sizing.want(size(0, u16::MAX), Instant::now());
        assert_eq!(applied, Some(size(2, 1000)));
    }

    #[test]
    fn everybody_can_show_the_smallest() {
        let sizes = [size(100, 20), size(80, 50)];
        assert_eq!(smallest(sizes.into_iter()), Some(size(80, 20)));
        assert_eq!(smallest([].into_iter()), None);
    }
}
