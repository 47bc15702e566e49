//! Commands that the shell on the terminal does not take: each runs in a process
//! of its own, where the terminal's shell is, with its rights and without a
//! terminal.

use super::Task;
use super::close::NO_OUTPUT;
use super::start::{Beginning, setting};
use super::walls::Walls;
use crate::actor::tree_end;
use crate::context::Context;
use crate::driver;
use crate::habits::appended;
use crate::pipes;
use crate::recording::{Begun, Recording, When};
use crate::state::{never_ran, outcome_of, rejected};
use crate::tag::Tag;
use glass_model::{
    AbortReason, EventBody, Execution, LaunchId, LaunchPlan, Outcome, ShellId, WaitStatus,
};
use glass_spawn::tree::{self, Manner, Scope};
use glass_spawn::{GATE_FD, Launch, Launched};
use glass_store::Change;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Time for a command that is stopped to leave by itself.
const STOP_GRACE: Duration = Duration::from_millis(500);

/// A command that runs beside the terminal.
pub(super) struct Plain {
    execution: Execution,
    stage: Stage,
    abort: Option<AbortReason>,
    deadline: Option<Instant>,
}

enum Stage {
    Starting(oneshot::Receiver<Result<Child, String>>),
    Running(Box<Running>),
}

struct Running {
    launched: Launched,
    recording: Recording,
    walls: Option<Walls>,
}

/// A process that waits behind its gate.
pub(super) struct Child {
    launched: Launched,
    gate: OwnedFd,
    pipes: pipes::Pair,
    walls: Option<Walls>,
}

impl Plain {
    pub(super) fn id(&self) -> ShellId {
        self.execution.shell_id
    }

    pub(super) fn execution(&self) -> &Execution {
        &self.execution
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.deadline
    }

    /// Waits until something happens to it.
    pub(super) async fn stir(plain: &mut Option<Plain>) -> Stirred {
        match plain.as_mut().map(|plain| &mut plain.stage) {
            Some(Stage::Starting(receiver)) => {
                let lost = || Err("the daemon is stopping".to_owned());
                Stirred::Started(Box::new(receiver.await.unwrap_or_else(|_| lost())))
            }
            Some(Stage::Running(running)) => {
                let recording = &running.recording;
                std::future::poll_fn(|cx| match recording.poll_readable(cx) {
                    true => std::task::Poll::Ready(()),
                    false => std::task::Poll::Pending,
                })
                .await;
                Stirred::Output
            }
            None => std::future::pending().await,
        }
    }
}

/// What happened to it.
pub(super) enum Stirred {
    /// It is behind its gate, or could not be started.
    Started(Box<Result<Child, String>>),
    /// It has written something.
    Output,
}

impl Task {
    /// Runs the command at the head of the queue without the shell.
    pub(super) fn fall_back(&mut self, why: &str) {
        let Some(waiting) = self.queue.waiting.pop_front() else {
            return;
        };
        let mut execution = waiting.execution;
        if let Some(why) = self.is_ignored_now(&execution) {
            return self.finish(execution, NO_OUTPUT, rejected(why));
        }
        execution.cwd = match execution.requested_cwd.is_empty() {
            true => self.session.cwd.clone(),
            false => execution.requested_cwd.clone(),
        };
        self.remark_on(execution.shell_id, "fallback", why);
        if execution.command.len() > driver::PLAIN_BYTES_MAX {
            let why = format!("{why}, and it is too long to run without it");
            return self.finish(execution, NO_OUTPUT, never_ran(why));
        }
        let Some(workspace) = self.workspace.clone() else {
            let why = format!("{why}, and its workspace is gone");
            return self.finish(execution, NO_OUTPUT, never_ran(why));
        };
        let (tell, started) = oneshot::channel();
        let beginning = Beginning {
            session: self.session.clone(),
            policy: self.execution.sandbox.clone(),
            workspace,
            ours: self.ours.clone(),
            habits: self.habits,
        };
        let (context, order) = (self.context.clone(), execution.clone());
        tokio::spawn(async move {
            let launched = launch(&context, &beginning, &order).await;
            // Nobody may wait for it any more.
            if let Err(Ok(child)) = tell.send(launched) {
                discard(&context, child);
            }
        });
        self.plain = Some(Plain {
            execution,
            stage: Stage::Starting(started),
            abort: None,
            deadline: None,
        });
        self.show();
    }

    pub(super) fn on_stirred(&mut self, stirred: Stirred) {
        match stirred {
            Stirred::Started(child) => match (*child, self.plain.take()) {
                (Ok(child), Some(plain)) => self.begin_plain(plain, child),
                (Err(why), Some(plain)) => {
                    self.finish(plain.execution, NO_OUTPUT, never_ran(why));
                }
                (_, None) => {}
            },
            Stirred::Output => self.take_plain_output(),
        }
    }

    fn begin_plain(&mut self, mut plain: Plain, child: Child) {
        if let Some(reason) = self.stopped_at_gate(&plain) {
            discard(&self.context, child);
            return self.finish(plain.execution, NO_OUTPUT, aborted(reason));
        }
        let Child {
            launched,
            gate,
            pipes,
            walls,
        } = child;
        let id = plain.id();
        let start = EventBody::CommandStart {
            command: plain.execution.command.clone(),
            cwd: plain.execution.cwd.clone(),
            pid: u32::try_from(launched.child.pid).unwrap_or(0),
        };
        let event = self.event_of(Some(id), start);
        plain.execution.start = Some(event.index);
        let waited_ms = event.at_ms - plain.execution.started_ms;
        self.context
            .figures
            .began(plain.execution.sandbox.kind, waited_ms);
        plain.execution.started_ms = event.at_ms;
        let began = Change::StartExecution {
            shell_id: id,
            launch: launched.id,
            slot: 0,
            start: event.index,
            started_ms: event.at_ms,
            cwd: plain.execution.cwd.clone(),
        };
        let allowed = self.queue.passed.remove(&id);
        let ran = self.audit_ran(&plain.execution, allowed);
        let changes = vec![began, self.recorded(&event), ran];
        self.write(changes, vec![event]);
        let quota = self.context.settings.limits.execution_output_bytes_max;
        let recording = Recording::new(&self.context.store, id, pipes, NO_OUTPUT, Begun::Now);
        let mut recording = recording.within(quota);
        self.context
            .routes
            .add(launched.id, self.note_sender.clone());
        let opened = recording
            .watch(None)
            .and_then(|()| super::start::open_gate(gate));
        if let Err(error) = opened {
            tracing::error!(session = %self.session.id, %error, "a command stays at its gate");
        }
        let allowed_ms = Duration::from_millis(u64::from(plain.execution.timeout_ms));
        plain.deadline = (!allowed_ms.is_zero()).then(|| Instant::now() + allowed_ms);
        plain.stage = Stage::Running(Box::new(Running {
            launched,
            recording,
            walls,
        }));
        self.plain = Some(plain);
        self.show();
    }

    /// Why a command that waits behind its gate must not begin, if so.
    fn stopped_at_gate(&self, plain: &Plain) -> Option<AbortReason> {
        let ends = self.ending != super::Ending::No;
        plain.abort.or(ends.then_some(AbortReason::User))
    }

    fn take_plain_output(&mut self) {
        let Some(Stage::Running(running)) = self.plain.as_mut().map(|plain| &mut plain.stage)
        else {
            return;
        };
        if let Err(error) = running.recording.turn(&self.context.store) {
            tracing::error!(%error, "output could not be read");
        }
        self.name_soon();
    }

    /// Gives their events to what a command beside the terminal wrote.
    pub(super) fn name_plain(&mut self, when: When) {
        let Some(mut plain) = self.plain.take() else {
            return;
        };
        if let Stage::Running(running) = &mut plain.stage {
            self.name_recording(&mut running.recording, when);
            self.keep_to_quota(&mut running.recording);
        }
        self.plain = Some(plain);
    }

    /// A child of the keeper's has ended, perhaps this one.
    pub(super) fn plain_exited(&mut self, launch: LaunchId, status: WaitStatus) {
        let is_it = |plain: &mut Plain| match &plain.stage {
            Stage::Running(running) => running.launched.id == launch,
            Stage::Starting(_) => false,
        };
        let Some(plain) = self.plain.take_if(is_it) else {
            return;
        };
        let outcome = match plain.abort {
            Some(reason) => aborted(reason),
            None => outcome_of(status),
        };
        self.finish_plain(plain, outcome);
    }

    fn finish_plain(&mut self, plain: Plain, outcome: Outcome) {
        let mut running = match plain.stage {
            Stage::Running(running) => running,
            Stage::Starting(mut started) => {
                // What is sent after this comes back to who sends it.
                started.close();
                if let Ok(Ok(child)) = started.try_recv() {
                    discard(&self.context, child);
                }
                return self.finish(plain.execution, NO_OUTPUT, outcome);
            }
        };
        if let Err(error) = running.recording.drain(&self.context.store) {
            tracing::error!(%error, "output could not be read");
        }
        self.name_recording(&mut running.recording, When::Last);
        self.keep_to_quota(&mut running.recording);
        let output = running.recording.end();
        self.finish(plain.execution, output, outcome);
        self.end_plain_tree(&running.launched, Manner::Kill, Then::Forget);
        if let Some(walls) = &running.walls {
            walls.release(&self.context);
        }
    }

    /// Stops the command beside the terminal.
    pub(super) fn stop_plain(&mut self, reason: AbortReason) {
        let Some(plain) = &mut self.plain else {
            return;
        };
        plain.deadline = None;
        plain.abort.get_or_insert(reason);
        if let Stage::Running(running) = &plain.stage {
            let launched = running.launched.clone();
            let manner = Manner::Interrupt { grace: STOP_GRACE };
            self.end_plain_tree(&launched, manner, Then::Nothing);
        }
    }

    /// Ends it when its time is over.
    pub(super) fn tend_plain(&mut self, now: Instant) {
        let due = self.plain.as_ref().and_then(Plain::due);
        if due.is_some_and(|due| due <= now) {
            self.stop_plain(AbortReason::Timeout);
        }
    }

    /// The session ends, and the command with it.
    pub(super) fn lose_plain(&mut self, outcome: &Outcome) {
        if let Some(plain) = self.plain.take() {
            let outcome = Outcome {
                code: None,
                abort: Some(plain.abort.unwrap_or(AbortReason::User)),
                ..outcome.clone()
            };
            self.finish_plain(plain, outcome);
        }
    }

    fn end_plain_tree(&self, launched: &Launched, manner: Manner, then: Then) {
        end_tree(&self.context, launched, manner, then);
    }
}

fn aborted(reason: AbortReason) -> Outcome {
    Outcome {
        abort: Some(reason),
        ..Outcome::default()
    }
}

/// Ends a process that waits behind its gate, and has run nothing.
fn discard(context: &Arc<Context>, child: Child) {
    drop(child.gate);
    // Nobody hears of its end, and no news of that is kept.
    let (deaf, _) = tokio::sync::mpsc::unbounded_channel();
    context.routes.add(child.launched.id, deaf);
    end_tree(context, &child.launched, Manner::Kill, Then::Forget);
    if let Some(walls) = &child.walls {
        walls.release(context);
    }
}

fn end_tree(context: &Arc<Context>, launched: &Launched, manner: Manner, then: Then) {
    let tree = tree_end(launched, Scope::Everything, manner, None);
    let (context, id) = (context.clone(), launched.id);
    tokio::spawn(async move {
        let ending = tokio::task::spawn_blocking(move || tree::end(&tree));
        if let Ok(Err(error)) = ending.await {
            tracing::error!(%error, "processes stay");
        }
        if then == Then::Forget && context.keeper.forget(id).await.is_err() {
            // A keeper that is gone remembers nothing.
            tracing::debug!("the keeper is gone");
        }
    });
}

/// What follows the end of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Nothing,
    Forget,
}

async fn launch(
    context: &Arc<Context>,
    beginning: &Beginning,
    execution: &Execution,
) -> Result<Child, String> {
    let said = |error: std::io::Error| error.to_string();
    let session = &beginning.session;
    let (mut setting, enclosure) = setting(context, beginning).await?;
    let (control, control_end) = match &setting.walls {
        Some(_) => crate::shell::walls_channel()
            .map_err(|error| error.to_string())?
            .into(),
        None => None,
    }
    .unzip();
    let walls = enclosure.map(|enclosure| Walls::new(enclosure, control));
    if !execution.requested_cwd.is_empty() {
        setting.cwd.clone_from(&execution.requested_cwd);
    }
    for (name, value) in &execution.env {
        crate::context::set_variable(&mut setting.env, name, value);
    }
    let (out, child_out) = pipes::plain().map_err(said)?;
    let (err, child_err) = pipes::plain().map_err(said)?;
    let (gate_end, gate) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map_err(|error| error.to_string())?;
    let (shell, number) = (&session.shell, execution.shell_id.0);
    let command = appended(shell, &session.env, &execution.command, number);
    let argv = driver::plain_argv(shell, &command);
    let name = format!("{}-{}", session.id, crate::random::nonce());
    let plan = LaunchPlan {
        program: argv.program,
        argv: argv.argv,
        env: context.shell_env(session, setting.env),
        cwd: setting.cwd.into_bytes(),
        cgroup: context.cgroup_name(&name),
        resources: context.resources(),
        takes_terminal: false,
        walls: setting.walls,
    };
    let tag = Tag::Line {
        session: session.id.clone(),
        shell_id: execution.shell_id,
    };
    let launch = Launch {
        plan,
        child_fds: vec![(1, child_out), (2, child_err), (GATE_FD, gate_end)],
        held: Vec::new(),
        tag: tag.encode(),
        walls_control: control_end,
    };
    match context.keeper.spawn(launch).await {
        Ok(launched) => Ok(Child {
            launched,
            gate,
            pipes: (out, err),
            walls,
        }),
        Err(error) => {
            walls.iter().for_each(|walls| walls.release(context));
            Err(super::start::full(&error))
        }
    }
}
