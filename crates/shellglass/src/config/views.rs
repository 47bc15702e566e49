//! What views show, and what closing one means for its session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What views show, and what closing one means for its session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ViewSettings {
    /// Whether closing the last view of a session cancels what runs in it and
    /// disposes of it. A view is closed by its client, by choosing another session
    /// in the page, and by a connection that is lost; a daemon that stops closes
    /// none.
    pub dispose_on_close: bool,
    /// How many seconds later; a view that is opened meanwhile keeps the session.
    pub dispose_delay_seconds: u32,
    /// Programs that are not listed among what runs inside tmux or Zellij, where a
    /// session shows that; shells that wait at their prompt never are.
    pub unlisted_programs: Vec<String>,
}

/// What accompanies other programs, and is not what anybody looks for.
const UNLISTED: [&str; 10] = [
    "tmux",
    "zellij",
    "screen",
    "login",
    "sshd",
    "sudo",
    "gitstatusd",
    "fzf",
    "sleep",
    "claude",
];

impl Default for ViewSettings {
    fn default() -> ViewSettings {
        ViewSettings {
            dispose_on_close: false,
            dispose_delay_seconds: 0,
            unlisted_programs: UNLISTED.map(str::to_owned).to_vec(),
        }
    }
}

impl ViewSettings {
    /// How long after its last view is closed a session is ended; none where it is
    /// not.
    pub(crate) fn dispose_after_close(&self) -> Option<Duration> {
        let delay = Duration::from_secs(self.dispose_delay_seconds.into());
        self.dispose_on_close.then_some(delay)
    }
}
