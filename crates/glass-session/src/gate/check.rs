//! What would be decided about a command that nobody runs. The same code as the
//! gate's: an answer that another reading gave would be worth nothing.

use super::{Asked, Gatekeeping, Remembered, SessionGate};
use crate::engine::Adapting;
use glass_model::{CommandReading, Decision, Reason, Role, SandboxPolicy, ShellKind, Verdict};
use glass_policy::Command;
use glass_sandbox::Workspace;
use std::path::{Path, PathBuf};

/// A command to be looked at.
#[derive(Clone, Debug)]
pub struct CheckSpec {
    /// Its text.
    pub command: String,
    /// The name or path of the shell whose language it is in; empty is the
    /// session's, or bash.
    pub shell: String,
    /// The directory that it would run in: absolute, or relative to where it
    /// would run otherwise.
    pub cwd: String,
    /// Who would ask for it.
    pub role: Role,
}

/// By what it is judged.
#[derive(Clone, Copy, Debug)]
pub struct Checking<'a> {
    /// The rules.
    pub gatekeeping: &'a Gatekeeping,
    /// What says which directory is a workspace.
    pub sandbox: &'a glass_sandbox::Settings,
    /// Which tools of agents are adapted.
    pub adapting: Option<&'a Adapting>,
}

/// What a command is, and what would be decided about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// What it is, as it was given.
    pub reading: CommandReading,
    /// What would be decided about what would run.
    pub decision: Decision,
}

/// Says what would happen to a command in a session that is made for it in its
/// directory. Reads the files of that directory and what was remembered, and
/// runs nothing.
pub fn check(spec: &CheckSpec, with: Checking<'_>) -> Checked {
    let always = Remembered::open(&with.gatekeeping.remembered);
    SessionGate::default().check(&spec.asked(with.sandbox), with, &always)
}

impl CheckSpec {
    /// The same, as a gate is asked.
    pub(crate) fn asked(&self, sandbox: &glass_sandbox::Settings) -> Asked {
        let found = Workspace::find(None, Path::new(&self.cwd), sandbox);
        let workspace = found.map(|workspace| workspace.path().to_path_buf());
        Asked {
            command: self.command.clone(),
            shell: self.shell_kind().unwrap_or(ShellKind::Bash),
            cwd: self.cwd.clone(),
            // Where no session could be made, the folders above still say what
            // they say.
            workspace: workspace.unwrap_or_else(|_| PathBuf::from(&self.cwd)),
            role: self.role,
            task: String::new(),
            sandbox: SandboxPolicy::default(),
            skip: false,
            obeyed: Vec::new(),
        }
    }

    /// Whose language it is in, where that was said.
    pub(crate) fn shell_kind(&self) -> Option<ShellKind> {
        let name = self.shell.rsplit('/').next().unwrap_or_default();
        (!name.is_empty()).then(|| ShellKind::of_program(name))
    }
}

impl SessionGate {
    /// What this gate would say.
    pub(crate) fn check(&self, asked: &Asked, with: Checking<'_>, always: &Remembered) -> Checked {
        let given = Command::parse(&asked.command, asked.shell);
        let reading = given.reading();
        let Some((runs, remark)) = adapted(asked, with.adapting) else {
            let decision = self.told(&given, asked, with.gatekeeping, always);
            return Checked { reading, decision };
        };
        let asked = Asked {
            command: runs,
            ..asked.clone()
        };
        let runs = Command::parse(&asked.command, asked.shell);
        let mut decision = self.told(&runs, &asked, with.gatekeeping, always);
        decision.reasons.push(remark);
        Checked { reading, decision }
    }

    /// A decision that always says why.
    fn told(
        &self,
        command: &Command,
        asked: &Asked,
        settings: &Gatekeeping,
        always: &Remembered,
    ) -> Decision {
        let weighed = self.weigh(command, asked, settings, always);
        let by = weighed.by();
        let mut decision = weighed.decision;
        if decision.reasons.is_empty() {
            decision.reasons.push(Reason {
                verdict: decision.verdict,
                part: String::new(),
                rule: None,
                why: by,
            });
        }
        decision
    }
}

/// What runs in place of an agent's command, and why.
fn adapted(asked: &Asked, adapting: Option<&Adapting>) -> Option<(String, Reason)> {
    let adapting = adapting.filter(|_| asked.role == Role::Agent)?;
    let adapted = glass_adapt::adapt(&asked.command, asked.shell)?;
    let is_off = adapting.off.iter().any(|tool| tool == adapted.tool);
    if is_off || adapted.command == asked.command {
        return None;
    }
    let remark = Reason {
        verdict: Verdict::Allow,
        part: asked.command.clone(),
        rule: None,
        why: format!("it runs as `{}`: {}", adapted.command, adapted.why),
    };
    Some((adapted.command, remark))
}
