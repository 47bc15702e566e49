//! What is taken out of output before a model or a person reads it.

use glass_redact::{Known, RuleError, RuleText, Rules};
use glass_sandbox::matches;
use glass_session::Redaction;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What is taken out of output before a model or a person reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RedactionSettings {
    /// Whether the daemon takes secrets out of what it shows. The journal keeps
    /// what was written in any case.
    pub enabled: bool,
    /// Built-in rules that are not used, by the name in `[REDACTED:name]`.
    pub off: Vec<String>,
    /// Variables whose values are secret although their names do not look so. A
    /// `*` stands for any characters: "CORP_*".
    pub variables: Vec<String>,
    /// Rules of your own for tokens that begin with something of their own.
    pub rule: Vec<RedactionRule>,
}

/// A rule for tokens that begin with something of their own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RedactionRule {
    /// What stands in `[REDACTED:name]`.
    pub name: String,
    /// Why it is a secret.
    pub reason: String,
    /// What tokens begin with. It stays visible.
    pub literals: Vec<String>,
    /// A regular expression for what follows.
    pub shape: String,
    /// Texts in which the rule must find a secret.
    #[serde(rename = "match", default)]
    pub matches: Vec<String>,
    /// Texts that must stay as they are.
    #[serde(default)]
    pub not_match: Vec<String>,
}

impl Default for RedactionSettings {
    fn default() -> RedactionSettings {
        RedactionSettings {
            enabled: true,
            off: Vec::new(),
            variables: Vec::new(),
            rule: Vec::new(),
        }
    }
}

impl RedactionSettings {
    /// What the daemon takes out; absent where that is switched off.
    pub(crate) fn redaction(
        &self,
        variables: &[(Vec<u8>, Vec<u8>)],
    ) -> Result<Option<Redaction>, RuleError> {
        if !self.enabled {
            return Ok(None);
        }
        let mut known = Known::new();
        self.add_known(variables, &mut known);
        Ok(Some(Redaction {
            rules: self.rules(Vec::new())?,
            variables: self.variables.clone(),
            known,
        }))
    }

    /// The rules in force, with some more.
    pub(crate) fn rules(&self, more: Vec<RuleText>) -> Result<Arc<Rules>, RuleError> {
        let mut added: Vec<RuleText> = self.rule.iter().map(RedactionRule::text).collect();
        added.extend(more);
        if added.is_empty() && self.off.is_empty() {
            return Ok(Rules::builtin());
        }
        Rules::with(&added, &self.off)
    }

    /// Adds the values of those variables that are secret.
    pub(crate) fn add_known(&self, variables: &[(Vec<u8>, Vec<u8>)], known: &mut Known) {
        for (name, value) in variables {
            let is_named = |pattern: &String| matches(pattern.as_bytes(), name);
            if self.variables.iter().any(is_named) {
                known.add(&String::from_utf8_lossy(name), value);
            }
        }
        known.add_environment(
            variables
                .iter()
                .map(|(name, value)| (&name[..], &value[..])),
        );
    }
}

impl RedactionRule {
    fn text(&self) -> RuleText {
        RuleText {
            name: self.name.clone(),
            reason: self.reason.clone(),
            literals: self.literals.clone(),
            shape: self.shape.clone(),
            matches: self.matches.clone(),
            not_match: self.not_match.clone(),
            ..RuleText::default()
        }
    }
}
