//! Commands that wait for a person. Their clock stands still meanwhile, and
//! those behind them wait too: commands of a session run in their order.

use super::{Actor, Aftermath};
use crate::context::now_ms;
use crate::gate::{Asked, CannotRemember, Gate, Judged, Question};
use crate::state::{Held, Input};
use glass_model::{Answer, EventBody, ShellId};
use glass_store::Change;
use std::time::{Duration, Instant};

impl Actor {
    /// Notes in what is about to be journaled whether it is held.
    pub(super) fn hold(&mut self, id: ShellId, held: Held) {
        if let Some(execution) = self.accepted.get_mut(&id) {
            execution.held = held == Held::Yes;
        }
    }

    /// Why a command must not run where the session has gone since it was let
    /// pass, if so.
    pub(super) fn is_ignored_now(&self, id: ShellId) -> Option<String> {
        let execution = self.accepted.get(&id)?;
        if !execution.requested_cwd.is_empty() || execution.cwd == self.session.cwd {
            return None;
        }
        let asked = Asked::of(&self.session, execution, false);
        self.gate.ignores_now(&asked)
    }

    /// Does with a held command what its gate says.
    pub(super) async fn judge(&mut self, id: ShellId, judged: Judged) {
        if !self.accepted.get(&id).is_some_and(|run| run.held) {
            // It was cancelled meanwhile.
            return;
        }
        let Judged { gate, by } = judged;
        match gate {
            Gate::Open => self.release_held(id, by, None).await,
            Gate::Shut(why) => {
                let denied = self.audit_denied(id, by, &why);
                self.write(vec![denied], Aftermath::default());
                self.take(Input::Reject(id, why)).await;
            }
            Gate::Ask(question) => self.ask(id, question, by),
        }
    }

    fn ask(&mut self, id: ShellId, question: Question, by: String) {
        let Some(execution) = self.accepted.get(&id) else {
            return;
        };
        let wait_ms = self.context.settings.gatekeeping.answer_ms_max;
        let approval = question.approval(&self.session, execution, now_ms(), wait_ms);
        let body = EventBody::ApprovalPending {
            approval_id: approval.id,
            command: approval.command.clone(),
            reason: approval.reason.clone(),
        };
        let asked = self.audit_asked(&approval, by);
        let deadline = Instant::now() + Duration::from_millis(u64::from(wait_ms));
        self.approvals.push((approval, deadline));
        self.tell(id, body, vec![asked]);
        self.show();
    }

    /// Takes a person's word. Says whether there was a question.
    pub(super) async fn answered(
        &mut self,
        id: ShellId,
        answer: &Answer,
    ) -> Result<bool, CannotRemember> {
        let mut waiting = self.approvals.iter();
        let asked = waiting.find(|(approval, _)| approval.id.0 == id);
        let Some(approval) = asked.map(|(approval, _)| approval.clone()) else {
            return Ok(false);
        };
        if answer.approve {
            // First what can fail, so that nothing runs that was not wanted so.
            let memory = &self.gate.memory;
            memory.take_answer(&approval, answer.scope, &self.context.remembered)?;
        }
        let reason = match answer.reason.trim() {
            "" => String::new(),
            reason => format!(": {reason}"),
        };
        if answer.approve {
            let detail = format!("a person allowed it{reason}");
            let by = "a person".to_owned();
            // It runs where the person has seen that it would.
            if let Some(execution) = self.accepted.get_mut(&id) {
                execution.requested_cwd.clone_from(&approval.cwd);
            }
            self.release_held(id, by, Some((detail, answer, approval.cwd)))
                .await;
        } else {
            let why = format!("a person refused it{reason}");
            self.refuse(id, answer, "person", why).await;
        }
        Ok(true)
    }

    fn is_asked(&self, id: ShellId) -> bool {
        let mut waiting = self.approvals.iter();
        waiting.any(|(approval, _)| approval.id.0 == id)
    }

    async fn release_held(
        &mut self,
        id: ShellId,
        by: String,
        told: Option<(String, &Answer, String)>,
    ) {
        self.hold(id, Held::No);
        self.approvals.retain(|(approval, _)| approval.id.0 != id);
        self.passed.insert(id, by);
        let release = |cwd| Change::ReleaseExecution { shell_id: id, cwd };
        match told {
            Some((detail, answer, cwd)) => {
                let answered = self.audit_answered(id, answer, "person");
                let status = "approved".to_owned();
                let body = EventBody::Status { status, detail };
                self.tell(id, body, vec![release(Some(cwd)), answered]);
            }
            None => self.write(vec![release(None)], Aftermath::default()),
        }
        self.take(Input::Release(id)).await;
    }

    async fn refuse(&mut self, id: ShellId, answer: &Answer, by: &str, why: String) {
        self.approvals.retain(|(approval, _)| approval.id.0 != id);
        let answered = self.audit_answered(id, answer, by);
        self.write(vec![answered], Aftermath::default());
        self.take(Input::Reject(id, why)).await;
    }

    /// An execution is over; if somebody was asked about it, they no longer are.
    pub(super) fn withdraw(&mut self, id: ShellId) -> Option<Change> {
        if !self.is_asked(id) {
            return None;
        }
        self.approvals.retain(|(approval, _)| approval.id.0 != id);
        Some(self.audit_answered(id, &Answer::default(), "cancelled"))
    }

    /// What a hook did or failed to do.
    pub(super) fn note_of_hook(&mut self, id: ShellId, detail: String) {
        let status = "hook".to_owned();
        self.tell(id, EventBody::Status { status, detail }, Vec::new());
    }

    /// What was added to a command, and why.
    pub(super) fn note_of_adapter(&mut self, id: ShellId, detail: String) {
        let status = "adapted".to_owned();
        self.tell(id, EventBody::Status { status, detail }, Vec::new());
    }

    /// Writes an event of an execution, with what belongs to it.
    fn tell(&mut self, id: ShellId, body: EventBody, mut changes: Vec<Change>) {
        let event = self.event(Some(id), body);
        changes.push(self.recorded(&event));
        let aftermath = Aftermath {
            events: vec![event],
            finished: None,
        };
        self.write(changes, aftermath);
    }

    /// When the first question is no longer worth an answer.
    pub(super) fn approval_deadline(&self) -> Option<Instant> {
        self.approvals.iter().map(|(_, deadline)| *deadline).min()
    }

    /// Nobody's word is a refusal.
    pub(super) async fn end_unanswered(&mut self, now: Instant) {
        let over: Vec<ShellId> = self
            .approvals
            .iter()
            .filter(|(_, deadline)| *deadline <= now)
            .map(|(approval, _)| approval.id.0)
            .collect();
        let seconds = self.context.settings.gatekeeping.answer_ms_max / 1000;
        for id in over {
            let why = format!("nobody allowed it within {seconds} seconds");
            self.refuse(id, &Answer::default(), "deadline", why).await;
        }
    }
}
