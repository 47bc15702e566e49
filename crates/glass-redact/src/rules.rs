//! Rules are data: a name, a reason, what they look for, and examples of what
//! they match and what they leave alone.

use crate::alphabet::Alphabet;
use crate::likeness::Check;
use crate::limits::{ADDED_RULES_MAX, PATTERN_BYTES_MAX};
use crate::{Detector, Known, Redactor};
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use std::sync::{Arc, LazyLock};

/// The number of a rule, or of a known value's name, in a detector.
pub(crate) type RuleId = u16;

/// A file of rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuleTexts {
    /// The rules, in the order in which they are asked.
    pub rule: Vec<RuleText>,
}

/// What a rule looks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleKind {
    /// Something that begins with one of the literals.
    #[default]
    Token,
    /// The value of a name that has one of the literals.
    Keyed,
    /// The password in an address, behind the literal.
    Address,
    /// A block of Base64 lines behind the literal.
    Block,
}

/// A rule as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuleText {
    /// What stands in `[REDACTED:name]`: letters, digits, `-`, `_`.
    pub name: String,
    /// Why it is a secret, or where its shape is documented.
    pub reason: String,
    /// What it looks for.
    pub kind: RuleKind,
    /// What begins it. These stay visible.
    pub literals: Vec<String>,
    /// What a token is made of.
    pub alphabet: Alphabet,
    /// A pattern for the token behind its literal, or for the value. Its first
    /// group, if it has one, is the secret.
    pub shape: String,
    /// A pattern for the name, for keyed rules.
    pub key: String,
    /// A pattern for names that are no secrets although `key` has them.
    pub except: String,
    /// A pattern for what stands before the literal on the line.
    pub before: String,
    /// What the secret must look like.
    pub check: Check,
    /// Whether the shape may match often in one text.
    pub many: bool,
    /// Whether a space may stand between name and value.
    pub spaced: bool,
    /// Texts in which it finds a secret.
    #[serde(rename = "match")]
    pub matches: Vec<String>,
    /// Texts that every rule leaves alone.
    pub not_match: Vec<String>,
}

/// A rule, ready.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub name: Vec<u8>,
    pub kind: RuleKind,
    pub literals: Vec<Vec<u8>>,
    pub alphabet: Alphabet,
    pub shape: Option<Regex>,
    pub key: Option<Regex>,
    pub except: Option<Regex>,
    pub before: Option<Regex>,
    /// Whether `before` ends with a space, which is quickly told.
    pub is_behind_space: bool,
    pub check: Check,
    pub many: bool,
    pub spaced: bool,
}

/// Rules, ready for any number of detectors.
#[derive(Clone, Debug)]
pub struct Rules {
    pub(crate) rules: Vec<Rule>,
    /// Every key in one pattern: most names are told apart by it alone.
    pub(crate) keys: Option<Regex>,
    /// Names whose value may stand behind a space.
    pub(crate) spaced: Vec<Vec<u8>>,
}

/// Why rules cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// The text is no list of rules.
    #[error("the rules cannot be read: {0}")]
    Unreadable(String),
    /// Too many rules.
    #[error("there are more than {ADDED_RULES_MAX} rules of your own")]
    TooMany,
    /// A rule that cannot work.
    #[error("the rule '{rule}' {what}")]
    Broken {
        /// Which rule.
        rule: String,
        /// What is wrong with it.
        what: String,
    },
    /// A rule that is switched off does not exist.
    #[error("there is no rule '{0}' to switch off")]
    NoSuchRule(String),
    /// An example that the rule does not do justice to.
    #[error("the rule '{rule}' fails its own example: {example}")]
    Example {
        /// Which rule.
        rule: String,
        /// Which example.
        example: String,
    },
}

/// The rules that come with the program.
const BUILTIN: &[&str] = &[
    include_str!("../rules/blocks.toml"),
    include_str!("../rules/clouds.toml"),
    include_str!("../rules/forges.toml"),
    include_str!("../rules/models.toml"),
    include_str!("../rules/services.toml"),
    include_str!("../rules/names.toml"),
];

static BUILTIN_RULES: LazyLock<Arc<Rules>> = LazyLock::new(|| {
    let rules = builtin_texts()
        .iter()
        .map(|text| Rule::new(text).expect("a test compiles every built-in rule"))
        .collect();
    Arc::new(Rules::new(rules))
});

/// The built-in rules as they are written.
pub(crate) fn builtin_texts() -> Vec<RuleText> {
    BUILTIN
        .iter()
        .flat_map(|text| {
            toml::from_str::<RuleTexts>(text)
                .expect("a test reads every built-in rule")
                .rule
        })
        .collect()
}

impl RuleTexts {
    /// Reads rules from TOML.
    pub fn parse(text: &str) -> Result<RuleTexts, RuleError> {
        toml::from_str(text).map_err(|error| RuleError::Unreadable(error.to_string()))
    }
}

impl Rules {
    /// The rules that come with the program. They are compiled once.
    pub fn builtin() -> Arc<Rules> {
        BUILTIN_RULES.clone()
    }

    fn new(rules: Vec<Rule>) -> Rules {
        let keys: Vec<String> = rules
            .iter()
            .filter_map(|rule| rule.key.as_ref())
            .map(|key| format!("(?:{key})"))
            .collect();
        let keys = RegexBuilder::new(&keys.join("|"))
            .unicode(false)
            .size_limit(PATTERN_BYTES_MAX * ADDED_RULES_MAX)
            .build()
            .ok();
        let spaced = rules.iter().filter(|rule| rule.spaced);
        let spaced = spaced.flat_map(|rule| rule.literals.clone()).collect();
        Rules {
            rules,
            keys,
            spaced,
        }
    }

    /// The built-in rules without those that are `off`, and with some more,
    /// whose examples are tried.
    pub fn with(added: &[RuleText], off: &[String]) -> Result<Arc<Rules>, RuleError> {
        if added.len() > ADDED_RULES_MAX {
            return Err(RuleError::TooMany);
        }
        let mut rules = BUILTIN_RULES.rules.clone();
        for name in off {
            let before = rules.len();
            rules.retain(|rule| rule.name != name.as_bytes());
            if rules.len() == before {
                return Err(RuleError::NoSuchRule(name.clone()));
            }
        }
        for text in added {
            rules.push(Rule::new(text)?);
        }
        let rules = Arc::new(Rules::new(rules));
        let detector = Arc::new(Detector::new(rules.clone(), &Known::new()));
        for text in added {
            check_examples(&detector, text)?;
        }
        Ok(rules)
    }
}

/// Tries a rule's examples on all of the rules.
fn check_examples(detector: &Arc<Detector>, text: &RuleText) -> Result<(), RuleError> {
    let label = format!("[REDACTED:{}]", text.name);
    let is_right = |example: &str, should_match: bool| {
        let out = Redactor::redact_all(detector, example.as_bytes());
        match should_match {
            true => String::from_utf8_lossy(&out).contains(&label),
            false => out == example.as_bytes(),
        }
    };
    let examples = text.matches.iter().map(|example| (example, true));
    let examples = examples.chain(text.not_match.iter().map(|example| (example, false)));
    for (example, should_match) in examples {
        if !is_right(example, should_match) {
            return Err(RuleError::Example {
                rule: text.name.clone(),
                example: example.clone(),
            });
        }
    }
    Ok(())
}

impl Rule {
    fn new(text: &RuleText) -> Result<Rule, RuleError> {
        let broken = |what: String| RuleError::Broken {
            rule: text.name.clone(),
            what,
        };
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if text.name.is_empty() || !text.name.bytes().all(is_name) {
            return Err(broken(
                "needs a name of letters, digits, '-' and '_'".to_owned(),
            ));
        }
        if text.reason.is_empty() {
            return Err(broken("needs a reason".to_owned()));
        }
        if text.literals.is_empty()
            || text
                .literals
                .iter()
                .any(|one| !(2..=64).contains(&one.len()))
        {
            return Err(broken("needs literals of 2 to 64 bytes".to_owned()));
        }
        let pattern = |pattern: &str, is_anchored: bool| -> Result<Option<Regex>, RuleError> {
            if pattern.is_empty() {
                return Ok(None);
            }
            let anchored = match is_anchored {
                true => format!(r"\A(?:{pattern})"),
                false => pattern.to_owned(),
            };
            RegexBuilder::new(&anchored)
                .unicode(false)
                .size_limit(PATTERN_BYTES_MAX)
                .build()
                .map(Some)
                .map_err(|error| broken(format!("has a bad pattern: {error}")))
        };
        let is_keyed = text.kind == RuleKind::Keyed;
        if is_keyed == text.key.is_empty() {
            return Err(broken(
                "has a key although it is not keyed, or none".to_owned(),
            ));
        }
        Ok(Rule {
            name: text.name.clone().into_bytes(),
            kind: text.kind,
            literals: text
                .literals
                .iter()
                .map(|one| one.clone().into_bytes())
                .collect(),
            alphabet: text.alphabet,
            shape: pattern(&text.shape, !text.many)?,
            key: pattern(&text.key, false)?,
            except: pattern(&text.except, false)?,
            before: pattern(&text.before, false)?,
            is_behind_space: text.before.ends_with(r"\s$"),
            check: text.check,
            many: text.many,
            spaced: text.spaced,
        })
    }

    /// How well the rule names what it finds: a token's rule knows more than
    /// that of a name before it.
    pub(crate) fn rank(&self) -> u8 {
        match self.kind {
            RuleKind::Block => 3,
            RuleKind::Token => 2,
            RuleKind::Address | RuleKind::Keyed => 1,
        }
    }
}

#[cfg(test)]
mod tests;
