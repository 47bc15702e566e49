//! Puts the answers of several hooks together. Pure.

use crate::answer::{Answer, Permission};
use crate::hook::{FailureMode, Hook};
use crate::run::Failed;
use crate::text::name;

/// What all hooks together say about a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// The strictest answer.
    pub permission: Permission,
    /// The words for people of those who gave it, a line or more for each.
    pub user_message: String,
    /// Their words for the agent.
    pub agent_message: String,
    /// Which hooks failed, how, and what that meant.
    pub failures: Vec<String>,
}

impl Verdicts {
    /// Takes the answer of the next hook. Words of laxer answers are dropped:
    /// nobody needs to know why a command that was refused was nearly allowed.
    pub(crate) fn add(&mut self, answer: Answer) {
        if answer.permission > self.permission {
            self.permission = answer.permission;
            self.user_message.clear();
            self.agent_message.clear();
        }
        if answer.permission == self.permission {
            join(&mut self.user_message, &answer.user_message);
            join(&mut self.agent_message, &answer.agent_message);
        }
    }

    /// Takes the failure of the next hook.
    pub(crate) fn add_failure(&mut self, hook: &Hook, failed: &Failed) {
        let what = format!("The hook {} failed: {}", name(&hook.command), failed.why);
        match hook.failure {
            FailureMode::Open => {
                let report = format!("{what}. It counts as absent.{}", failed.complaint());
                self.failures.push(report);
            }
            FailureMode::Closed => {
                let what = format!("{what}. So the command was refused.");
                let report = format!("{what}{}", failed.complaint());
                self.failures.push(report.clone());
                self.add(Answer {
                    permission: Permission::Deny,
                    user_message: report,
                    agent_message: what,
                });
            }
        }
    }
}

/// The report of a failed hook that was told.
pub(crate) fn report(hook: &Hook, failed: &Failed) -> String {
    let name = name(&hook.command);
    format!(
        "The hook {name} failed: {}.{}",
        failed.why,
        failed.complaint()
    )
}

fn join(all: &mut String, next: &str) {
    if !all.is_empty() && !next.is_empty() {
        all.push('\n');
    }
    all.push_str(next);
}
