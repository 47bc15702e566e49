//! Rules: prefixes of words, what to decide, why, and examples that say so.

use crate::limits::{RULES_BYTES_MAX, RULES_MAX};
use crate::line::Word;
use crate::unwrap::base_name;
use glass_model::Verdict;
use serde::Deserialize;
use std::sync::Arc;
use thiserror::Error;

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The words that a command must begin with, after quotes are removed.
    pub prefix: Vec<String>,
    /// What it decides.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// Lines that it must decide.
    pub matches: Vec<String>,
    /// Lines that it must leave alone.
    pub not_matches: Vec<String>,
}

impl Rule {
    /// What a person's answer makes of a prefix.
    pub fn remembered(prefix: Vec<String>) -> Rule {
        Rule {
            prefix,
            verdict: Verdict::Allow,
            reason: "A person allowed it.".to_owned(),
            matches: Vec::new(),
            not_matches: Vec::new(),
        }
    }

    /// Whether a command that begins with these words is this rule's. The
    /// words must be literal: what may become another word matches nothing.
    pub(crate) fn covers(&self, words: &[Word]) -> bool {
        self.prefix.len() <= words.len()
            && self
                .prefix
                .iter()
                .zip(words)
                .all(|(part, word)| word.is_literal() && word.value == *part)
    }
}

impl Rule {
    /// The same for rules that narrow: the directory of a program does not
    /// count, nor whether words could become others, nor flags in between
    /// (`git -C x push`).
    pub(crate) fn covers_loosely(&self, words: &[Word]) -> bool {
        let Some((name, rest)) = words.split_first() else {
            return false;
        };
        let Some((first, others)) = self.prefix.split_first() else {
            return false;
        };
        (name.value == *first || base_name(name) == first) && in_order(others, rest)
    }
}

/// Whether the parts stand among the words in this order, with nothing but
/// flags and their values before and between them.
fn in_order(parts: &[String], words: &[Word]) -> bool {
    let mut parts = parts.iter().peekable();
    let mut after_flag = false;
    for word in words {
        let Some(part) = parts.peek() else {
            return true;
        };
        if word.value == **part {
            parts.next();
            after_flag = false;
        } else if word.value.starts_with('-') {
            after_flag = true;
        } else if !std::mem::take(&mut after_flag) {
            return false;
        }
    }
    parts.peek().is_none()
}

/// Who wrote a rule, and so what it may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// It comes with Shellglass.
    BuiltIn,
    /// The user's own.
    User,
    /// A project's. It only narrows: an *allow* of a project is ignored.
    Project,
    /// A person answered *for this session* or *always*.
    Remembered,
}

impl Layer {
    /// Whether an *allow* of this layer counts.
    pub fn may_allow(self) -> bool {
        self != Layer::Project
    }

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Layer::BuiltIn => "built-in",
            Layer::User => "user",
            Layer::Project => "project",
            Layer::Remembered => "remembered",
        }
    }
}

/// The rules of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleFile {
    /// Whether the built-in *allow* rules count beside these; none says
    /// nothing about it.
    pub builtin_allow: Option<bool>,
    /// The rules, in the order of the file.
    pub rules: Vec<Rule>,
}

/// Why a rules file cannot be used.
#[derive(Debug, Error)]
pub enum RulesError {
    /// It is not the TOML that rules are written in.
    #[error("the rules cannot be read: {0}")]
    Toml(#[from] toml::de::Error),
    /// It is too large.
    #[error("the rules are too many or too long")]
    TooLarge,
    /// A rule has no prefix, or an empty word in it.
    #[error("rule {number} has no prefix")]
    NoPrefix {
        /// Counted from 1.
        number: usize,
    },
    /// A rule does not do what its examples say.
    #[error("rule {number} (`{prefix}`): {what}")]
    Example {
        /// Counted from 1.
        number: usize,
        /// The rule's prefix.
        prefix: String,
        /// Which example, and how it differs.
        what: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    builtin_allow: Option<bool>,
    #[serde(default)]
    rule: Vec<RuleText>,
}

/// A rule as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleText {
    prefix: Vec<String>,
    decision: VerdictText,
    #[serde(default)]
    reason: String,
    #[serde(default, rename = "match")]
    matches: Vec<String>,
    #[serde(default)]
    not_match: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum VerdictText {
    Allow,
    Ask,
    Deny,
}

impl From<RuleText> for Rule {
    fn from(text: RuleText) -> Rule {
        Rule {
            prefix: text.prefix,
            verdict: match text.decision {
                VerdictText::Allow => Verdict::Allow,
                VerdictText::Ask => Verdict::Ask,
                VerdictText::Deny => Verdict::Deny,
            },
            reason: text.reason,
            matches: text.matches,
            not_matches: text.not_match,
        }
    }
}

/// Rules as the text of a file.
pub fn written(rules: &[Rule]) -> String {
    let tables = rules.iter().map(|rule| {
        let decision = match rule.verdict {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
        };
        let mut table = toml::Table::new();
        table.insert("prefix".to_owned(), rule.prefix.clone().into());
        table.insert("decision".to_owned(), decision.into());
        table.insert("reason".to_owned(), rule.reason.clone().into());
        table.insert("match".to_owned(), rule.matches.clone().into());
        table.insert("not_match".to_owned(), rule.not_matches.clone().into());
        toml::Value::Table(table)
    });
    let mut file = toml::Table::new();
    file.insert("rule".to_owned(), toml::Value::Array(tables.collect()));
    file.to_string()
}

impl RuleFile {
    /// Reads rules and checks their examples.
    pub fn parse(text: &str) -> Result<RuleFile, RulesError> {
        let file = RuleFile::parse_unchecked(text)?;
        match crate::examples::failures(&file).into_iter().next() {
            Some(failure) => Err(failure),
            None => Ok(file),
        }
    }

    /// Reads the rules in the `[policy]` table of a configuration, which has
    /// other settings too.
    pub fn of_configuration(text: &str) -> Result<RuleFile, RulesError> {
        if text.len() > RULES_BYTES_MAX {
            return Err(RulesError::TooLarge);
        }
        let mut whole: toml::Table = toml::from_str(text)?;
        let Some(toml::Value::Table(mut policy)) = whole.remove("policy") else {
            return Ok(RuleFile::default());
        };
        policy.retain(|key, _| matches!(key, "builtin_allow" | "rule"));
        RuleFile::parse(&policy.to_string())
    }

    /// Reads rules without checking their examples.
    pub fn parse_unchecked(text: &str) -> Result<RuleFile, RulesError> {
        if text.len() > RULES_BYTES_MAX {
            return Err(RulesError::TooLarge);
        }
        let file: FileText = toml::from_str(text)?;
        if file.rule.len() > RULES_MAX {
            return Err(RulesError::TooLarge);
        }
        let rules: Vec<Rule> = file.rule.into_iter().map(Rule::from).collect();
        for (index, rule) in rules.iter().enumerate() {
            if rule.prefix.is_empty() || rule.prefix.iter().any(String::is_empty) {
                return Err(RulesError::NoPrefix { number: index + 1 });
            }
        }
        Ok(RuleFile {
            builtin_allow: file.builtin_allow,
            rules,
        })
    }
}

/// Every layer's rules. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RuleSet {
    builtin_allow: bool,
    layers: Vec<(Layer, Arc<Vec<Rule>>)>,
}

impl Default for RuleSet {
    fn default() -> RuleSet {
        RuleSet {
            builtin_allow: true,
            layers: Vec::new(),
        }
    }
}

impl RuleSet {
    /// The built-in rules alone.
    pub fn new() -> RuleSet {
        RuleSet::default()
    }

    /// The same with another layer. No layer gives back what an earlier one
    /// took.
    pub fn with(mut self, layer: Layer, file: RuleFile) -> RuleSet {
        if file.builtin_allow == Some(false) {
            self.builtin_allow = false;
        }
        self.with_rules(layer, Arc::new(file.rules))
    }

    /// The same with rules that others have too.
    pub fn with_rules(mut self, layer: Layer, rules: Arc<Vec<Rule>>) -> RuleSet {
        self.layers.push((layer, rules));
        self
    }

    /// Every rule that counts, with its layer.
    pub(crate) fn rules(&self) -> impl Iterator<Item = (Layer, &Rule)> {
        let builtin = crate::knowledge::knowledge().rules.iter();
        let builtin = builtin
            .filter(|rule| self.builtin_allow || rule.verdict != Verdict::Allow)
            .map(|rule| (Layer::BuiltIn, rule));
        let others = self
            .layers
            .iter()
            .flat_map(|(layer, rules)| rules.iter().map(move |rule| (*layer, rule)));
        builtin.chain(
            others.filter(|(layer, rule)| layer.may_allow() || rule.verdict != Verdict::Allow),
        )
    }
}
