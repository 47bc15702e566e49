//! Accepting commands.

use super::adapters::came_of;
use super::hooks::Unasked;
use super::{Background, Caller, Engine, Handle, SessionSpec, may_see};
use crate::actor::{Finished, Message, Refusal, lock};
use crate::context::now_ms;
use crate::driver;
use crate::errors::{CreateError, ExecuteError, LookupError, NoWalls};
use crate::feed::Follower;
use crate::gate::Asked;
use crate::redaction::Secrets;
use glass_model::{
    EventIndex, Execution, Mode, Outcome, Phase, SandboxPolicy, Session, SessionId, ShellId,
    call_scope,
};
use std::hash::{Hash as _, Hasher as _};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Where a command is to run.
#[derive(Clone, Debug)]
pub enum Target {
    /// In this session.
    Session(String),
    /// In a session made for it, gone with it.
    Ephemeral(Box<SessionSpec>),
    /// In the background: in a session made for it that outlives the call.
    Background(Box<Background>),
    /// In an idle session in the right directory, this task's own first, or in
    /// a new one.
    Any {
        /// The task, or empty.
        task: String,
    },
}

/// A command and how to run it.
#[derive(Clone, Debug, Default)]
pub struct OrderSpec {
    /// The command's text.
    pub command: String,
    /// Where, or empty for where the session is.
    pub working_directory: String,
    /// Time allowed, in milliseconds; 0 is no limit.
    pub timeout_ms: i32,
    /// The idempotency key, or empty.
    pub tool_call_id: String,
    /// The task that the key is unique in, or empty for the caller.
    pub task: String,
    /// Variables for this command alone.
    pub env: Vec<(String, String)>,
    /// The rights asked for.
    pub sandbox: Option<SandboxPolicy>,
    /// Whether nobody is to be asked about it.
    pub skip_approval: bool,
}

/// An accepted execution, to follow or to wait for.
pub struct Ticket {
    /// Its session.
    pub session: SessionId,
    /// Its handle.
    pub shell_id: ShellId,
    /// The rights that it has.
    pub sandbox: SandboxPolicy,
    /// Whether this call found it already there.
    pub attached: bool,
    /// Its events, among those of its session.
    pub follower: Follower,
    /// What is taken out of its output.
    pub secrets: Secrets,
    done: oneshot::Receiver<Finished>,
}

impl Ticket {
    /// Waits for the end. Only a daemon that stops ends the wait without one.
    pub async fn finished(self) -> Result<Finished, LookupError> {
        self.done.await.map_err(|_| LookupError::Stopping)
    }
}

impl Engine {
    /// Accepts a command, or finds the execution that a call with the same key
    /// has begun. When this returns, the command is in the journal.
    pub async fn execute(
        &self,
        caller: &Caller,
        target: Target,
        order: OrderSpec,
    ) -> Result<Ticket, ExecuteError> {
        self.check(caller, &order)?;
        let scope = call_scope(caller.role, &order.task);
        if order.tool_call_id.is_empty() {
            return self.accept(caller, target, order, scope).await;
        }
        let _one_at_a_time = self.key_lock(&scope, &order.tool_call_id).lock().await;
        let found = self
            .0
            .context
            .store
            .find_tool_call(&scope, &order.tool_call_id);
        match found.map_err(LookupError::from)? {
            Some(execution) => self.attach(caller, execution, order).await,
            None => self.accept(caller, target, order, scope).await,
        }
    }

    fn key_lock(&self, scope: &str, key: &str) -> &tokio::sync::Mutex<()> {
        let mut hasher = std::hash::DefaultHasher::new();
        (scope, key).hash(&mut hasher);
        let locks = &self.0.keyed_calls;
        &locks[usize::try_from(hasher.finish()).unwrap_or(0) % locks.len()]
    }

    /// The execution that a call with this key has begun.
    pub fn tool_call(
        &self,
        caller: &Caller,
        task: &str,
        key: &str,
    ) -> Result<ShellId, LookupError> {
        let found = self
            .0
            .context
            .store
            .find_tool_call(&call_scope(caller.role, task), key)?;
        let execution = found.ok_or_else(|| LookupError::UnknownToolCall(key.to_owned()))?;
        Ok(execution.shell_id)
    }

    fn check(&self, caller: &Caller, order: &OrderSpec) -> Result<(), ExecuteError> {
        let max = self.0.context.settings.limits.command_bytes_max;
        let bytes = order.command.len();
        if order.command.trim().is_empty() {
            return Err(ExecuteError::Empty);
        }
        if let Some(offset) = order.command.find('\0') {
            return Err(ExecuteError::Nul { offset });
        }
        if bytes as u64 > max.min(driver::COMMAND_BYTES_MAX as u64) {
            return Err(ExecuteError::TooLong { bytes, max });
        }
        if order.timeout_ms < 0 {
            let why = format!("a timeout of {} ms makes no sense", order.timeout_ms);
            return Err(ExecuteError::Invalid(why));
        }
        let texts = [
            ("working directory", &order.working_directory),
            ("tool call id", &order.tool_call_id),
        ];
        for (what, text) in texts {
            check_text(what, text)?;
        }
        let may_skip = &self.0.context.settings.gatekeeping.skip;
        if order.skip_approval && !may_skip.contains(&caller.role) {
            return Err(ExecuteError::MayNotSkip);
        }
        for (name, value) in &order.env {
            if !driver::is_name(name) {
                let why = format!(
                    "'{}' cannot be a variable of a command",
                    name.escape_debug()
                );
                return Err(ExecuteError::Invalid(why));
            }
            check_text(&format!("variable {name}"), value)?;
        }
        Ok(())
    }

    async fn accept(
        &self,
        caller: &Caller,
        target: Target,
        order: OrderSpec,
        scope: String,
    ) -> Result<Ticket, ExecuteError> {
        let target = self.on_terminal(caller, target)?;
        let ephemeral = match &target {
            Target::Ephemeral(spec) if spec.mode == Some(Mode::Pty) => {
                let why = "a single command cannot have a terminal in this version".to_owned();
                return Err(CreateError::Unsupported(why).into());
            }
            Target::Ephemeral(_) | Target::Background(_) => true,
            Target::Session(_) | Target::Any { .. } => false,
        };
        let _pick = match target {
            Target::Any { .. } => Some(self.0.picks.lock().await),
            _ => None,
        };
        let (session, handle) = self.find_target(caller, target, &order).await?;
        let submitted = self.submit(caller, session, &handle, order, scope).await;
        if ephemeral {
            let shell_id = submitted.as_ref().ok().map(|ticket| ticket.shell_id);
            self.dispose_when_done(handle, shell_id);
        }
        submitted
    }

    /// Hands a command to its session.
    async fn submit(
        &self,
        caller: &Caller,
        session: Session,
        handle: &Handle,
        mut order: OrderSpec,
        scope: String,
    ) -> Result<Ticket, ExecuteError> {
        self.limit_time(caller, &session, &mut order);
        let adapted = self.adapt(caller, &session, &mut order).await;
        let sandbox = self.order_rights(caller, &session, handle, &order)?;
        let (skip, requested) = (order.skip_approval, order.sandbox.clone());
        let execution = plan_execution(caller, &session, order, scope, sandbox);
        let judged = self
            .judge(handle, Asked::of(&session, &execution, skip))
            .await;
        let unasked = self.must_consult(&judged.gate).then(|| Unasked {
            execution: execution.clone(),
            requested,
            judged: judged.clone(),
            skip,
        });
        let sandbox = execution.sandbox.clone();
        let (reply, accepted) = oneshot::channel();
        let (done_sender, done) = oneshot::channel();
        let message = Message::Execute {
            execution: Box::new(execution),
            adapted,
            judged: unasked.is_none().then_some(judged),
            reply,
            done: Some(done_sender),
        };
        let id = session.id.clone();
        let disposed = || LookupError::Disposed(id.clone());
        handle.mailbox.send(message).await.map_err(|_| disposed())?;
        let accepted = match accepted.await.map_err(|_| disposed())? {
            Ok(accepted) => accepted,
            Err(Refusal::Write(error)) => return Err(error.into()),
            Err(Refusal::QueueFull) => {
                let max = self.0.context.settings.limits.queue_max;
                return Err(ExecuteError::QueueFull { session: id, max });
            }
        };
        let store = self.0.context.store.clone();
        let follower = Follower::live(
            session.id.clone(),
            store,
            handle.feed.clone(),
            accepted.from,
        );
        let secrets = lock(&handle.live).secrets.clone();
        if let Some(mut unasked) = unasked {
            unasked.execution.shell_id = accepted.shell_id;
            self.consult(handle.clone(), unasked);
        }
        self.tell_hooks(handle, accepted.shell_id);
        let shell_id = accepted.shell_id;
        Ok(Ticket {
            session: session.id,
            shell_id,
            sandbox,
            attached: false,
            follower,
            secrets,
            done,
        })
    }

    /// The rights of a command, if its caller may have them and they can be
    /// enforced here.
    pub(super) fn order_rights(
        &self,
        caller: &Caller,
        session: &Session,
        handle: &Handle,
        order: &OrderSpec,
    ) -> Result<SandboxPolicy, ExecuteError> {
        let refused = ExecuteError::Sandbox;
        if session.is_elsewhere() {
            return self.rights_elsewhere(session, order.sandbox.as_ref());
        }
        let Some(workspace) = &handle.workspace else {
            return Err(refused(NoWalls {
                why: format!("the workspace '{}' is gone", session.workspace_root),
                hint: "make a session in another directory".to_owned(),
            }));
        };
        let asked = order.sandbox.as_ref();
        if let Some(terminal) = &handle.terminal {
            return self.terminal_rights(caller, session, workspace, asked, &terminal.policy);
        }
        let rights = self
            .rights(asked, session.sandbox.as_ref(), caller.role, workspace)
            .map_err(refused)?;
        let cwd = requested_cwd(session, order);
        if !cwd.is_empty() {
            rights
                .admits(Path::new(&cwd))
                .map_err(|refusal| refused(refusal.into()))?;
        }
        Ok(rights.policy)
    }

    /// Ends a session that was made for one command, once that is over; at once
    /// where it never had one.
    pub(super) fn dispose_when_done(&self, handle: Handle, shell_id: Option<ShellId>) {
        tokio::spawn(async move {
            if let Some(shell_id) = shell_id {
                let (done, over) = oneshot::channel();
                let watch = Message::Watch { shell_id, done };
                if handle.mailbox.send(watch).await.is_err() {
                    return;
                }
                drop(over.await);
            }
            let (reply, _) = oneshot::channel();
            drop(handle.mailbox.send(Message::Dispose { reply }).await);
        });
    }

    async fn find_target(
        &self,
        caller: &Caller,
        target: Target,
        order: &OrderSpec,
    ) -> Result<(Session, Handle), ExecuteError> {
        let session = match target {
            Target::Session(id) => self.session(caller, &id)?.session,
            Target::Ephemeral(spec) => self.create(caller, *spec).await?,
            Target::Background(background) => self.background(caller, *background, order).await?,
            Target::Any { task } => match self.idle_session(caller, &task, order) {
                Some(session) => session,
                None => {
                    let working_directory = order.working_directory.clone();
                    let spec = SessionSpec {
                        working_directory,
                        task,
                        ..SessionSpec::default()
                    };
                    self.create(caller, spec).await?
                }
            },
        };
        let handle = self.live(&session.id);
        let handle = handle.ok_or_else(|| LookupError::Disposed(session.id.clone()))?;
        Ok((session, handle))
    }

    /// An idle session in the command's directory: one of its task, else any. Who
    /// names no task gets none that has one: there answers may be remembered that
    /// were not for them. Busy ones are never picked.
    fn idle_session(&self, caller: &Caller, task: &str, order: &OrderSpec) -> Option<Session> {
        let sessions = lock(&self.0.sessions);
        let cwd = if order.working_directory.is_empty() {
            &self.0.context.settings.working_directory
        } else {
            &order.working_directory
        };
        let mut usable: Vec<Session> = sessions
            .values()
            .map(super::view)
            .filter(|view| view.running.is_none() && view.queued == 0)
            .map(|view| view.session)
            .filter(|session| {
                !session.ephemeral
                    && !session.is_elsewhere()
                    // Not into what somebody types, who asked for a terminal.
                    && (session.mode != Mode::Pty || session.auto)
                    && session.disposed_ms.is_none()
                    && (!task.is_empty() || session.task.is_empty())
                    && session.owner == caller.role
                    && session.cwd == *cwd
                    && may_see(caller, session).is_ok()
            })
            .collect();
        usable.sort_by_key(|session| (session.task != task, session.created_ms));
        usable.into_iter().next()
    }

    async fn attach(
        &self,
        caller: &Caller,
        execution: Execution,
        order: OrderSpec,
    ) -> Result<Ticket, ExecuteError> {
        let session = self.session(caller, execution.session.as_str())?.session;
        let shell_id = execution.shell_id;
        if !came_of(&execution.command, &order.command, &session).await {
            let tool_call_id = order.tool_call_id;
            return Err(ExecuteError::OtherCommand {
                tool_call_id,
                shell_id,
            });
        }
        let from = execution.start.unwrap_or(EventIndex(0));
        let follower = self.follower(execution.session.clone(), from);
        let secrets = self.secrets(&execution.session)?;
        let (sender, done) = oneshot::channel();
        let watch = Message::Watch {
            shell_id,
            done: sender,
        };
        let sent = match self.live(&execution.session) {
            Some(handle) => handle
                .mailbox
                .send(watch)
                .await
                .map_err(|refused| refused.0),
            None => Err(watch),
        };
        if let Err(Message::Watch { done, .. }) = sent {
            drop(done.send(stored_end(execution.clone())));
        }
        Ok(Ticket {
            session: execution.session,
            shell_id,
            sandbox: execution.sandbox,
            attached: true,
            follower,
            secrets,
            done,
        })
    }
}

fn stored_end(execution: Execution) -> Finished {
    let cwd = execution.cwd.clone();
    let execution = match execution.phase {
        Phase::Ended => Ok(Arc::new(execution)),
        Phase::Queued | Phase::Running => Err("its session was disposed of".to_owned()),
    };
    Finished {
        execution,
        cwd,
        output: None,
    }
}

/// Where a command is to run, as an absolute path; empty where the session is.
fn requested_cwd(session: &Session, order: &OrderSpec) -> String {
    let requested = order.working_directory.as_str();
    if requested.is_empty() || requested.starts_with('/') {
        requested.to_owned()
    } else {
        format!("{}/{requested}", session.cwd.trim_end_matches('/'))
    }
}

fn plan_execution(
    caller: &Caller,
    session: &Session,
    order: OrderSpec,
    scope: String,
    sandbox: SandboxPolicy,
) -> Execution {
    let requested_cwd = requested_cwd(session, &order);
    Execution {
        shell_id: ShellId(0),
        session: session.id.clone(),
        command: order.command,
        cwd: session.cwd.clone(),
        tool_call_id: order.tool_call_id,
        tool_call_scope: scope,
        env: order.env,
        requested_cwd,
        timeout_ms: u32::try_from(order.timeout_ms).unwrap_or(0),
        sandbox,
        asked_by: caller.role,
        held: false,
        phase: Phase::Queued,
        launch: None,
        slot: 0,
        start: None,
        end: None,
        started_ms: now_ms(),
        ended_ms: None,
        outcome: Outcome::default(),
    }
}

/// Whether a shell can be given this beside a command.
fn check_text(what: &str, text: &str) -> Result<(), ExecuteError> {
    let (bytes, most) = (text.len(), driver::FIELD_BYTES_MAX);
    if bytes > most {
        let why = format!("the {what} has {bytes} bytes, and {most} are the limit");
        return Err(ExecuteError::Invalid(why));
    }
    if text.contains('\0') {
        let why = format!("the {what} has a NUL byte");
        return Err(ExecuteError::Invalid(why));
    }
    Ok(())
}
