//! How the console of a pipe or line session looks.

use glass_session::{ConsoleManner, PROMPT_DEFAULT};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the console of a pipe or line session looks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ConsoleSettings {
    /// Whether something stands before the line.
    pub prompt: bool,
    /// What that is. `{cwd}` is the directory, `{name}` its last part, `\e[36m` and
    /// the like are colours, `\n` is a line end.
    pub prompt_template: String,
    /// Whether a command is shown in dim once it runs.
    pub hidden_echo: bool,
    /// Whether an exit code other than 0 is shown.
    pub show_exit: bool,
}

impl Default for ConsoleSettings {
    fn default() -> ConsoleSettings {
        ConsoleSettings {
            prompt: true,
            prompt_template: PROMPT_DEFAULT.to_owned(),
            hidden_echo: true,
            show_exit: true,
        }
    }
}

impl From<&ConsoleSettings> for ConsoleManner {
    fn from(settings: &ConsoleSettings) -> ConsoleManner {
        ConsoleManner {
            template: settings.prompt.then(|| settings.prompt_template.clone()),
            dims_commands: settings.hidden_echo,
            shows_exit: settings.show_exit,
        }
    }
}
