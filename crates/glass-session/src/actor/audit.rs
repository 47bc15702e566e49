//! What a session has to answer for: who asked, what ran, how it ended.
//!
//! Invariant: an entry is written with the change that it tells of, so that
//! there is no command in the journal without one.

use super::Actor;
use glass_model::{
    AbortReason, AuditEntry, AuditKind, Execution, Outcome, Role, SandboxKind, SandboxPolicy,
    ShellId, signal_name,
};
use glass_store::Change;

impl Actor {
    /// An execution is handed to a shell.
    pub(super) fn audit_ran(&self, execution: &Execution) -> Change {
        let what = AuditKind::Ran {
            cwd: execution.cwd.clone(),
            sandbox: in_short(&execution.sandbox),
        };
        Change::Audit(AuditEntry {
            command: execution.command.clone(),
            ..self.audit_entry(execution.shell_id, execution.started_ms, what)
        })
    }

    /// An execution is over.
    pub(super) fn audit_ended(&self, id: ShellId, at_ms: i64, outcome: &Outcome) -> Change {
        let what = AuditKind::Ended {
            code: outcome.code,
            how: how(outcome),
        };
        Change::Audit(AuditEntry {
            detail: outcome.details.sandbox_denials.join("; "),
            ..self.audit_entry(id, at_ms, what)
        })
    }

    /// An entry about an execution of this session, without its text.
    pub(super) fn audit_entry(&self, id: ShellId, at_ms: i64, what: AuditKind) -> AuditEntry {
        let execution = self.accepted.get(&id);
        let role = execution.map_or(self.session.owner, |execution| execution.asked_by);
        AuditEntry {
            at_ms,
            session: self.session.id.as_str().to_owned(),
            shell_id: id.0,
            task: self.session.task.clone(),
            asked_by: asked_by(role, &self.session.task),
            what,
            command: String::new(),
            detail: String::new(),
        }
    }
}

/// Who asked, in the audit's words.
fn asked_by(role: Role, task: &str) -> String {
    match (role, task) {
        (Role::Person, _) => "person".to_owned(),
        (Role::Agent, "") => "agent".to_owned(),
        (Role::Agent, task) => format!("agent:{task}"),
    }
}

/// How it ended, in the audit's words.
fn how(outcome: &Outcome) -> String {
    if let Some(why) = &outcome.rejected {
        return format!("rejected: {why}");
    }
    if let Some(why) = &outcome.spawn_error {
        return format!("did not run: {why}");
    }
    match (outcome.abort, outcome.details.signal, outcome.code) {
        (Some(AbortReason::User), ..) => "cancelled".to_owned(),
        (Some(AbortReason::Timeout), ..) => "timed out".to_owned(),
        (None, Some(signal), _) => format!("signal {}", signal_name(signal)),
        (None, None, Some(_)) => "exited".to_owned(),
        (None, None, None) => "unknown".to_owned(),
    }
}

/// A policy in a few words.
fn in_short(policy: &SandboxPolicy) -> String {
    let mut words = match policy.kind {
        SandboxKind::Unspecified => "unspecified",
        SandboxKind::InsecureNone => return "none".to_owned(),
        SandboxKind::WorkspaceReadWrite => "rw",
        SandboxKind::WorkspaceReadOnly => "ro",
    }
    .to_owned();
    words.push_str(match policy.network_access {
        Some(true) => ", network on",
        Some(false) => ", network off",
        None => "",
    });
    if policy.block_git_writes == Some(true) {
        words.push_str(", git protected");
    }
    if policy.disable_tmp_write == Some(true) {
        words.push_str(", /tmp read-only");
    }
    for (what, paths) in [
        ("rw", &policy.readwrite_paths),
        ("ro", &policy.readonly_paths),
    ] {
        for path in paths {
            words.push_str(&format!(", {what} {path}"));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{asked_by, how, in_short};
    use glass_model::{AbortReason, ExitDetails, Outcome, Role, SandboxKind, SandboxPolicy};

    #[test]
    fn an_agent_is_named_with_its_task() {
        assert_eq!(asked_by(Role::Person, "t"), "person");
        assert_eq!(asked_by(Role::Agent, ""), "agent");
        assert_eq!(asked_by(Role::Agent, "t-1"), "agent:t-1");
    }

    #[test]
    fn an_end_says_why_it_came() {
        let check = |outcome: Outcome, expected: &str| assert_eq!(how(&outcome), expected);
        let ended = Outcome {
            code: Some(3),
            ..Outcome::default()
        };
        check(ended.clone(), "exited");
        check(Outcome::default(), "unknown");
        let signalled = Outcome {
            details: ExitDetails {
                signal: Some(9),
                ..ExitDetails::default()
            },
            ..ended.clone()
        };
        check(signalled.clone(), "signal SIGKILL");
        let cancelled = Outcome {
            abort: Some(AbortReason::User),
            ..signalled
        };
        check(cancelled, "cancelled");
        let late = Outcome {
            abort: Some(AbortReason::Timeout),
            ..ended
        };
        check(late, "timed out");
        let never = Outcome {
            spawn_error: Some("no pipes".to_owned()),
            ..Outcome::default()
        };
        check(never, "did not run: no pipes");
        let rejected = Outcome {
            rejected: Some("no".to_owned()),
            ..Outcome::default()
        };
        check(rejected, "rejected: no");
    }

    #[test]
    fn a_policy_is_told_in_a_few_words() {
        assert_eq!(in_short(&SandboxPolicy::none()), "none");
        let policy = SandboxPolicy {
            kind: SandboxKind::WorkspaceReadWrite,
            network_access: Some(false),
            readwrite_paths: vec!["/a".to_owned()],
            block_git_writes: Some(true),
            ..SandboxPolicy::default()
        };
        assert_eq!(in_short(&policy), "rw, network off, git protected, rw /a");
    }
}
