//! Before a command runs: its gate, and the persons who open it.

use super::hooks::Unasked;
use super::{Caller, Engine, Handle, may_see};
use crate::actor::{Message, lock};
use crate::errors::{AnswerError, LookupError};
use crate::gate::{Asked, Gate, Judged};
use glass_model::{Answer, Approval, ApprovalId, Execution, Role};
use tokio::sync::oneshot;

/// Lines, with what their rights ignore, are read off the reactor above this, in
/// bytes.
pub(super) const INLINE_BYTES_MAX: usize = 2 * 1024;

impl Engine {
    /// What a command has to pass.
    pub(super) async fn judge(&self, handle: &Handle, asked: Asked) -> Judged {
        let (context, gate) = (self.0.context.clone(), handle.gate.clone());
        let mapping = asked.sandbox.ignore_mapping_json.as_ref();
        let bytes = asked.command.len() + mapping.map_or(0, String::len);
        let short = bytes <= INLINE_BYTES_MAX;
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
            let asked = Asked::of(&session, &execution, false);
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
            Ok(Ok(true)) => Ok(()),
            Ok(Err(error)) => Err(error.into()),
            Ok(Ok(false)) | Err(_) => Err(not_waiting()),
        }
    }
}
