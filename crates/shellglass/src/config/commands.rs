//! What holds for commands that do not say otherwise.

use glass_session::Timeouts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What holds for commands of agents that do not say otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CommandSettings {
    /// Milliseconds after which an agent's command is ended that gives no
    /// timeout of its own; 0 is never. Background commands are left alone.
    pub timeout_ms: u32,
    /// Beginnings of commands that this does not hold for, by whole words:
    /// "npm run dev".
    pub timeout_exempt: Vec<String>,
}

impl From<&CommandSettings> for Timeouts {
    fn from(settings: &CommandSettings) -> Timeouts {
        Timeouts {
            default_ms: settings.timeout_ms,
            exempt: settings.timeout_exempt.clone(),
        }
    }
}
