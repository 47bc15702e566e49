//! Which tools of agents are made to answer without a terminal.

use glass_session::Adapting;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which tools of agents are made to answer without a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AdapterSettings {
    /// Whether any is. What a person types is run as it is typed in any case.
    pub enabled: bool,
    /// Tools that are left alone: "git".
    pub off: Vec<String>,
}

impl Default for AdapterSettings {
    fn default() -> AdapterSettings {
        AdapterSettings {
            enabled: true,
            off: Vec::new(),
        }
    }
}

impl AdapterSettings {
    /// What the daemon adapts; absent where that is switched off. An error names
    /// a tool that is not known.
    pub(crate) fn adapting(&self) -> Result<Option<Adapting>, String> {
        let known = glass_adapt::names();
        if let Some(other) = self.off.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(other.clone());
        }
        let off = self.off.clone();
        Ok(self.enabled.then_some(Adapting { off }))
    }
}
