//! What closing a view means for its session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What closing a view means for its session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ViewSettings {
    /// Whether closing the last view of a session cancels what runs in it and
    /// disposes of it. A view is closed by its client, by choosing another session
    /// in the page, and by a connection that is lost; a daemon that stops closes
    /// none.
    pub dispose_on_close: bool,
    /// How many seconds later; a view that is opened meanwhile keeps the session.
    pub dispose_delay_seconds: u32,
}

impl ViewSettings {
    /// How long after its last view is closed a session is ended; none where it is
    /// not.
    pub(crate) fn dispose_after_close(&self) -> Option<Duration> {
        let delay = Duration::from_secs(self.dispose_delay_seconds.into());
        self.dispose_on_close.then_some(delay)
    }
}
