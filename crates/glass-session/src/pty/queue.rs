//! Commands that are to run in a terminal: accepted, judged, asked about, waiting
//! for the prompt, cancelled. They run one after the other, in their order.

use super::Task;
use super::close::NO_OUTPUT;
use crate::actor::{Accepted, Finished, Refusal};
use crate::context::now_ms;
use crate::gate::{CannotRemember, Gate, Judged, Question, SessionGate};
use glass_model::{
    AbortReason, Answer, Approval, ApprovalId, AuditEntry, AuditKind, EventBody, Execution,
    Outcome, Phase, ShellId, Verdict,
};
use glass_store::{Change, WriteError};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// A command that waits for its turn, or for somebody's word.
pub(super) struct Waiting {
    pub(super) execution: Execution,
    pub(super) since: Instant,
}

/// All that wait, and all who wait for them.
#[derive(Default)]
pub(super) struct Queue {
    pub(super) waiting: VecDeque<Waiting>,
    /// What let each pass, for the audit.
    pub(super) passed: HashMap<ShellId, String>,
    /// What waits for a person, with the end of that, oldest first.
    pub(super) approvals: Vec<(Approval, Instant)>,
    pub(super) watchers: HashMap<ShellId, Vec<oneshot::Sender<Finished>>>,
    pub(super) cancels: Vec<(ShellId, oneshot::Sender<bool>)>,
    /// The command that is to be stopped as soon as the shell that has it begins.
    pub(super) doomed: Option<ShellId>,
    pub(super) gate: Arc<SessionGate>,
}

impl Queue {
    /// Gives a command its place at the head again.
    pub(super) fn put_back(&mut self, execution: Execution) {
        let since = Instant::now();
        self.waiting.push_front(Waiting { execution, since });
    }

    fn find(&mut self, id: ShellId) -> Option<&mut Execution> {
        let mut all = self.waiting.iter_mut();
        let found = all.find(|waiting| waiting.execution.shell_id == id);
        found.map(|waiting| &mut waiting.execution)
    }

    fn remove(&mut self, id: ShellId) -> Option<Execution> {
        let is_it = |waiting: &Waiting| waiting.execution.shell_id == id;
        let at = self.waiting.iter().position(is_it)?;
        self.waiting.remove(at).map(|waiting| waiting.execution)
    }

    /// When the first question is no longer worth an answer.
    pub(super) fn due(&self) -> Option<Instant> {
        self.approvals.iter().map(|(_, deadline)| *deadline).min()
    }
}

/// An accepted command on its way in.
pub(super) struct Submission {
    pub(super) execution: Execution,
    pub(super) adapted: Option<String>,
    pub(super) judged: Option<Judged>,
    pub(super) reply: oneshot::Sender<Result<Accepted, Refusal>>,
    pub(super) done: Option<oneshot::Sender<Finished>>,
}

impl Task {
    /// Takes a command into the journal.
    pub(super) fn accept(&mut self, submission: Submission) {
        let Submission {
            mut execution,
            adapted,
            judged,
            reply,
            done,
        } = submission;
        let most = self.context.settings.limits.queue_max as usize;
        if !self.backlog.is_empty() {
            return drop(reply.send(Err(Refusal::Write(WriteError::DiskFull))));
        }
        if self.queue.waiting.len() >= most {
            return drop(reply.send(Err(Refusal::QueueFull)));
        }
        let id = self.context.store.next_shell_id();
        execution.shell_id = id;
        execution.held = !matches!(&judged, Some(judged) if judged.gate == Gate::Open);
        let insert = Change::InsertExecution(execution.clone());
        if let Err(error) = self.context.store.commit(&[insert]) {
            return drop(reply.send(Err(Refusal::Write(error))));
        }
        let from = self.next;
        let since = Instant::now();
        let held = execution.held;
        self.queue.waiting.push_back(Waiting { execution, since });
        self.queue.watchers.entry(id).or_default().extend(done);
        if let Some(detail) = adapted {
            self.remark_on(id, "adapted", &detail);
        }
        drop(reply.send(Ok(Accepted { shell_id: id, from })));
        match judged {
            Some(judged) if held => self.judge(id, judged),
            Some(judged) => drop(self.queue.passed.insert(id, judged.by)),
            None => {}
        }
        self.show();
    }

    /// Does with a held command what its gate says.
    pub(super) fn judge(&mut self, id: ShellId, judged: Judged) {
        let Some(execution) = self.queue.find(id).filter(|run| run.held).cloned() else {
            // It was cancelled meanwhile.
            return;
        };
        let Judged { gate, by } = judged;
        match gate {
            Gate::Open => self.release(id, by, None),
            Gate::Shut(why) => {
                let what = AuditKind::Decided {
                    verdict: Verdict::Deny,
                    by,
                    reason: why.clone(),
                };
                let denied = self.audit_with_text(&execution, what, String::new());
                self.write(vec![denied], Vec::new());
                self.reject(id, why);
            }
            Gate::Ask(question) => self.ask(&execution, question, by),
        }
    }

    fn ask(&mut self, execution: &Execution, question: Question, by: String) {
        let wait_ms = self.context.settings.gatekeeping.answer_ms_max;
        let id = execution.shell_id;
        let approval = question.approval(&self.session, execution, now_ms(), wait_ms);
        let pending = self.event_of(
            Some(id),
            EventBody::ApprovalPending {
                approval_id: approval.id,
                command: approval.command.clone(),
                reason: approval.reason.clone(),
            },
        );
        let asked = self.audit_with_text(execution, AuditKind::asked(&approval), by);
        let changes = vec![self.recorded(&pending), asked];
        self.write(changes, vec![pending]);
        let deadline = Instant::now() + Duration::from_millis(u64::from(wait_ms));
        self.queue.approvals.push((approval, deadline));
        self.show();
    }

    /// Takes a person's word. Says whether there was a question.
    pub(super) fn answered(
        &mut self,
        id: ShellId,
        answer: &Answer,
    ) -> Result<bool, CannotRemember> {
        let mut asked = self.queue.approvals.iter();
        let asked = asked.find(|(approval, _)| approval.id.0 == id);
        let Some(approval) = asked.map(|(approval, _)| approval.clone()) else {
            return Ok(false);
        };
        let reason = match answer.reason.trim() {
            "" => String::new(),
            reason => format!(": {reason}"),
        };
        if !answer.approve {
            self.refuse(id, answer, "person", format!("a person refused it{reason}"));
            return Ok(true);
        }
        // First what can fail, so that nothing runs that was not wanted so.
        let memory = &self.queue.gate.memory;
        memory.take_answer(&approval, answer.scope, &self.context.remembered)?;
        // It runs where the person has seen that it would.
        if let Some(execution) = self.queue.find(id) {
            execution.requested_cwd.clone_from(&approval.cwd);
        }
        let told = (format!("a person allowed it{reason}"), answer, approval.cwd);
        self.release(id, "a person".to_owned(), Some(told));
        Ok(true)
    }

    fn release(&mut self, id: ShellId, by: String, told: Option<(String, &Answer, String)>) {
        let Some(execution) = self.queue.find(id) else {
            return;
        };
        execution.held = false;
        let execution = execution.clone();
        self.queue
            .approvals
            .retain(|(approval, _)| approval.id.0 != id);
        self.queue.passed.insert(id, by);
        let release = |cwd| Change::ReleaseExecution { shell_id: id, cwd };
        match told {
            Some((detail, answer, cwd)) => {
                let answered = self.audit_answered(&execution, answer, "person");
                self.write(vec![release(Some(cwd)), answered], Vec::new());
                self.remark_on(id, "approved", &detail);
            }
            None => self.write(vec![release(None)], Vec::new()),
        }
        self.show();
    }

    fn refuse(&mut self, id: ShellId, answer: &Answer, by: &str, why: String) {
        self.queue
            .approvals
            .retain(|(approval, _)| approval.id.0 != id);
        if let Some(execution) = self.queue.find(id).cloned() {
            let answered = self.audit_answered(&execution, answer, by);
            self.write(vec![answered], Vec::new());
        }
        self.reject(id, why);
    }

    fn reject(&mut self, id: ShellId, why: String) {
        if let Some(execution) = self.queue.remove(id) {
            let outcome = Outcome {
                rejected: Some(why),
                ..Outcome::default()
            };
            self.finish(execution, NO_OUTPUT, outcome);
        }
    }

    /// An execution is over; if somebody was asked about it, they no longer are.
    pub(super) fn withdraw(&mut self, execution: &Execution) -> Option<Change> {
        let asked = self.queue.approvals.len();
        let id = execution.shell_id;
        self.queue
            .approvals
            .retain(|(approval, _)| approval.id.0 != id);
        (self.queue.approvals.len() < asked)
            .then(|| self.audit_answered(execution, &Answer::default(), "cancelled"))
    }

    /// Nobody's word is a refusal.
    pub(super) fn end_unanswered(&mut self, now: Instant) {
        let over = self
            .queue
            .approvals
            .iter()
            .filter(|(_, deadline)| *deadline <= now);
        let over: Vec<ShellId> = over.map(|(approval, _)| approval.id.0).collect();
        let seconds = self.context.settings.gatekeeping.answer_ms_max / 1000;
        for id in over {
            let why = format!("nobody allowed it within {seconds} seconds");
            self.refuse(id, &Answer::default(), "deadline", why);
        }
    }

    /// Stops one execution, or what runs in front. Answers when it is over.
    pub(super) fn cancel(&mut self, which: Option<ShellId>, reply: oneshot::Sender<bool>) {
        let aborted = Outcome {
            abort: Some(AbortReason::User),
            ..Outcome::default()
        };
        let offered = self.offer.as_ref().map(super::handover::Offer::id);
        let front = self.front.as_ref().map(|front| front.execution.shell_id);
        let plain = self.plain.as_ref().map(super::plain::Plain::id);
        let Some(id) = which.or(front).or(plain).or(offered) else {
            // A program that the shell says nothing of, perhaps.
            let _ = reply.send(self.interrupt());
            return;
        };
        if id == self.execution.shell_id {
            let _ = reply.send(self.interrupt());
            return;
        }
        if let Some(execution) = self.queue.remove(id).or_else(|| self.withdraw_offer(id)) {
            self.queue.cancels.push((id, reply));
            return self.finish(execution, NO_OUTPUT, aborted);
        }
        if front == Some(id) {
            self.queue.cancels.push((id, reply));
            self.stop_front(AbortReason::User);
        } else if plain == Some(id) {
            self.queue.cancels.push((id, reply));
            self.stop_plain(AbortReason::User);
        } else if offered == Some(id) {
            // The shell has just taken it, and will begin it.
            self.queue.cancels.push((id, reply));
            self.queue.doomed = Some(id);
        } else {
            // It is over.
            let _ = reply.send(false);
        }
    }

    /// Tells when an execution is over; at once if it is.
    pub(super) fn watch(&mut self, id: ShellId, done: oneshot::Sender<Finished>) {
        if id == self.execution.shell_id {
            return self.watchers.push(done);
        }
        let known = self.context.store.execution(id);
        match known {
            Ok(Some(execution)) if execution.phase == Phase::Ended => {
                let finished = Finished {
                    cwd: self.session.cwd.clone(),
                    execution: Ok(Arc::new(execution)),
                    output: None,
                };
                drop(done.send(finished));
            }
            Ok(Some(_)) => self.queue.watchers.entry(id).or_default().push(done),
            // Whoever asks is told that nobody knows.
            Ok(None) | Err(_) => drop(done),
        }
    }

    /// Ends everything that has not ended: the shell is gone.
    pub(super) fn finish_all(&mut self, outcome: &Outcome) {
        if let Some(front) = self.front.take() {
            self.finish_front(front, outcome.clone());
        }
        self.lose_plain(outcome);
        let offered = self
            .offer
            .take()
            .map(super::handover::Offer::into_execution);
        if let Some(execution) = offered {
            self.finish(execution, NO_OUTPUT, Outcome::default());
        }
        while let Some(waiting) = self.queue.waiting.pop_front() {
            let aborted = Outcome {
                abort: Some(AbortReason::User),
                ..Outcome::default()
            };
            self.finish(waiting.execution, NO_OUTPUT, aborted);
        }
    }

    fn audit_with_text(&self, execution: &Execution, what: AuditKind, detail: String) -> Change {
        Change::Audit(AuditEntry {
            command: execution.command.clone(),
            detail,
            ..self.audit_entry(execution, now_ms(), what)
        })
    }

    fn audit_answered(&self, execution: &Execution, answer: &Answer, by: &str) -> Change {
        self.context.figures.answered(answer.approve, by);
        let what = AuditKind::answered(ApprovalId(execution.shell_id), answer, by);
        Change::Audit(self.audit_entry(execution, now_ms(), what))
    }
}
