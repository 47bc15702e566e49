//! One line for long silent commands, on a terminal only, gone before anything
//! else is shown.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// Silence after which the line appears.
const QUIET_BEFORE: Duration = Duration::from_secs(2);

/// Back to the first column, and nothing to its right.
const ERASE: &str = "\r\x1b[K";

/// The line's state. Pure but for `show` and `hide`.
pub(super) struct Progress {
    is_enabled: bool,
    is_shown: bool,
    /// Whether the cursor stands at the beginning of a line: the line would
    /// else overwrite half of one.
    at_line_start: bool,
    began: Instant,
    last_output: Instant,
}

impl Progress {
    /// Begins now.
    pub(super) fn new() -> Progress {
        let now = Instant::now();
        Progress {
            is_enabled: std::io::stderr().is_terminal(),
            is_shown: false,
            at_line_start: true,
            began: now,
            last_output: now,
        }
    }

    /// Never shows anything.
    pub(super) fn disable(&mut self) {
        self.is_enabled = false;
    }

    /// Whether there is any use in asking every second.
    pub(super) fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    /// Called before output is written.
    pub(super) fn before_output(&mut self, bytes: &[u8]) {
        self.hide();
        if let Some(last) = bytes.last() {
            self.at_line_start = *last == b'\n';
        }
        self.last_output = Instant::now();
    }

    /// Called every second.
    pub(super) fn tick(&mut self) {
        if let Some(line) = self.line(Instant::now()) {
            self.is_shown = true;
            let _ = write!(std::io::stderr(), "{ERASE}{line}");
        }
    }

    /// Takes the line away.
    pub(super) fn hide(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            let _ = write!(std::io::stderr(), "{ERASE}");
        }
    }

    fn line(&self, now: Instant) -> Option<String> {
        let quiet = now.saturating_duration_since(self.last_output);
        if !self.is_enabled || !self.at_line_start || quiet < QUIET_BEFORE {
            return None;
        }
        let whole = now.saturating_duration_since(self.began).as_secs();
        let quiet = quiet.as_secs();
        Some(format!("⏱ {whole} s, quiet for {quiet} s — Ctrl+C cancels"))
    }
}

#[cfg(test)]
mod tests {
    use super::Progress;
    use std::time::Duration;

    fn progress() -> Progress {
        let mut progress = Progress::new();
        progress.is_enabled = true;
        progress
    }

    #[test]
    fn silence_is_shown_after_two_seconds() {
        let progress = progress();
        let after = |seconds| progress.line(progress.began + Duration::from_secs(seconds));
        assert_eq!(after(1), None);
        assert_eq!(
            after(12).as_deref(),
            Some("⏱ 12 s, quiet for 12 s — Ctrl+C cancels")
        );
    }

    #[test]
    fn half_a_line_is_not_overwritten() {
        let mut progress = progress();
        progress.before_output(b"Password: ");
        assert_eq!(progress.line(progress.began + Duration::from_secs(9)), None);
        progress.before_output(b"\n");
        assert!(
            progress
                .line(progress.last_output + Duration::from_secs(9))
                .is_some()
        );
    }

    #[test]
    fn nothing_is_shown_where_nobody_looks() {
        let mut progress = progress();
        progress.is_enabled = false;
        assert_eq!(progress.line(progress.began + Duration::from_secs(9)), None);
    }
}
