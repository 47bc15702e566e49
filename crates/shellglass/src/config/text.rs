//! What a model is shown of output.

use glass_vt::text::{Budget, Progress};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a model is shown of output, where its call does not say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TextSettings {
    /// Lines of output in an answer.
    pub lines_max: u32,
    /// Characters of output in an answer, at most 400000.
    pub characters_max: u32,
    /// Whether a progress bar is its last state alone; else each of its states is a
    /// line.
    pub compress_progress: bool,
}

impl Default for TextSettings {
    fn default() -> TextSettings {
        TextSettings {
            lines_max: 10_000,
            characters_max: 16_000,
            compress_progress: true,
        }
    }
}

impl From<&TextSettings> for Budget {
    fn from(settings: &TextSettings) -> Budget {
        Budget {
            lines_max: settings.lines_max as usize,
            chars_max: settings.characters_max as usize,
            progress: match settings.compress_progress {
                true => Progress::Compressed,
                false => Progress::Shown,
            },
            ..Budget::default()
        }
    }
}
