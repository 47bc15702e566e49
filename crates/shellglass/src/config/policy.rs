//! Which commands run without a question, and who answers the questions, as it
//! is written in a file.

use crate::error::{Failure, Kind};
use glass_model::{Role, Verdict};
use glass_policy::{Layer, Rule, RuleFile, RuleSet, written};
use glass_session::{Gatekeeping, Scrutiny};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The variable of the daemon's environment that opts out of the allow list.
const ALLOW_UNSAFE: &str = "SHELLGLASS_EXEC_ALLOW_UNSAFE";

/// How commands are judged before they run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PolicySettings {
    /// How closely the commands of agents are looked at: "ask" holds what is
    /// not known to be harmless until a person allows it, "deny" refuses only
    /// what is known to be dangerous, "off" looks at nothing. The rules below
    /// hold for "ask" and "deny"; the ignore file always does.
    pub agent: Level,
    /// The same for persons.
    pub person: Level,
    /// Whether the built-in allow rules count beside your own.
    pub builtin_allow: bool,
    /// Your own rules. A project can have some too, which only narrow.
    pub rule: Vec<PolicyRule>,
}

impl Default for PolicySettings {
    fn default() -> PolicySettings {
        PolicySettings {
            agent: Level::Ask,
            person: Level::Deny,
            builtin_allow: true,
            rule: Vec::new(),
        }
    }
}

/// How closely commands are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// What is not known to be harmless waits for a person.
    Ask,
    /// What is known to be dangerous is refused.
    Deny,
    /// Nothing is asked or refused.
    Off,
}

impl From<Level> for Scrutiny {
    fn from(level: Level) -> Scrutiny {
        match level {
            Level::Ask => Scrutiny::Full,
            Level::Deny => Scrutiny::Known,
            Level::Off => Scrutiny::Off,
        }
    }
}

/// A rule: what commands that begin with these words may do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicyRule {
    /// The words that a command must begin with.
    pub prefix: Vec<String>,
    /// What is decided; the strictest of the rules that match wins.
    pub decision: PolicyDecision,
    /// Why.
    #[serde(default)]
    pub reason: String,
    /// Lines that the rule must decide.
    #[serde(rename = "match", default)]
    pub matches: Vec<String>,
    /// Lines that it must leave alone.
    #[serde(default)]
    pub not_match: Vec<String>,
}

/// What a rule decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PolicyDecision {
    /// It runs without a question.
    Allow,
    /// A person is asked.
    Ask,
    /// It does not run.
    Deny,
}

/// Who answers questions, and until when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ApprovalSettings {
    /// How many seconds a command waits for an answer before it is refused.
    pub answer_seconds: u32,
    /// Who may have commands run without being asked about (`skip_approval`,
    /// `run --yes`).
    pub skip: Skip,
    /// Whose MCP client may be asked in a person's stead (elicitation), so that
    /// what is chosen there counts as a person's answer: "person" for those that
    /// a person has started (`shellglass mcp`, or a person's token over HTTP),
    /// "everybody" also for those with an agent's token, or "nobody".
    pub elicit: Elicit,
}

impl Default for ApprovalSettings {
    fn default() -> ApprovalSettings {
        ApprovalSettings {
            answer_seconds: 600,
            skip: Skip::Person,
            elicit: Elicit::Person,
        }
    }
}

/// Whose client speaks for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Elicit {
    /// Nobody's.
    Nobody,
    /// That of a person.
    Person,
    /// An agent's, too.
    Everybody,
}

/// Who may leave out questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Skip {
    /// Nobody.
    Nobody,
    /// Persons.
    Person,
    /// Agents too.
    Everybody,
}

impl PolicySettings {
    /// The rules in force: the built-in ones and these. Their examples are
    /// checked here.
    pub(crate) fn rules(&self) -> Result<RuleSet, Failure> {
        let rules: Vec<Rule> = self.rule.iter().map(PolicyRule::rule).collect();
        let mut file = RuleFile::parse(&written(&rules)).map_err(|error| {
            Failure::new(
                Kind::Failed,
                format!("[policy] of the configuration: {error}"),
            )
            .hint("docs/policy.md says how rules are written")
        })?;
        file.builtin_allow = Some(self.builtin_allow);
        Ok(RuleSet::new().with(Layer::User, file))
    }

    /// The same in the daemon's environment, which may opt out of the allow list.
    pub(crate) fn in_environment(&self) -> PolicySettings {
        let opted_out = std::env::var_os(ALLOW_UNSAFE).is_some_and(|it| it == "1");
        let agent = match self.agent {
            Level::Ask if opted_out => Level::Deny,
            level => level,
        };
        PolicySettings {
            agent,
            ..self.clone()
        }
    }

    /// How commands are judged.
    pub(crate) fn gatekeeping(
        &self,
        approvals: &ApprovalSettings,
        remembered: PathBuf,
    ) -> Result<Gatekeeping, Failure> {
        Ok(Gatekeeping {
            rules: self.rules()?,
            agent: self.agent.into(),
            person: self.person.into(),
            skip: match approvals.skip {
                Skip::Nobody => Vec::new(),
                Skip::Person => vec![Role::Person],
                Skip::Everybody => vec![Role::Person, Role::Agent],
            },
            answer_ms_max: approvals.answer_seconds.saturating_mul(1000),
            remembered,
        })
    }
}

impl PolicyRule {
    fn rule(&self) -> Rule {
        Rule {
            prefix: self.prefix.clone(),
            verdict: match self.decision {
                PolicyDecision::Allow => Verdict::Allow,
                PolicyDecision::Ask => Verdict::Ask,
                PolicyDecision::Deny => Verdict::Deny,
            },
            reason: self.reason.clone(),
            matches: self.matches.clone(),
            not_matches: self.not_match.clone(),
        }
    }
}
