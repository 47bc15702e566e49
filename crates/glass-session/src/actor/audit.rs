//! What a session has to answer for: who asked, what ran, how it ended.
//!
//! Invariant: an entry is written with the change that it tells of, so that
//! there is no command in the journal without one.

use super::Actor;
use crate::context::now_ms;
use glass_model::{
    AbortReason, Answer, Approval, ApprovalId, AuditEntry, AuditKind, Execution, Outcome, Role,
    SandboxKind, SandboxPolicy, ShellId, Verdict, signal_name,
};
use glass_store::Change;

/// By what a command was allowed that an earlier daemon had let pass.
const BEFORE_RESTART: &str = "before the daemon was restarted";

impl Actor {
    /// An execution is handed to a shell.
    pub(super) fn audit_ran(&self, execution: &Execution) -> Change {
        let what = AuditKind::Ran {
            cwd: execution.cwd.clone(),
            sandbox: in_short(&execution.sandbox),
        };
        let id = execution.shell_id;
        let by = self.passed.get(&id);
        let by = by.map_or(BEFORE_RESTART, String::as_str);
        Change::Audit(AuditEntry {
            command: execution.command.clone(),
            detail: AuditEntry::allowed_by(by),
            ..self.audit_entry(id, execution.started_ms, what)
        })
    }

    /// A command must not run.
    pub(super) fn audit_denied(&self, id: ShellId, by: String, reason: &str) -> Change {
        let what = AuditKind::Decided {
            verdict: Verdict::Deny,
            by,
            reason: reason.to_owned(),
        };
        self.audit_with_text(id, what, String::new())
    }

    /// A person is asked.
    pub(super) fn audit_asked(&self, approval: &Approval, by: String) -> Change {
        self.audit_with_text(approval.id.0, AuditKind::asked(approval), by)
    }

    /// A question has its answer, or needs none any more.
    pub(super) fn audit_answered(&self, id: ShellId, answer: &Answer, by: &str) -> Change {
        self.context.figures.answered(answer.approve, by);
        let what = AuditKind::answered(ApprovalId(id), answer, by);
        Change::Audit(self.audit_entry(id, now_ms(), what))
    }

    fn audit_with_text(&self, id: ShellId, what: AuditKind, detail: String) -> Change {
        let execution = self.accepted.get(&id);
        let command = execution.map(|execution| execution.command.clone());
        Change::Audit(AuditEntry {
            command: command.unwrap_or_default(),
            detail,
            ..self.audit_entry(id, now_ms(), what)
        })
    }

    /// An execution is over.
    pub(super) fn audit_ended(&self, id: ShellId, at_ms: i64, outcome: &Outcome) -> Change {
        let what = AuditKind::Ended {
            code: outcome.code,
            how: how(outcome),
        };
        let mut entry = AuditEntry {
            detail: outcome.details.sandbox_denials.join("; "),
            ..self.audit_entry(id, at_ms, what)
        };
        let execution = self.accepted.get(&id);
        if let Some(execution) = execution.filter(|execution| execution.start.is_none()) {
            // No entry says that it ran, so here is what that would have said.
            entry.command.clone_from(&execution.command);
            if let Some(by) = self.passed.get(&id) {
                entry.detail = AuditEntry::allowed_by(by);
            }
        }
        Change::Audit(entry)
    }

    /// An entry about an execution of this session, without its text.
    pub(super) fn audit_entry(&self, id: ShellId, at_ms: i64, what: AuditKind) -> AuditEntry {
        let execution = self.accepted.get(&id);
        let role = execution.map_or(self.session.owner, |execution| execution.asked_by);
        let task = execution.map_or(self.session.task.as_str(), |it| it.task(&self.session));
        AuditEntry {
            at_ms,
            session: self.session.id.as_str().to_owned(),
            shell_id: id.0,
            task: task.to_owned(),
            asked_by: asked_by(role, task),
            what,
            command: String::new(),
            detail: String::new(),
        }
    }
}

/// Who asked, in the audit's words.
pub(crate) fn asked_by(role: Role, task: &str) -> String {
    match (role, task) {
        (Role::Person, _) => "person".to_owned(),
        (Role::Agent, "") => "agent".to_owned(),
        (Role::Agent, task) => format!("agent:{task}"),
    }
}

/// How it ended, in the audit's words.
pub(crate) fn how(outcome: &Outcome) -> String {
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
pub(crate) fn in_short(policy: &SandboxPolicy) -> String {
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
