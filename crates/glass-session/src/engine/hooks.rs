//! The user's programs: asked before a command, told after it.

use super::{Caller, Engine, Handle};
use crate::actor::{Message, lock};
use crate::gate::{Asked, Gate, Judged, Question};
use glass_hooks::{AfterShellExecution, BeforeShellExecution, OUTPUT_BYTES_MAX, Permission};
use glass_model::{CommandReading, Execution, Role, SandboxPolicy, Session, ShellId, signal_name};
use serde_json::Value;
use std::time::Duration;
use tokio::sync::oneshot;

/// How the contract writes what hooks are told. Whoever knows the wire gives
/// these, because this crate does not.
#[derive(Clone, Copy, Debug)]
pub struct Wording {
    /// A `SandboxPolicy`.
    pub policy: fn(&SandboxPolicy) -> Value,
    /// A `ShellCommandParsingResult`.
    pub reading: fn(&CommandReading) -> Value,
}

/// What the text of an accepted command said, before hooks are asked.
pub(super) struct Unasked {
    pub(super) execution: Execution,
    /// The rights asked for, where that is still known.
    pub(super) requested: Option<SandboxPolicy>,
    pub(super) judged: Judged,
    /// Whether questions are to be left out.
    pub(super) skip: bool,
}

impl Engine {
    /// Whether hooks have a say in a command with this gate: what is shut stays
    /// shut.
    pub(super) fn must_consult(&self, gate: &Gate) -> bool {
        let hooks = &self.0.context.settings.hooks;
        hooks.has_before() && !matches!(gate, Gate::Shut(_))
    }

    /// Asks the hooks about a command that is held, and then tells its session.
    pub(super) fn consult(&self, handle: Handle, unasked: Unasked) {
        let engine = self.clone();
        tokio::spawn(async move {
            let session = lock(&handle.live).session.clone();
            let payload = engine.before(&session, &unasked);
            let settings = &engine.0.context.settings;
            let verdicts = settings.hooks.before(&payload).await;
            let shell_id = unasked.execution.shell_id;
            for detail in &verdicts.failures {
                remark(&handle, shell_id, detail.clone()).await;
            }
            let wanted = Asked::of(&session, &unasked.execution, false);
            let skip = unasked.skip || handle.gate.knows(&wanted);
            let Judged { gate, by } = unasked.judged;
            let (gate, by) = match verdicts.permission {
                Permission::Allow => (gate, by),
                Permission::Ask => {
                    let gate = asked_by_hook(gate, &verdicts.user_message, skip);
                    (gate, "hook".to_owned())
                }
                Permission::Deny => {
                    let said = verdicts.failures.contains(&verdicts.user_message);
                    if !said && !verdicts.user_message.is_empty() {
                        remark(&handle, shell_id, verdicts.user_message).await;
                    }
                    let why = or(verdicts.agent_message, "a hook refused it");
                    (Gate::Shut(why), "hook".to_owned())
                }
            };
            let judged = Judged { gate, by };
            // A session that is gone has no use for it.
            drop(
                handle
                    .mailbox
                    .send(Message::Judge { shell_id, judged })
                    .await,
            );
        });
    }

    fn before(&self, session: &Session, unasked: &Unasked) -> BeforeShellExecution {
        let wording = &self.0.context.settings.wording;
        let execution = &unasked.execution;
        let wanted = Asked::of(session, execution, false);
        let reading = glass_policy::Command::parse(&execution.command, wanted.shell).reading();
        let policy = unasked.requested.as_ref();
        BeforeShellExecution {
            command: execution.command.clone(),
            cwd: wanted.cwd,
            host: host_told(session),
            session_id: session.id.to_string(),
            task_id: execution.task(session).to_owned(),
            tool_call_id: execution.tool_call_id.clone(),
            requested_sandbox_policy: policy.map_or(Value::Null, wording.policy),
            parsing_result: (wording.reading)(&reading),
        }
    }

    /// Tells the hooks when this execution has ended, if there are any.
    pub(super) fn tell_hooks(&self, handle: &Handle, shell_id: ShellId) {
        if !self.0.context.settings.hooks.has_after() {
            return;
        }
        let (engine, handle) = (self.clone(), handle.clone());
        tokio::spawn(async move {
            let (done, over) = oneshot::channel();
            let watch = Message::Watch { shell_id, done };
            if handle.mailbox.send(watch).await.is_err() {
                return;
            }
            let Ok(finished) = over.await else {
                return;
            };
            let end = finished.output.map(|output| output.position);
            let Ok(execution) = finished.execution else {
                return;
            };
            let outcome = &execution.outcome;
            if outcome.rejected.is_some() || outcome.spawn_error.is_some() {
                return;
            }
            let Ok(_one_of_few) = engine.0.telling.clone().try_acquire_owned() else {
                let detail = "no hook was told of its end: too many wait already";
                return remark(&handle, shell_id, detail.to_owned()).await;
            };
            let host = host_told(&lock(&handle.live).session);
            if let Some(payload) = engine.after(&execution, host, end).await {
                for detail in engine.0.context.settings.hooks.after(&payload).await {
                    remark(&handle, shell_id, detail).await;
                }
            }
        });
    }

    /// What hooks are told: of the output its end, without secrets.
    async fn after(
        &self,
        execution: &Execution,
        host: String,
        end: Option<u64>,
    ) -> Option<AfterShellExecution> {
        let id = execution.shell_id;
        let end = match end {
            Some(end) => end,
            None => self.0.context.store.recorded(id).ok()?.position,
        };
        let most = OUTPUT_BYTES_MAX as u64;
        let from = Some(end.saturating_sub(most));
        let everything = Caller { role: Role::Person };
        let page = self
            .read_output(&everything, id, from, most, Duration::ZERO)
            .await;
        let output = page.ok()?.bytes;
        let outcome = &execution.outcome;
        let signal = outcome.details.signal;
        let took = execution.ended_ms.unwrap_or(execution.started_ms) - execution.started_ms;
        Some(AfterShellExecution {
            command: execution.command.clone(),
            cwd: execution.cwd.clone(),
            host,
            session_id: execution.session.to_string(),
            exit_code: outcome.code,
            signal: signal.map(signal_name).unwrap_or_default(),
            duration_ms: u64::try_from(took).unwrap_or(0),
            output: glass_hooks::output_text(&output),
            effective_sandbox_policy: (self.0.context.settings.wording.policy)(&execution.sandbox),
        })
    }
}

/// A person is asked because a hook wants that. No prefix would spare them the
/// next question, because no rule is asked.
fn asked_by_hook(gate: Gate, message: &str, skip: bool) -> Gate {
    let mut reason = or(message.to_owned(), "a hook wants a person to be asked");
    let mut about_session = false;
    match gate {
        Gate::Open if skip => return Gate::Open,
        Gate::Open => {}
        Gate::Ask(question) => {
            about_session = question.about_session;
            reason = format!("{}\n{reason}", question.reason);
        }
        Gate::Shut(why) => return Gate::Shut(why),
    }
    Gate::Ask(Question {
        reason,
        prefixes: Vec::new(),
        about_session,
    })
}

/// The host that hooks are told of: another one.
fn host_told(session: &Session) -> String {
    match session.is_elsewhere() {
        true => session.host.clone(),
        false => String::new(),
    }
}

fn or(text: String, otherwise: &str) -> String {
    match text.trim().is_empty() {
        true => otherwise.to_owned(),
        false => text,
    }
}

async fn remark(handle: &Handle, shell_id: ShellId, detail: String) {
    let remark = Message::Remark { shell_id, detail };
    // A session that is gone tells nobody.
    drop(handle.mailbox.send(remark).await);
}
