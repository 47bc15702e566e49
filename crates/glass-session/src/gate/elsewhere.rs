//! What holds for agents' commands on other hosts beside the rules.

use crate::hosts::{AgentUse, Elsewhere};
use glass_model::{Decision, Reason, Role, Verdict};

/// The host, where a person is to be asked about everything that runs there; an error
/// where nothing may.
pub(super) fn asked_about(
    host: Option<&Elsewhere>,
    role: Role,
) -> Result<Option<&Elsewhere>, String> {
    match host.filter(|_| role == Role::Agent) {
        Some(host) if host.agents == AgentUse::Deny => {
            Err(format!("agents may not use the host '{}'", host.name))
        }
        host => Ok(host.filter(|host| host.agents == AgentUse::Ask)),
    }
}

/// No walls of ours stand on another host, so whatever an agent runs there is a
/// person's to allow, and no rule for commands here stands in for that.
pub(super) fn without_walls(host: &Elsewhere, decision: &mut Decision) {
    decision.would_allow.clear();
    if decision.verdict == Verdict::Allow {
        decision.reasons.clear();
    }
    decision.verdict = decision.verdict.max(Verdict::Ask);
    decision.reasons.push(Reason {
        verdict: Verdict::Ask,
        part: String::new(),
        rule: None,
        why: format!("it runs on '{}', where no walls are in force", host.name),
    });
}
