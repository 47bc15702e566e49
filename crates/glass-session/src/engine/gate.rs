//! Before a command runs: its gate, and the persons who open it.

use super::hooks::Unasked;
use super::{Caller, Engine, Handle, may_see};
use crate::actor::{Message, lock};
use crate::errors::{AnswerError, LookupError};
use crate::gate::{Asked, Gate, Judged};
use glass_model::{Answer, Approval, ApprovalId, ApprovalScope, Execution, Role, Session};
use std::path::PathBuf;
use tokio::sync::oneshot;

/// Lines above this are read off the reactor, in bytes.
pub(super) const INLINE_BYTES_MAX: usize = 2 * 1024;

impl Engine {
    /// What a command has to pass.
    pub(super) async fn judge(&self, handle: &Handle, asked: Asked) -> Judged {
        let (context, gate) = (self.0.context.clone(), handle.gate.clone());
        let short = asked.command.len() <= INLINE_BYTES_MAX;
        let judge = move || {
            let settings = &context.settings.gatekeeping;
            gate.judge(&asked, settings, &context.remembered)
        };
        if short {
            return judge();
        }
        let judged = tokio::task::spawn_blocking(judge).await;
        judged.unwrap_or_else(|error| Judged {
            gate: Gate::Shut(format!("it could not be read: {error}")),
            by: "failure".to_owned(),
        })
    }

    /// Asks about a command that the last daemon had not answered for.
    pub(super) fn judge_again(&self, execution: Execution) {
        let engine = self.clone();
        tokio::spawn(async move {
            let Some(handle) = engine.live(&execution.session) else {
                return;
            };
            let session = lock(&handle.live).session.clone();
            let asked = asked(&session, &execution, false);
            let judged = engine.judge(&handle, asked).await;
            let shell_id = execution.shell_id;
            if engine.must_consult(&judged.gate) {
                let unasked = Unasked {
                    requested: Some(execution.sandbox.clone()),
                    execution,
                    judged,
                    skip: false,
                };
                return engine.consult(handle, unasked);
            }
            // A session that is gone has no use for it.
            drop(
                handle
                    .mailbox
                    .send(Message::Judge { shell_id, judged })
                    .await,
            );
        });
    }

    /// What waits for a person, oldest first.
    pub fn approvals(&self, caller: &Caller) -> Vec<Approval> {
        let mut waiting: Vec<Approval> = Vec::new();
        for handle in lock(&self.0.sessions).values() {
            let live = lock(&handle.live);
            if may_see(caller, &live.session).is_ok() {
                waiting.extend(live.approvals.iter().cloned());
            }
        }
        waiting.sort_by_key(|approval| (approval.asked_ms, approval.id));
        waiting
    }

    /// Takes a person's word about a command that waits. When this returns, the
    /// answer is in the journal.
    pub async fn resolve(
        &self,
        caller: &Caller,
        id: &str,
        answer: Answer,
    ) -> Result<(), AnswerError> {
        if caller.role != Role::Person {
            return Err(AnswerError::NotAPerson);
        }
        let unknown = || AnswerError::Unknown {
            given: id.chars().take(64).collect(),
        };
        let id: ApprovalId = id.parse().map_err(|()| unknown())?;
        let found = self.0.context.store.execution(id.0);
        let execution = found.map_err(LookupError::from)?.ok_or_else(unknown)?;
        let not_waiting = || AnswerError::NotWaiting(id);
        let handle = self.live(&execution.session).ok_or_else(not_waiting)?;
        let approval = lock(&handle.live)
            .approvals
            .iter()
            .find(|it| it.id == id)
            .cloned();
        let approval = approval.ok_or_else(not_waiting)?;
        if answer.approve {
            // First what can fail, so that nothing runs that was not wanted so.
            self.remember(&handle, &approval, answer.scope)?;
        }
        let (reply, answered) = oneshot::channel();
        let message = Message::Answer {
            shell_id: id.0,
            answer,
            reply,
        };
        handle
            .mailbox
            .send(message)
            .await
            .map_err(|_| not_waiting())?;
        match answered.await {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(not_waiting()),
        }
    }

    fn remember(
        &self,
        handle: &Handle,
        approval: &Approval,
        scope: ApprovalScope,
    ) -> Result<(), AnswerError> {
        let (command, prefixes) = (&approval.command, &approval.prefixes);
        match scope {
            ApprovalScope::Once => return Ok(()),
            ApprovalScope::Session => handle.gate.memory.remember(command, prefixes)?,
            ApprovalScope::Always => self.0.context.remembered.remember(prefixes)?,
        }
        handle.gate.memory.trust_session();
        Ok(())
    }
}

/// What a planned execution wants.
pub(super) fn asked(session: &Session, execution: &Execution, skip: bool) -> Asked {
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
        obeyed: obeyed.cloned().collect(),
        command: execution.command.clone(),
        shell: session.shell.kind,
        cwd: cwd.clone(),
        workspace: PathBuf::from(&session.workspace_root),
        role: execution.asked_by,
        skip,
    }
}
