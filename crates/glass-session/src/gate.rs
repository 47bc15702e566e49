//! Whether a command may run, as far as its text says: the ignore file, the
//! rules, and what people have answered before. It widens nothing: the sandbox
//! is decided about elsewhere, and is the wall.

mod check;
mod elsewhere;
mod files;
mod mapping;
mod remembered;

use crate::hosts::Elsewhere;
use files::ProjectFiles;
use glass_model::{
    Approval, ApprovalId, Decision, Execution, Reason, Role, SandboxPolicy, Session, ShellKind,
    Verdict,
};
use glass_policy::limits::LINE_BYTES_MAX;
use glass_policy::{Command, Ignored, Layer, RuleSet, decide, decide_known};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use check::{CheckSpec, Checked, Checking, check};
use mapping::MappingCache;
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
    /// Whether it is about what an agent has chosen for the session.
    pub(crate) about_session: bool,
}

impl Question {
    /// The question as a person gets it, about a command of this session.
    pub(crate) fn approval(
        self,
        session: &Session,
        execution: &Execution,
        asked_ms: i64,
        wait_ms: u32,
    ) -> Approval {
        let cwd = match execution.requested_cwd.is_empty() {
            true => &session.cwd,
            false => &execution.requested_cwd,
        };
        Approval {
            id: ApprovalId(execution.shell_id),
            session: session.id.clone(),
            task: execution.task(session).to_owned(),
            command: execution.command.clone(),
            cwd: cwd.clone(),
            sandbox: execution.sandbox.clone(),
            asked_by: execution.asked_by,
            reason: self.reason,
            about_session: self.about_session,
            prefixes: self.prefixes,
            asked_ms,
            deadline_ms: Some(asked_ms.saturating_add(i64::from(wait_ms))),
        }
    }
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
    /// Whose answers hold for it: the task of the one who asks.
    pub(crate) task: String,
    /// The rights that it would have.
    pub(crate) sandbox: SandboxPolicy,
    /// Whether questions are to be left out.
    pub(crate) skip: bool,
    /// Variables for this command alone that decide what its words run.
    pub(crate) obeyed: Vec<String>,
}

impl Asked {
    /// What an execution of this session wants.
    pub(crate) fn of(session: &Session, execution: &Execution, skip: bool) -> Asked {
        let cwd = match execution.requested_cwd.is_empty() {
            true => &session.cwd,
            false => &execution.requested_cwd,
        };
        // What our own adapters set says nothing about the one who asks.
        let given = execution.env.iter();
        let given = given.filter(|(name, value)| !glass_adapt::sets(name, value));
        let names = given.map(|(name, _)| name);
        let obeyed = names.filter(|name| glass_sandbox::is_obeyed(name.as_bytes()));
        Asked {
            command: execution.command.clone(),
            shell: session.shell.kind,
            cwd: cwd.clone(),
            workspace: PathBuf::from(&session.workspace_root),
            role: execution.asked_by,
            task: execution.task(session).to_owned(),
            sandbox: execution.sandbox.clone(),
            skip,
            obeyed: obeyed.cloned().collect(),
        }
    }
}

/// What was decided, and by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) gate: Gate,
    /// The rule that decided, for the audit.
    pub(crate) by: String,
}

/// What everything that is written down says of a command, before it is a gate.
struct Weighed {
    decision: Decision,
    /// What decided; absent where the first reason's rule did.
    by: Option<String>,
    /// Whether a question would be about what an agent has chosen for the
    /// session.
    about_session: bool,
}

impl Weighed {
    fn denied(by: &str, why: String) -> Weighed {
        let reason = Reason {
            verdict: Verdict::Deny,
            part: String::new(),
            rule: None,
            why,
        };
        Weighed {
            decision: Decision {
                verdict: Verdict::Deny,
                reasons: vec![reason],
                would_allow: Vec::new(),
            },
            by: Some(by.to_owned()),
            about_session: false,
        }
    }

    /// It runs whatever else was found.
    fn allowed(by: &str) -> Weighed {
        Weighed {
            decision: Decision {
                verdict: Verdict::Allow,
                reasons: Vec::new(),
                would_allow: Vec::new(),
            },
            by: Some(by.to_owned()),
            about_session: false,
        }
    }

    /// What decided.
    fn by(&self) -> String {
        if let Some(by) = &self.by {
            return by.clone();
        }
        let first = self.decision.reasons.first();
        first
            .and_then(|reason| reason.rule.clone())
            .unwrap_or_else(|| {
                let words = match self.decision.verdict {
                    Verdict::Allow => "nothing is known against it",
                    Verdict::Ask | Verdict::Deny => "no rule allows it",
                };
                words.to_owned()
            })
    }
}

/// Judges the commands of one session.
#[derive(Default)]
pub(crate) struct SessionGate {
    files: ProjectFiles,
    mapped: MappingCache,
    pub(crate) memory: SessionMemory,
    /// What an agent has chosen for the session that decides what words run:
    /// variables, or the shell.
    chosen: Vec<String>,
    /// The host that its commands run on, where that is another one.
    elsewhere: Option<Elsewhere>,
}

impl SessionGate {
    pub(crate) fn new(chosen: Vec<String>) -> SessionGate {
        SessionGate {
            chosen,
            ..SessionGate::default()
        }
    }

    /// The same for a session on another host.
    pub(crate) fn at(mut self, elsewhere: Option<Elsewhere>) -> SessionGate {
        self.elsewhere = elsewhere;
        self
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
        let weighed = self.weigh(&command, asked, settings, always);
        let by = weighed.by();
        let decision = weighed.decision;
        let gate = match decision.verdict {
            Verdict::Allow => Gate::Open,
            Verdict::Ask => Gate::Ask(Question {
                reason: told(&decision, Verdict::Ask),
                prefixes: decision.would_allow,
                about_session: weighed.about_session,
            }),
            Verdict::Deny => Gate::Shut(told(&decision, Verdict::Deny)),
        };
        Judged { gate, by }
    }

    /// The ignore lists, the rules of every layer, and what people have answered.
    fn weigh(
        &self,
        command: &Command,
        asked: &Asked,
        settings: &Gatekeeping,
        always: &Remembered,
    ) -> Weighed {
        let host = match elsewhere::asked_about(self.elsewhere.as_ref(), asked.role) {
            Ok(host) => host,
            Err(why) => return Weighed::denied("hosts", why),
        };
        if let Some(why) = self.ignores(command, asked) {
            return Weighed::denied("ignore file", why);
        }
        let rules = match self.rules(asked, settings, always) {
            Ok(rules) => rules,
            Err(why) => return Weighed::denied("project rules", why),
        };
        let (mut decision, about_session) = match settings.scrutiny(asked.role) {
            Scrutiny::Off if host.is_none() => return Weighed::allowed("unchecked"),
            Scrutiny::Off => (Weighed::allowed("unchecked").decision, false),
            Scrutiny::Known => {
                let mut decision = decide_known(command, &rules);
                let is_read = asked.command.len() <= LINE_BYTES_MAX;
                if asked.role == Role::Agent && !(is_read && command.is_seen_whole()) {
                    unread(&mut decision);
                }
                (decision, false)
            }
            Scrutiny::Full => {
                let mut decision = decide(command, &rules);
                let about_session = self.shake(asked, &mut decision);
                (decision, about_session)
            }
        };
        if let Some(host) = host {
            elsewhere::without_walls(host, &mut decision);
        }
        match decision.verdict {
            Verdict::Ask if asked.skip => Weighed::allowed("approval left out"),
            Verdict::Ask if !about_session && self.knows(asked) => {
                Weighed::allowed("remembered for this session")
            }
            _ => Weighed {
                decision,
                by: None,
                about_session,
            },
        }
    }

    /// Why a command must not run because of a path that it names, if so.
    fn ignores(&self, command: &Command, asked: &Asked) -> Option<String> {
        let lists = match self.ignore_lists(asked) {
            Ok(lists) => lists,
            Err(why) => return Some(why),
        };
        let real = (!lists.is_empty()).then(|| std::fs::canonicalize(&asked.cwd));
        let real = real.and_then(Result::ok);
        // A directory that was reached through a link is the one that it is.
        let real = real.as_deref().and_then(Path::to_str);
        let places = [Some(asked.cwd.as_str()), real];
        for (ignored, place) in lists
            .iter()
            .flat_map(|ignored| places.iter().flatten().map(move |place| (ignored, place)))
        {
            if let Some(found) = ignored.named_by(command, place) {
                return Some(format!(
                    "`{}` names '{}', which is ignored here (pattern '{}')",
                    found.word, found.path, found.pattern
                ));
            }
        }
        None
    }

    /// The lists that hold: those of the folders, and that of the command's own
    /// rights.
    fn ignore_lists(&self, asked: &Asked) -> Result<Vec<Arc<Ignored>>, String> {
        let mut lists = self.mapped.lists(&asked.sandbox, &asked.workspace)?;
        for folder in folders(asked) {
            lists.extend(self.files.ignored(folder)?);
        }
        Ok(lists)
    }

    /// The same, for a command that was let pass when its session was
    /// elsewhere.
    pub(crate) fn ignores_now(&self, asked: &Asked) -> Option<String> {
        self.ignores(&Command::parse(&asked.command, asked.shell), asked)
    }

    /// Whether a person has allowed exactly this, with these rights.
    pub(crate) fn knows(&self, asked: &Asked) -> bool {
        asked.obeyed.is_empty()
            && self
                .memory
                .knows(&asked.task, &asked.command, &asked.sandbox)
    }

    /// Nothing can be told about words whose meaning the one who asks has
    /// chosen. Says whether that is so for the whole session.
    fn shake(&self, asked: &Asked, decision: &mut Decision) -> bool {
        let chosen: &[String] = match self.memory.trusts_session(&asked.task) {
            true => &[],
            false => &self.chosen,
        };
        let names: Vec<&str> = asked
            .obeyed
            .iter()
            .chain(chosen)
            .map(String::as_str)
            .collect();
        if names.is_empty() || decision.verdict == Verdict::Deny {
            return false;
        }
        if decision.verdict == Verdict::Allow {
            decision.reasons.clear();
        }
        decision.verdict = Verdict::Ask;
        let reason = Reason {
            verdict: Verdict::Ask,
            part: names.join("`, `"),
            rule: None,
            why: "what its words run was chosen by the one who asks".to_owned(),
        };
        decision.reasons.insert(0, reason);
        !chosen.is_empty()
    }

    /// The rules of every layer.
    fn rules(
        &self,
        asked: &Asked,
        settings: &Gatekeeping,
        always: &Remembered,
    ) -> Result<RuleSet, String> {
        let mut rules = settings.rules.clone();
        for folder in folders(asked) {
            if let Some(project) = self.files.rules(folder)? {
                rules = rules.with(Layer::Project, (*project).clone());
            }
        }
        let session = self.memory.rules(&asked.task, &asked.sandbox);
        for remembered in [always.rules(), session] {
            rules = rules.with_rules(Layer::Remembered, remembered);
        }
        Ok(rules)
    }
}

/// The folders whose rules and ignore file hold. An agent that chooses its
/// workspace does not choose those: the folders above count, too.
fn folders(asked: &Asked) -> impl Iterator<Item = &Path> {
    let most = match asked.role {
        Role::Agent => usize::MAX,
        Role::Person => 1,
    };
    asked.workspace.ancestors().take(most)
}

/// What was not looked at may be anything.
fn unread(decision: &mut Decision) {
    decision.verdict = decision.verdict.max(Verdict::Ask);
    decision.reasons.push(Reason {
        verdict: Verdict::Ask,
        part: String::new(),
        rule: None,
        why: "it is too long or too deep to be read whole".to_owned(),
    });
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
