//! How things stand right now, in numbers.

use super::{Caller, Engine};

/// A number that goes up and down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// What it is called, without our own name before it.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub help: &'static str,
    /// The number.
    pub value: u64,
}

impl Engine {
    /// How things stand, as far as a caller may know.
    pub fn levels(&self, caller: &Caller) -> [Level; 5] {
        let sessions = self.overview(caller);
        let busy = sessions.iter().filter(|view| view.running.is_some());
        let queued = || sessions.iter().map(|view| view.queued);
        let level = |name, help, value: usize| Level {
            name,
            help,
            value: value as u64,
        };
        [
            level("sessions", "Sessions that live.", sessions.len()),
            level(
                "sessions_busy",
                "Sessions in which a command runs.",
                busy.count(),
            ),
            level(
                "executions_queued",
                "Commands that wait for their turn.",
                queued().sum(),
            ),
            level(
                "session_queue_longest",
                "Commands that wait in the session where most do.",
                queued().max().unwrap_or(0),
            ),
            level(
                "approvals_pending",
                "Commands that wait for a person.",
                self.approvals(caller).len(),
            ),
        ]
    }
}
