//! All hooks of a daemon.

use crate::answer::{Permission, parse_answer};
use crate::hook::Hook;
use crate::limits::RUNNING_MAX;
use crate::payload::{AfterShellExecution, BeforeShellExecution};
use crate::run::{Occasion, Surroundings, Turns};
use crate::verdict::{Verdicts, report};
use std::ffi::OsString;

/// All hooks of a daemon. Clones share the bound on how many run at once.
#[derive(Clone, Debug)]
pub struct Hooks {
    before: Vec<Hook>,
    after: Vec<Hook>,
    surroundings: Surroundings,
}

impl Hooks {
    /// Hooks that are asked before a command and told after it, in this order,
    /// and the whole environment that they get.
    pub fn new(
        before: Vec<Hook>,
        after: Vec<Hook>,
        environment: Vec<(OsString, OsString)>,
    ) -> Hooks {
        let surroundings = Surroundings {
            environment: environment.into(),
            turns: Turns::new(RUNNING_MAX),
        };
        Hooks {
            before,
            after,
            surroundings,
        }
    }

    /// Whether anybody is asked before a command.
    pub fn has_before(&self) -> bool {
        !self.before.is_empty()
    }

    /// Whether anybody is told after a command.
    pub fn has_after(&self) -> bool {
        !self.after.is_empty()
    }

    /// Asks one hook after the other until one refuses. The strictest answer
    /// wins; without any hook that is to allow. When this is dropped, the hook
    /// that runs is ended with all of its processes.
    pub async fn before(&self, asked: &BeforeShellExecution) -> Verdicts {
        let mut verdicts = Verdicts::default();
        if self.before.is_empty() {
            return verdicts;
        }
        let payload = asked.to_json().into();
        for hook in &self.before {
            let ran = self
                .surroundings
                .run(hook, Occasion::Before, asked.place(), &payload)
                .await;
            match ran
                .and_then(|printed| parse_answer(&printed.output).map_err(|e| printed.failed(e)))
            {
                Ok(answer) => verdicts.add(answer),
                Err(failed) => verdicts.add_failure(hook, &failed),
            }
            if verdicts.permission == Permission::Deny {
                break;
            }
        }
        verdicts
    }

    /// Tells one hook after the other, all of them, and gives a report of each
    /// that failed. What they print is ignored.
    pub async fn after(&self, told: &AfterShellExecution) -> Vec<String> {
        let mut failures = Vec::new();
        if self.after.is_empty() {
            return failures;
        }
        let payload = told.to_json().into();
        for hook in &self.after {
            let ran = self
                .surroundings
                .run(hook, Occasion::After, told.place(), &payload)
                .await;
            failures.extend(ran.err().map(|failed| report(hook, &failed)));
        }
        failures
    }
}
