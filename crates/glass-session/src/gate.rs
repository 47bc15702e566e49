//! Whether a command may run, as far as its text says: the ignore file, the
//! rules, and what people have answered before. It widens nothing: the sandbox
//! is decided about elsewhere, and is the wall.

mod files;
mod remembered;

use files::ProjectFiles;
use glass_model::{Decision, Reason, Role, ShellKind, Verdict};
use glass_policy::{Command, Layer, RuleSet, decide, decide_known};
use std::path::{Path, PathBuf};

pub use remembered::CannotRemember;
pub(crate) use remembered::{Remembered, SessionMemory};

/// Reasons that are told; the rest are counted.
const REASONS_TOLD_MAX: usize = 4;

/// How closely somebody's commands are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scrutiny {
    /// Not at all, but for the ignore file.
    Off,
    /// What is known to be dangerous is refused, and rules that somebody wrote
    /// hold. Doubt is no obstacle.
    Known,
    /// What is not known to be harmless waits for a person.
    Full,
}

/// How commands are judged.
#[derive(Clone, Debug)]
pub struct Gatekeeping {
    /// The user's rules over the built-in ones.
    pub rules: RuleSet,
    /// How closely agents are looked at.
    pub agent: Scrutiny,
    /// How closely persons are.
    pub person: Scrutiny,
    /// Who may ask for questions to be left out.
    pub skip: Vec<Role>,
    /// How long a person has to answer, in milliseconds.
    pub answer_ms_max: u32,
    /// Where answers that hold for always are kept.
    pub remembered: PathBuf,
}

impl Gatekeeping {
    fn scrutiny(&self, role: Role) -> Scrutiny {
        match role {
            Role::Agent => self.agent,
            Role::Person => self.person,
        }
    }
}

/// What a command has to pass before it may have its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Nothing.
    Open,
    /// A person's word.
    Ask(Question),
    /// It does not pass; why, for people and models.
    Shut(String),
}

/// What a person is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    /// Why.
    pub(crate) reason: String,
    /// What would be remembered; empty where nothing can be.
    pub(crate) prefixes: Vec<Vec<String>>,
}

/// A command that wants to run.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) command: String,
    pub(crate) shell: ShellKind,
    /// The directory that it would run in.
    pub(crate) cwd: String,
    /// Whose rules and ignore file hold.
    pub(crate) workspace: PathBuf,
    pub(crate) role: Role,
    /// Whether questions are to be left out.
    pub(crate) skip: bool,
    /// Variables for this command alone that decide what its words run.
    pub(crate) obeyed: Vec<String>,
}

/// What was decided, and by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) gate: Gate,
    /// The rule that decided, for the audit.
    pub(crate) by: String,
}

impl Judged {
    fn shut(by: &str, why: String) -> Judged {
        Judged {
            gate: Gate::Shut(why),
            by: by.to_owned(),
        }
    }
}

/// Judges the commands of one session.
#[derive(Default)]
pub(crate) struct SessionGate {
    files: ProjectFiles,
    pub(crate) memory: SessionMemory,
    /// What an agent has chosen for the session that decides what words run:
    /// variables, or the shell.
    chosen: Vec<String>,
}

impl SessionGate {
    pub(crate) fn new(chosen: Vec<String>) -> SessionGate {
        SessionGate {
            chosen,
            ..SessionGate::default()
        }
    }

    /// Reads a few small files, and takes up to a tenth of a second for a line
    /// that was made to be hard to read.
    pub(crate) fn judge(
        &self,
        asked: &Asked,
        settings: &Gatekeeping,
        always: &Remembered,
    ) -> Judged {
        let command = Command::parse(&asked.command, asked.shell);
        match self.files.ignored(&asked.workspace) {
            Ok(Some(ignored)) => {
                if let Some(found) = ignored.named_by(&command, &asked.cwd) {
                    let why = format!(
                        "`{}` names '{}', which is ignored here (pattern '{}')",
                        found.word, found.path, found.pattern
                    );
                    return Judged::shut("ignore file", why);
                }
            }
            Ok(None) => {}
            Err(why) => return Judged::shut("ignore file", why),
        }
        let rules = match self.rules(&asked.workspace, settings, always) {
            Ok(rules) => rules,
            Err(why) => return Judged::shut("project rules", why),
        };
        let decision = match settings.scrutiny(asked.role) {
            Scrutiny::Off => return unchecked(),
            Scrutiny::Known => decide_known(&command, &rules),
            Scrutiny::Full => {
                let mut decision = decide(&command, &rules);
                self.shake(asked, &mut decision);
                decision
            }
        };
        self.gate_of(asked, decision)
    }

    /// Nothing can be told about words whose meaning the one who asks has
    /// chosen.
    fn shake(&self, asked: &Asked, decision: &mut Decision) {
        let chosen: &[String] = match self.memory.trusts_session() {
            true => &[],
            false => &self.chosen,
        };
        let mut names: Vec<&str> = asked.obeyed.iter().map(String::as_str).collect();
        names.extend(chosen.iter().map(String::as_str));
        if names.is_empty() || decision.verdict == Verdict::Deny {
            return;
        }
        if decision.verdict == Verdict::Allow {
            decision.reasons.clear();
        }
        decision.verdict = Verdict::Ask;
        names.truncate(REASONS_TOLD_MAX);
        decision.reasons.insert(
            0,
            Reason {
                verdict: Verdict::Ask,
                part: names.join(", "),
                rule: None,
                why: "what its words run was chosen by the one who asks".to_owned(),
            },
        );
    }

    /// The rules of every layer.
    fn rules(
        &self,
        workspace: &Path,
        settings: &Gatekeeping,
        always: &Remembered,
    ) -> Result<RuleSet, String> {
        let mut rules = settings.rules.clone();
        if let Some(project) = self.files.rules(workspace)? {
            rules = rules.with(Layer::Project, (*project).clone());
        }
        for remembered in [always.rules(), self.memory.rules()] {
            rules = rules.with_rules(Layer::Remembered, remembered);
        }
        Ok(rules)
    }

    fn gate_of(&self, asked: &Asked, decision: Decision) -> Judged {
        let first = decision.reasons.first();
        let by = first.and_then(|reason| reason.rule.clone());
        let by = by.unwrap_or_else(|| {
            let words = match decision.verdict {
                Verdict::Allow => "nothing is known against it",
                Verdict::Ask | Verdict::Deny => "no rule allows it",
            };
            words.to_owned()
        });
        let gate = match decision.verdict {
            Verdict::Allow => Gate::Open,
            Verdict::Ask if asked.skip => {
                let by = "approval left out".to_owned();
                let gate = Gate::Open;
                return Judged { gate, by };
            }
            Verdict::Ask if asked.obeyed.is_empty() && self.memory.knows(&asked.command) => {
                let by = "remembered for this session".to_owned();
                let gate = Gate::Open;
                return Judged { gate, by };
            }
            Verdict::Ask => Gate::Ask(Question {
                reason: told(&decision, Verdict::Ask),
                prefixes: decision.would_allow,
            }),
            Verdict::Deny => Gate::Shut(told(&decision, Verdict::Deny)),
        };
        Judged { gate, by }
    }
}

fn unchecked() -> Judged {
    Judged {
        gate: Gate::Open,
        by: "unchecked".to_owned(),
    }
}

/// The reasons of this strictness, one in a line.
fn told(decision: &Decision, verdict: Verdict) -> String {
    let reasons = decision.reasons.iter();
    let reasons: Vec<&Reason> = reasons.filter(|reason| reason.verdict == verdict).collect();
    let mut lines: Vec<String> = reasons
        .iter()
        .take(REASONS_TOLD_MAX)
        .map(|reason| in_words(reason))
        .collect();
    let more = reasons.len().saturating_sub(REASONS_TOLD_MAX);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines.join("\n")
}

fn in_words(reason: &Reason) -> String {
    let mut text = String::new();
    if !reason.part.is_empty() {
        text = format!("`{}`: ", reason.part);
    }
    text += &reason.why;
    if let Some(rule) = &reason.rule {
        text += &format!(" ({rule})");
    }
    text
}
