//! Starting the shell of a terminal.

use super::argv::argv;
use super::clients::Clients;
use super::close::NO_OUTPUT;
use super::display::Display;
use super::integration::{ROOM, inject, silence};
use super::queue::Queue;
use super::reader::Reader;
use super::remote::{ssh_argv, ssh_env};
use super::sizing::Sizing;
use super::walls::{Walls, plan_walls};
use super::{Ending, Insight, Parts, TERMINAL_LABEL, Task};
use crate::actor::{Live, Message};
use crate::context::{Context, make_private, now_ms, variable_name};
use crate::feed::Feed;
use crate::gate::SessionGate;
use crate::habits::Habits;
use crate::pty::{ORDERS_MAX, Order, TerminalHandle};
use crate::recording::{Begun, Recording};
use crate::sandbox::{Enclosure, Setting, has_walls};
use crate::shell::{WALLS_LABEL, existing_directory, walls_channel};
use crate::tag::Tag;
use glass_model::{
    Event, EventBody, EventIndex, Execution, LaunchPlan, Outcome, Phase, SandboxPolicy, Session,
    ShellId,
};
use glass_sandbox::Workspace;
use glass_spawn::{GATE_FD, GATE_WORD, Launch, Launched, terminal};
use glass_store::Change;
use glass_vt::Nonce;
use glass_vt::screen::ScreenSize;
use glass_vt::sieve::Sieve;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use tokio::sync::{Semaphore, mpsc};

/// Bytes that may be typed before a program reads them; who types more waits.
const INPUT_BYTES_MAX: usize = 256 * 1024;

/// How often walls are planned anew because the file system changed meanwhile.
const PLANS_MAX: u32 = 3;

/// Variables that say how large some other terminal is.
const STALE: [&[u8]; 2] = [b"LINES", b"COLUMNS"];

/// What the shell of a new session is started with.
pub(crate) struct Beginning {
    pub(crate) session: Session,
    /// The rights in effect.
    pub(crate) policy: SandboxPolicy,
    pub(crate) workspace: Arc<Workspace>,
    /// What of the environment is our own.
    pub(crate) ours: Vec<Vec<u8>>,
    /// What is set for its shell.
    pub(crate) habits: Habits,
}

/// A task that is not running yet, and its first words.
pub(crate) struct Ready {
    pub(super) parts: Parts,
}

/// Starts the shell. It waits until the journal knows of it.
pub(crate) async fn begin(context: &Arc<Context>, beginning: Beginning) -> Result<Ready, String> {
    let session = &beginning.session;
    let said = |error: std::io::Error| error.to_string();
    make_private(&context.session_dir(session)).map_err(said)?;
    let size = size_of(session);
    let shell_id = context.store.next_shell_id();
    let silence = silence(session, &beginning.habits);
    let nonce = silence.is_none().then(crate::random::hex_128);
    let place = Place {
        shell_id,
        size,
        nonce: nonce.clone(),
    };
    let Started {
        launched,
        master,
        gate,
        walls,
    } = launch(context, &beginning, &place).await?;
    let (note_sender, notes) = mpsc::unbounded_channel();
    context.routes.add(launched.id, note_sender.clone());
    let execution = plan_execution(&beginning, shell_id, &launched);
    if let Err(error) = journal_start(context, &execution, &launched) {
        // Without its byte from the gate the shell ends where it waits.
        drop(gate);
        let _ = context.keeper.forget(launched.id).await;
        return Err(error);
    }
    let quota = context.settings.limits.execution_output_bytes_max;
    let recording = Recording::of_terminal(&context.store, shell_id, NO_OUTPUT, Begun::Now);
    open_gate(gate).map_err(said)?;
    let dir = context.session_dir(session);
    Ok(Ready {
        parts: Parts {
            context: context.clone(),
            session: beginning.session,
            execution,
            launched,
            master,
            recording: recording.within(quota),
            display: Display::new(size, &dir),
            sizing: Sizing::new(size),
            walls,
            insight: Insight {
                integration: format!("none: {}", silence.unwrap_or("the shell is starting")),
                nonce,
                ..Insight::default()
            },
            workspace: Some(beginning.workspace),
            ours: beginning.ours,
            habits: beginning.habits,
            next: EventIndex(1),
            notes,
            note_sender,
        },
    })
}

impl Ready {
    /// What others see of the session.
    pub(crate) fn live(&self) -> Live {
        let execution = &self.parts.execution;
        let mut session = self.parts.session.clone();
        let size = self.parts.sizing.current();
        session.cols = u32::from(size.columns);
        session.rows = u32::from(size.rows);
        Live {
            session,
            running: Some((execution.shell_id, execution.command.clone())),
            queued: 0,
            last: None,
            integration: self.parts.insight.integration.clone(),
            seen: crate::look::Seen::default(),
            approvals: Vec::new(),
            secrets: self
                .parts
                .context
                .detectors
                .secrets(&self.parts.session.env),
        }
    }

    /// Where its events go on.
    pub(crate) fn next(&self) -> EventIndex {
        self.parts.next
    }

    /// The task, and the way to it.
    pub(crate) fn into_task(
        self,
        live: Arc<Mutex<Live>>,
        feed: Arc<Feed>,
        gate: Arc<SessionGate>,
        mailbox: mpsc::Receiver<Message>,
    ) -> std::io::Result<(Task, TerminalHandle)> {
        let parts = self.parts;
        let (sender, orders) = mpsc::channel::<Order>(ORDERS_MAX);
        let input_room = Arc::new(Semaphore::new(INPUT_BYTES_MAX));
        let handle = TerminalHandle {
            orders: sender,
            input_room: input_room.clone(),
            policy: parts.execution.sandbox.clone(),
        };
        let is_awaited = parts.insight.nonce.is_some() && !parts.insight.beliefs.is_ready();
        let wait = parts.habits.integration_wait();
        let late_at = is_awaited.then(|| std::time::Instant::now() + wait);
        let mut task = Task {
            dir: parts.context.session_dir(&parts.session),
            context: parts.context,
            session: parts.session,
            execution: parts.execution,
            launched: parts.launched,
            master: glass_spawn::async_fd(parts.master)?,
            reader: Reader::default(),
            recording: parts.recording,
            display: parts.display,
            sizing: parts.sizing,
            walls: parts.walls,
            workspace: parts.workspace,
            ours: parts.ours,
            habits: parts.habits,
            sieve: parts
                .insight
                .nonce
                .as_deref()
                .and_then(Nonce::new)
                .map(Sieve::new),
            nonce: parts.insight.nonce.unwrap_or_default(),
            beliefs: parts.insight.beliefs,
            integration: parts.insight.integration,
            front: parts.insight.front,
            offer: None,
            // Not where the last daemon began: what it claimed is claimed.
            offers: u32::from_ne_bytes(crate::random::bytes()),
            plain: None,
            queue: Queue {
                gate,
                ..Queue::default()
            },
            has_draft: false,
            leaves: (0, std::time::Instant::now()),
            look_at: None,
            late_at,
            looks: crate::look::Looks::new(),
            witness: crate::pty::witness::Witness::default(),
            next: parts.next,
            notes: parts.notes,
            note_sender: parts.note_sender,
            live,
            feed,
            mailbox,
            orders,
            clients: Clients::default(),
            input: VecDeque::new(),
            input_room,
            buffer: Vec::new(),
            deserted_until: None,
            question: super::question::Question::default(),
            keyboards_told: None,
            name_at: None,
            retry_at: None,
            backlog: VecDeque::new(),
            unwatched_since: None,
            watchers: Vec::new(),
            disposals: Vec::new(),
            status: None,
            ending: Ending::No,
        };
        // What the last daemon recorded and did not name.
        task.name(crate::recording::When::Running);
        task.looks.soon();
        task.show();
        Ok((task, handle))
    }
}

pub(super) fn size_of(session: &Session) -> ScreenSize {
    let narrow = |value: u32| u16::try_from(value).unwrap_or(u16::MAX);
    let size = ScreenSize {
        columns: narrow(session.cols),
        rows: narrow(session.rows),
    };
    size.clamped()
}

fn plan_execution(beginning: &Beginning, shell_id: ShellId, launched: &Launched) -> Execution {
    let session = &beginning.session;
    let argv = match session.is_elsewhere() {
        true => vec![b"ssh".to_vec(), session.host.clone().into_bytes()],
        false => argv(&session.shell, session.startup),
    };
    let words: Vec<String> = argv
        .iter()
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    Execution {
        shell_id,
        session: session.id.clone(),
        command: words.join(" "),
        cwd: session.cwd.clone(),
        tool_call_id: String::new(),
        tool_call_scope: String::new(),
        env: Vec::new(),
        requested_cwd: String::new(),
        timeout_ms: 0,
        sandbox: beginning.policy.clone(),
        asked_by: session.owner,
        held: false,
        phase: Phase::Running,
        launch: Some(launched.id),
        slot: 0,
        start: Some(EventIndex(0)),
        end: None,
        started_ms: now_ms(),
        ended_ms: None,
        outcome: Outcome::default(),
    }
}

fn journal_start(
    context: &Context,
    execution: &Execution,
    launched: &Launched,
) -> Result<(), String> {
    let event = Event {
        index: EventIndex(0),
        at_ms: execution.started_ms,
        shell_id: Some(execution.shell_id),
        body: EventBody::CommandStart {
            command: execution.command.clone(),
            cwd: execution.cwd.clone(),
            pid: u32::try_from(launched.child.pid).unwrap_or(0),
        },
    };
    let queued = Execution {
        phase: Phase::Queued,
        launch: None,
        start: None,
        ..execution.clone()
    };
    let changes = [
        Change::InsertExecution(queued),
        Change::StartExecution {
            shell_id: execution.shell_id,
            launch: launched.id,
            slot: 0,
            start: event.index,
            started_ms: execution.started_ms,
            cwd: execution.cwd.clone(),
        },
        Change::Event {
            session: execution.session.clone(),
            event,
        },
    ];
    let committed = context.store.commit(&changes);
    committed.map_err(|error| error.to_string())
}

/// A shell that waits behind its gate.
struct Started {
    launched: Launched,
    master: OwnedFd,
    gate: OwnedFd,
    walls: Option<Walls>,
}

async fn launch(
    context: &Arc<Context>,
    beginning: &Beginning,
    place: &Place,
) -> Result<Started, String> {
    let mut plans = 0;
    loop {
        plans += 1;
        let (setting, enclosure) = setting(context, beginning).await?;
        let (control, control_end) = match &setting.walls {
            Some(_) => walls_channel().map_err(|error| error.to_string())?.into(),
            None => None,
        }
        .unzip();
        let walls = enclosure.map(|enclosure| Walls::new(enclosure, control));
        let started = spawn(context, beginning, place, setting, &walls, control_end).await;
        let release = || walls.iter().for_each(|walls| walls.release(context));
        match started {
            Ok((launched, master, gate)) => {
                return Ok(Started {
                    launched,
                    master,
                    gate,
                    walls,
                });
            }
            Err(error) if error.is_outdated() && plans < PLANS_MAX => release(),
            Err(error) => {
                release();
                return Err(full(&error));
            }
        }
    }
}

/// Which execution it is, how large its terminal, and what its markers carry.
struct Place {
    shell_id: ShellId,
    size: ScreenSize,
    nonce: Option<String>,
}

pub(super) fn full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

async fn spawn(
    context: &Arc<Context>,
    beginning: &Beginning,
    place: &Place,
    setting: Setting,
    walls: &Option<Walls>,
    walls_control: Option<OwnedFd>,
) -> Result<(Launched, OwnedFd, OwnedFd), crate::shell::StartError> {
    let session = &beginning.session;
    let Place {
        shell_id,
        size,
        nonce,
    } = place;
    let pair = terminal::open(size.columns, size.rows)?;
    let (gate_end, gate) =
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(std::io::Error::from)?;
    let child_fds = vec![
        (0, pair.slave.try_clone()?),
        (1, pair.slave.try_clone()?),
        (2, pair.slave),
        (GATE_FD, gate_end),
    ];
    let mut held = vec![(TERMINAL_LABEL.to_owned(), pair.master.try_clone()?)];
    if let Some(control) = walls.as_ref().and_then(Walls::control) {
        held.push((WALLS_LABEL.to_owned(), control.try_clone_to_owned()?));
    }
    let name = format!("{}-{}", session.id, crate::random::nonce());
    let mut program = session.shell.path.clone().into_bytes();
    let (argv, env) = match nonce {
        _ if session.is_elsewhere() => {
            let argv = ssh_argv(context, session).map_err(std::io::Error::other)?;
            program.clone_from(&argv[0]);
            (argv, ssh_env(context))
        }
        Some(nonce) => {
            let room = context.session_dir(session).join(ROOM);
            let (shell, startup) = (&session.shell, session.startup);
            let injected = inject(shell, startup, &room, nonce, setting.env)?;
            (injected.argv, injected.env)
        }
        None => (argv(&session.shell, session.startup), setting.env),
    };
    let env = match session.is_elsewhere() {
        true => env,
        false => context.shell_env(session, env),
    };
    let plan = LaunchPlan {
        program,
        argv,
        env,
        cwd: setting.cwd.into_bytes(),
        cgroup: context.cgroup_name(&name),
        resources: context.resources(),
        takes_terminal: true,
        walls: setting.walls,
    };
    let tag = Tag::Pty {
        session: session.id.clone(),
        shell_id: *shell_id,
        nonce: nonce.clone(),
    };
    let launch = Launch {
        plan,
        child_fds,
        held,
        tag: tag.encode(),
        walls_control,
    };
    let launched = context.keeper.spawn(launch).await?;
    Ok((launched, pair.master, gate))
}

pub(super) fn open_gate(gate: OwnedFd) -> std::io::Result<()> {
    rustix::io::write(&gate, GATE_WORD)?;
    Ok(())
}

/// Where and behind which walls the shell starts.
pub(super) async fn setting(
    context: &Arc<Context>,
    beginning: &Beginning,
) -> Result<(Setting, Option<Enclosure>), String> {
    let session = &beginning.session;
    let mut env = session.env.clone();
    env.retain(|entry| !STALE.contains(&variable_name(entry)));
    if !has_walls(&beginning.policy) {
        let cwd = match session.is_elsewhere() {
            true => "/".to_owned(),
            false => existing_directory(&session.cwd),
        };
        let walls = None;
        return Ok((Setting { env, cwd, walls }, None));
    }
    let workspace = &beginning.workspace;
    let enclosure = plan_walls(context, session, &beginning.policy, workspace).await?;
    let inherit = &context.settings.sandboxing.inherit;
    env.retain(|entry| {
        let name = variable_name(entry);
        let mut patterns = inherit.iter();
        patterns.any(|pattern| glass_sandbox::matches(pattern.as_bytes(), name))
            || !beginning.ours.contains(entry)
    });
    let setting = Setting {
        env: enclosure.plan.env.apply(&env),
        cwd: enclosure.directory(&session.cwd, &beginning.workspace),
        walls: enclosure.walls(),
    };
    Ok((setting, Some(enclosure)))
}
