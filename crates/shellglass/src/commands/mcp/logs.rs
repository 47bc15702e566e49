//! What a client is told beside its answers, as far as it wants to know.
#![allow(
    deprecated,
    reason = "a later revision gives logging up; clients of the earlier ones have it"
)]

use super::state::State;
use rmcp::RoleServer;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use rmcp::service::RequestContext;
use serde_json::Value;
use std::sync::atomic::{AtomicU8, Ordering};

/// How we call ourselves in what we say.
const LOGGER: &str = "shellglass";

/// From which level on a client wants to be told; nothing before it has said.
#[derive(Debug)]
pub(super) struct Wanted(AtomicU8);

/// A level that nothing reaches.
const NOTHING: u8 = u8::MAX;

impl Default for Wanted {
    fn default() -> Wanted {
        Wanted(AtomicU8::new(NOTHING))
    }
}

impl Wanted {
    /// The client has said from which level on.
    pub(super) fn set(&self, level: LoggingLevel) {
        self.0.store(level as u8, Ordering::Relaxed);
    }

    fn has(&self, level: LoggingLevel) -> bool {
        level as u8 >= self.0.load(Ordering::Relaxed)
    }
}

/// How much something matters.
#[derive(Clone, Copy)]
pub(super) enum Matter {
    /// How a command ended.
    Debug,
    /// A command waits for a person.
    Notice,
    /// The daemon was lost, and found again.
    Warning,
}

/// Says something to the client, if it wants to know.
pub(super) async fn say(
    state: &State,
    context: &RequestContext<RoleServer>,
    matter: Matter,
    data: impl FnOnce() -> Value,
) {
    let level = match matter {
        Matter::Debug => LoggingLevel::Debug,
        Matter::Notice => LoggingLevel::Notice,
        Matter::Warning => LoggingLevel::Warning,
    };
    if !state.wanted_logs.has(level) {
        return;
    }
    let message = LoggingMessageNotificationParam::new(level, data()).with_logger(LOGGER);
    // A client that has gone needs no message.
    drop(context.peer.notify_logging_message(message).await);
}

#[cfg(test)]
mod tests {
    use super::{LoggingLevel, Wanted};

    #[test]
    fn nothing_is_said_before_it_is_wanted_and_nothing_below() {
        let wanted = Wanted::default();
        assert!(!wanted.has(LoggingLevel::Emergency));
        wanted.set(LoggingLevel::Notice);
        assert!(wanted.has(LoggingLevel::Notice) && wanted.has(LoggingLevel::Warning));
        assert!(!wanted.has(LoggingLevel::Debug) && !wanted.has(LoggingLevel::Info));
    }
}
