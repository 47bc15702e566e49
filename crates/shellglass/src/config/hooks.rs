//! Programs of the user's that are asked before a command and told after it,
//! as they are written in a file.

use glass_hooks::{FailureMode, HOOKS_MAX, Hook, Hooks};
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::time::Duration;

/// Time that a hook has when nothing else is said, and at most.
const TIMEOUT_MS: u64 = 10_000;
const TIMEOUT_MS_MAX: u64 = 600_000;

/// How the names of our own variables begin, some of which belong to one
/// command or one daemon, and the one that hooks need to find this daemon.
const OWN_PREFIX: &[u8] = b"SHELLGLASS";
const OWN_KEPT: &str = "SHELLGLASS_HOME";

/// Programs of yours that are asked before a command and told after it. They
/// run as you, without walls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HookSettings {
    /// Asked before a command runs, one after the other; the strictest answer
    /// wins. A failure refuses the command unless `failure` is "open".
    #[serde(rename = "beforeShellExecution", deserialize_with = "before")]
    #[schemars(with = "Vec<HookInFile>")]
    pub before: Vec<HookSetting>,
    /// Told after a command has ended. A failure is reported and changes
    /// nothing.
    #[serde(rename = "afterShellExecution", deserialize_with = "after")]
    #[schemars(with = "Vec<HookInFile>")]
    pub after: Vec<HookSetting>,
}

/// A hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct HookSetting {
    /// What `sh -c` runs, in the directory of the command.
    pub command: String,
    /// Milliseconds until it must have ended, at most 600000.
    #[schemars(range(min = 1, max = 600_000), default = "timeout_ms")]
    pub timeout_ms: u64,
    /// What its failure means: the command is refused ("closed"), or the hook
    /// counts as absent ("open"). When nothing is said, "closed" before a
    /// command, and "open" after it, where there is nothing to refuse.
    #[schemars(with = "Option<FailureName>")]
    pub failure: FailureName,
}

/// A hook, or its command alone.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "the schema's view of what is read by hand")]
enum HookInFile {
    /// What `sh -c` runs.
    Command(String),
    /// With its other settings.
    Whole(HookSetting),
}

/// What the failure of a hook means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FailureName {
    /// The command is refused.
    Closed,
    /// The hook counts as absent.
    Open,
}

impl HookSettings {
    /// What the program works with. Hooks get this environment but for our own
    /// variables.
    pub(crate) fn hooks(&self, environment: impl Iterator<Item = (OsString, OsString)>) -> Hooks {
        let hooks = |list: &[HookSetting]| list.iter().map(HookSetting::hook).collect();
        let environment = environment.filter(|(name, _)| is_for_hooks(name)).collect();
        Hooks::new(hooks(&self.before), hooks(&self.after), environment)
    }

    /// The paths that hooks name, from the root or from the home directory (`~/`).
    /// Whoever could write one of those files would have it run without walls.
    pub(crate) fn paths(&self) -> Vec<String> {
        let separates = |c: char| c.is_whitespace() || "\"';&|()<>=`".contains(c);
        let hooks = self.before.iter().chain(&self.after);
        let words = hooks.flat_map(|hook| hook.command.split(separates));
        words.filter_map(path_of).collect()
    }
}

/// The path that a word is, if it is one.
fn path_of(word: &str) -> Option<String> {
    let below_home = word
        .strip_prefix("$HOME/")
        .or(word.strip_prefix("${HOME}/"));
    match below_home {
        Some(rest) => Some(format!("~/{rest}")),
        None if word.starts_with('/') || word.starts_with("~/") => Some(word.to_owned()),
        None => None,
    }
}

fn is_for_hooks(name: &OsStr) -> bool {
    name == OWN_KEPT || !name.as_encoded_bytes().starts_with(OWN_PREFIX)
}

impl HookSetting {
    fn hook(&self) -> Hook {
        Hook {
            command: self.command.clone(),
            timeout: Duration::from_millis(self.timeout_ms),
            failure: match self.failure {
                FailureName::Closed => FailureMode::Closed,
                FailureName::Open => FailureMode::Open,
            },
        }
    }
}

fn timeout_ms() -> u64 {
    TIMEOUT_MS
}

/// The table of a hook, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HookTable {
    command: String,
    #[serde(default = "timeout_ms")]
    timeout_ms: u64,
    failure: Option<FailureName>,
}

impl HookTable {
    fn check<E: de::Error>(self, failure: FailureName) -> Result<HookSetting, E> {
        if self.command.trim().is_empty() || self.command.contains('\0') {
            return Err(E::custom(
                "a hook's command is a line for `sh`, and not empty",
            ));
        }
        if !(1..=TIMEOUT_MS_MAX).contains(&self.timeout_ms) {
            let message = format!("a hook has between 1 and {TIMEOUT_MS_MAX} milliseconds");
            return Err(E::custom(message));
        }
        Ok(HookSetting {
            command: self.command,
            timeout_ms: self.timeout_ms,
            failure: self.failure.unwrap_or(failure),
        })
    }
}

/// A hook that is asked refuses the command when it fails and says nothing else.
fn before<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<HookSetting>, D::Error> {
    deserializer.deserialize_seq(ListOfHooks(FailureName::Closed))
}

/// A hook that is told has nothing to refuse.
fn after<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<HookSetting>, D::Error> {
    deserializer.deserialize_seq(ListOfHooks(FailureName::Open))
}

/// Reads hooks whose failures mean this when they do not say.
struct ListOfHooks(FailureName);

impl<'de> de::Visitor<'de> for ListOfHooks {
    type Value = Vec<HookSetting>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of hooks")
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut hooks = Vec::new();
        while let Some(hook) = list.next_element_seed(OneHook(self.0))? {
            if hooks.len() == HOOKS_MAX {
                let message = format!("there are at most {HOOKS_MAX} hooks of a kind");
                return Err(de::Error::custom(message));
            }
            hooks.push(hook);
        }
        Ok(hooks)
    }
}

/// Reads a table, or a command alone, and says what is wrong with either.
struct OneHook(FailureName);

impl<'de> de::DeserializeSeed<'de> for OneHook {
    type Value = HookSetting;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<HookSetting, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> de::Visitor<'de> for OneHook {
    type Value = HookSetting;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a command, or a table with `command`, `timeout_ms` and `failure`")
    }

    fn visit_str<E: de::Error>(self, command: &str) -> Result<HookSetting, E> {
        let table = HookTable {
            command: command.to_owned(),
            timeout_ms: TIMEOUT_MS,
            failure: None,
        };
        table.check(self.0)
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<HookSetting, A::Error> {
        HookTable::deserialize(MapAccessDeserializer::new(map))?.check(self.0)
    }
}

#[cfg(test)]
mod tests;
