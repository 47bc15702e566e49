//! Sessions on a terminal: making them, taking them up, and the way to them.

use super::{Caller, Engine, Handle, MAILBOX_MAX, lock};
use crate::actor::Child;
use crate::context::now_ms;
use crate::errors::{CreateError, EngineError, ExecuteError, LookupError, NoWalls};
use crate::feed::Feed;
use crate::habits::Habits;
use crate::pty::{self, Adoption, Beginning, Ready, TerminalHandle};
use crate::state::never_ran;
use crate::tag::Tag;
use glass_model::{
    Event, EventBody, EventIndex, Execution, Outcome, Phase, SandboxPolicy, Session, SessionId,
    ShellId,
};
use glass_sandbox::Workspace;
use glass_store::Change;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;

impl Engine {
    /// Starts the shell of a new session on a terminal. A session whose shell
    /// does not start is over at once.
    pub(super) async fn begin_terminal(
        &self,
        caller: &Caller,
        session: Session,
        ours: Vec<Vec<u8>>,
        habits: Habits,
    ) -> Result<Session, CreateError> {
        let began = self
            .try_begin_terminal(caller, &session, ours, habits)
            .await;
        if let Err(error) = began {
            let next = self.0.context.store.cursor(&session.id)?.next;
            self.end_terminal(&session, next, &[])?;
            let dir = self.0.context.session_dir(&session);
            if let Err(error) = std::fs::remove_dir_all(&dir) {
                tracing::debug!(%error, "nothing was left of it");
            }
            return Err(error);
        }
        Ok(session)
    }

    async fn try_begin_terminal(
        &self,
        caller: &Caller,
        session: &Session,
        ours: Vec<Vec<u8>>,
        habits: Habits,
    ) -> Result<(), CreateError> {
        let workspace = Arc::new(self.workspace_of(session)?);
        let policy = if session.is_elsewhere() {
            SandboxPolicy::none()
        } else {
            let asked = session.sandbox.as_ref();
            self.rights(None, asked, caller.role, &workspace)?.policy
        };
        let beginning = Beginning {
            session: session.clone(),
            policy,
            workspace: workspace.clone(),
            ours,
            habits,
        };
        let ready = pty::begin(&self.0.context, beginning).await;
        let ready = ready.map_err(CreateError::Start)?;
        Ok(self.run_terminal(ready, Some(workspace))?)
    }

    fn run_terminal(&self, ready: Ready, workspace: Option<Arc<Workspace>>) -> std::io::Result<()> {
        let live = ready.live();
        let shell = live.running.as_ref().map(|(shell_id, _)| *shell_id);
        let id = live.session.id.clone();
        let live = Arc::new(Mutex::new(live));
        let next = ready.next();
        let feed = Arc::new(Feed::new(next, self.0.context.figures.clone(), shell));
        let (mailbox, receiver) = mpsc::channel(MAILBOX_MAX);
        let session = lock(&live).session.clone();
        let gate = Arc::new(self.gate_of(&session));
        let parts = (live.clone(), feed.clone(), gate.clone());
        let (task, terminal) = ready.into_task(parts.0, parts.1, parts.2, receiver)?;
        let handle = Handle {
            page: self.terminal_file(&session),
            mailbox,
            live,
            feed,
            workspace,
            gate,
            terminal: Some(terminal),
        };
        self.add_page(&session, &handle, next);
        lock(&self.0.sessions).insert(id.clone(), handle);
        self.0.context.note_change();
        let engine = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            task.run().await;
            if let Some(engine) = engine.upgrade() {
                lock(&engine.sessions).remove(&id);
                engine.context.note_change();
            }
        });
        Ok(())
    }

    /// Takes up a terminal that the last daemon left; one whose shell nobody
    /// has any more is over.
    pub(super) async fn take_up_terminal(
        &self,
        session: Session,
        mut next: EventIndex,
        children: Vec<Child>,
        executions: Vec<Execution>,
    ) -> Result<(), EngineError> {
        let running = executions.iter().find(|run| run.phase == Phase::Running);
        let is_its = |child: &Child| match (&child.tag, running) {
            (Tag::Pty { shell_id, .. }, Some(running)) => {
                *shell_id == running.shell_id && running.launch == Some(child.info.id)
            }
            _ => false,
        };
        let mut found = None;
        for child in children {
            if is_its(&child) {
                found = Some(child);
            } else {
                self.end_stray(&child.info).await?;
            }
        }
        let (Some(child), Some(running)) = (found, running.cloned()) else {
            return self.lose_terminal(&session, next, &executions);
        };
        let info = child.info.clone();
        let workspace = self.workspace_of(&session).ok().map(Arc::new);
        let front = self.settle_terminal(&session, &mut next, &running, &executions)?;
        let adoption = Adoption {
            session: session.clone(),
            execution: running,
            front,
            child,
            workspace: workspace.clone(),
            next,
        };
        match pty::adopt(&self.0.context, adoption).await {
            Ok(ready) => Ok(self.run_terminal(ready, workspace)?),
            Err(why) => {
                tracing::error!(session = %session.id, why, "a terminal could not be adopted");
                self.end_stray(&info).await?;
                self.lose_terminal(&session, next, &executions)
            }
        }
    }

    /// Ends what no shell will tell of any more: commands that waited, or ran
    /// beside the terminal. Gives the one that may still run in front.
    fn settle_terminal(
        &self,
        session: &Session,
        next: &mut EventIndex,
        shell: &Execution,
        executions: &[Execution],
    ) -> Result<Option<Execution>, EngineError> {
        let open = executions.iter();
        let open = open.filter(|run| run.phase != Phase::Ended && run.shell_id != shell.shell_id);
        let mut front = None;
        for run in open {
            if run.phase == Phase::Running && run.launch == shell.launch {
                front = Some(run.clone());
                continue;
            }
            let outcome = match run.phase {
                Phase::Queued if run.held => never_ran("the daemon was restarted".to_owned()),
                // The shell may have taken it.
                _ => Outcome::default(),
            };
            let event = Event {
                index: *next,
                at_ms: now_ms(),
                shell_id: Some(run.shell_id),
                body: EventBody::Exit {
                    command: run.command.clone(),
                    outcome: outcome.clone(),
                },
            };
            *next = next.next();
            let end = Change::EndExecution {
                shell_id: run.shell_id,
                end: Some(event.index),
                ended_ms: event.at_ms,
                outcome,
            };
            let session = session.id.clone();
            let changes = [Change::Event { session, event }, end];
            let written = self.0.context.store.commit(&changes);
            written.map_err(|error| std::io::Error::other(error.to_string()))?;
        }
        Ok(front)
    }

    fn lose_terminal(
        &self,
        session: &Session,
        next: EventIndex,
        executions: &[Execution],
    ) -> Result<(), EngineError> {
        let unended = executions.iter().filter(|run| run.phase != Phase::Ended);
        let lost: Vec<(ShellId, String)> = unended
            .map(|run| (run.shell_id, run.command.clone()))
            .collect();
        if let Err(error) = self.end_terminal(session, next, &lost) {
            tracing::error!(session = %session.id, %error, "the end of a terminal is not recorded");
        }
        Ok(())
    }

    /// Writes that a session is over, and that nobody knows how these ended.
    fn end_terminal(
        &self,
        session: &Session,
        mut next: EventIndex,
        lost: &[(ShellId, String)],
    ) -> Result<(), CreateError> {
        let now = now_ms();
        let mut changes = Vec::new();
        let mut event = |shell_id, body| {
            let index = next;
            next = index.next();
            let event = Event {
                index,
                at_ms: now,
                shell_id,
                body,
            };
            let session = session.id.clone();
            (index, Change::Event { session, event })
        };
        for (shell_id, command) in lost {
            let body = EventBody::Exit {
                command: command.clone(),
                outcome: Outcome::default(),
            };
            let (end, change) = event(Some(*shell_id), body);
            changes.push(change);
            changes.push(Change::EndExecution {
                shell_id: *shell_id,
                end: Some(end),
                ended_ms: now,
                outcome: Outcome::default(),
            });
        }
        changes.push(event(None, EventBody::Disposed).1);
        changes.push(Change::UpdateSession {
            id: session.id.clone(),
            cwd: None,
            env: None,
            mode: None,
            active_ms: now,
            disposed_ms: Some(now),
        });
        Ok(self.0.context.store.commit(&changes)?)
    }

    /// A command in a terminal has the rights of the shell there, or does not
    /// run.
    pub(super) fn terminal_rights(
        &self,
        caller: &Caller,
        session: &Session,
        workspace: &Workspace,
        asked: Option<&SandboxPolicy>,
        shell: &SandboxPolicy,
    ) -> Result<SandboxPolicy, ExecuteError> {
        if asked.is_some() {
            let rights = self.rights(asked, session.sandbox.as_ref(), caller.role, workspace);
            if rights.map_err(ExecuteError::Sandbox)?.policy != *shell {
                return Err(ExecuteError::Sandbox(NoWalls {
                    why: "a terminal's commands have the rights of its shell".to_owned(),
                    hint: "make a terminal with these rights".to_owned(),
                }));
            }
        }
        Ok(shell.clone())
    }

    /// The way to a session's terminal.
    pub(crate) fn terminal(&self, id: &SessionId) -> Result<TerminalHandle, LookupError> {
        let handle = self.live(id).and_then(|handle| handle.terminal);
        handle.ok_or_else(|| LookupError::Disposed(id.clone()))
    }

    /// How consoles look.
    pub(crate) fn console_manner(&self) -> glass_vt::console::Manner {
        self.0.context.settings.console.clone()
    }

    /// Whether a caller may type what nobody judges.
    pub(crate) fn may_type(&self, caller: &Caller) -> bool {
        pty::may_type(caller.role, &self.0.context.settings.gatekeeping)
    }
}
