//! A shell whose integration does not come up in its time.

use super::Task;
use std::time::{Duration, Instant};

/// What is said of a shell whose integration is not there when it should be.
pub(super) const LATE: &str = "shell integration did not come up in time";

/// How soon a late shell is looked at again that has not begun to read.
const LATE_LOOK_EVERY: Duration = Duration::from_secs(1);

impl Task {
    /// Says that integration has not come up, and takes away what the shell was told
    /// of. It may still come.
    pub(super) fn note_late(&mut self, now: Instant) {
        if self.late_at.is_none_or(|at| now < at) {
            return;
        }
        self.late_at = None;
        if self.beliefs.is_ready() {
            return;
        }
        if !super::integration::remove_folder(&self.room()) {
            self.late_at = Some(now + LATE_LOOK_EVERY);
        }
        if !self.integration.ends_with(LATE) {
            self.set_integration("none", LATE);
        }
    }
}
