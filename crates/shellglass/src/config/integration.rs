//! What is set for the shells of sessions.

use glass_session::{DELAY_MS_MAX, Habits, INTEGRATION_MS_MAX};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

/// How shells tell what they do, and what is set for them. A session can be made
/// otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct IntegrationSettings {
    /// Whether shells on terminals are made to mark their commands. Without it,
    /// commands that are given to such a session run beside its shell.
    pub enabled: bool,
    /// Whether sessions of agents that do not say how they run commands are on
    /// terminals with integration; else their commands run plainly. Needs
    /// `policy.agent = "off"`: what is typed into a terminal cannot be judged.
    pub tools: bool,
    /// Milliseconds that this may take before a command runs without it, at most
    /// 600000.
    #[serde(deserialize_with = "timeout")]
    pub timeout_ms: u32,
    /// Whether zsh is reached through `ZDOTDIR`, in a folder that is removed once it
    /// was read. There is no other way: without it zsh marks nothing.
    pub zsh_zdotdir: bool,
    /// Whether zsh marks no line that has no end (`PROMPT_EOL_MARK`).
    pub zsh_clear_eol_mark: bool,
    /// Whether Oh My Zsh leaves its own integration out
    /// (`ITERM_SHELL_INTEGRATION_INSTALLED`).
    pub zsh_oh_my_zsh: bool,
    /// Whether Powerlevel10k marks its prompts
    /// (`POWERLEVEL9K_TERM_SHELL_INTEGRATION`).
    pub zsh_powerlevel10k: bool,
    /// Milliseconds that bash and PowerShell pause after a command
    /// (`PROMPT_COMMAND`, `start-sleep`), at most 60000.
    #[serde(deserialize_with = "delay")]
    pub prompt_delay_ms: u32,
    /// Whether PowerShell is given a different line each time, in case it swallows
    /// the output of one that it was given before. Untested: there is no PowerShell
    /// where this is tested.
    pub powershell_counter: bool,
}

impl Default for IntegrationSettings {
    fn default() -> IntegrationSettings {
        let habits = Habits::default();
        IntegrationSettings {
            enabled: habits.integration,
            tools: false,
            timeout_ms: habits.integration_ms,
            zsh_zdotdir: habits.zdotdir,
            zsh_clear_eol_mark: habits.clears_eol_mark,
            zsh_oh_my_zsh: habits.oh_my_zsh,
            zsh_powerlevel10k: habits.powerlevel10k,
            prompt_delay_ms: habits.delay_ms,
            powershell_counter: habits.powershell_counter,
        }
    }
}

impl From<&IntegrationSettings> for Habits {
    fn from(settings: &IntegrationSettings) -> Habits {
        Habits {
            integration: settings.enabled,
            integration_ms: settings.timeout_ms,
            zdotdir: settings.zsh_zdotdir,
            clears_eol_mark: settings.zsh_clear_eol_mark,
            oh_my_zsh: settings.zsh_oh_my_zsh,
            powerlevel10k: settings.zsh_powerlevel10k,
            delay_ms: settings.prompt_delay_ms,
            powershell_counter: settings.powershell_counter,
        }
    }
}

fn timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    at_most(deserializer, INTEGRATION_MS_MAX)
}

fn delay<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    at_most(deserializer, DELAY_MS_MAX)
}

fn at_most<'de, D: Deserializer<'de>>(deserializer: D, max: u32) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        ms if ms > max => Err(de::Error::custom(format!("{ms} is more than {max}"))),
        ms => Ok(ms),
    }
}
