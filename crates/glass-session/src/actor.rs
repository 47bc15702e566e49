//! The one task that owns a session. Everybody else sends it messages.
//!
//! It waits for callers, for its shell's reports, for output, for the keeper
//! and for the clock; asks `State` what follows; and does that in order:
//! journal first, then the world, then the readers.

mod adopt;
mod approvals;
mod audit;
mod begin;
mod child;
mod cut;
mod eager;
mod end;
mod finish;
mod input;
mod journal;
mod launches;
mod line;
mod look;
mod message;
mod own_terminal;
mod planted;
mod receipt;
mod remote;
mod remote_terminal;
mod rooms;
mod wake;
mod walls;

use crate::context::Context;
use crate::feed::Feed;
use crate::gate::SessionGate;
use crate::look::Looks;
use crate::recording::Recording;
use crate::redaction::Secrets;
use crate::room::{Room, room_key};
use crate::routes::Note;
use crate::state::{Effect, Input, RoomId, State, Way};
use eager::Eager;
use glass_model::{
    Approval, EventIndex, Execution, LaunchId, Outcome, SandboxPolicy, Session, ShellId,
};
use glass_sandbox::Workspace;
use glass_spawn::Launched;
use glass_store::WriteError;
use launches::Launches;
use receipt::Cost;
use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context as TaskContext, Poll};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Sleep;

pub(crate) use adopt::{Child, Inheritance, launched};
pub(crate) use audit::{asked_by, how, in_short};
pub(crate) use cut::{Cut, CutOrder};
pub(crate) use end::tree_end;
pub(crate) use finish::ORPHANS_WITHIN;
pub(crate) use input::{NotTaken, Taken, Typed};
pub(crate) use message::{Accepted, Message, Refusal};
pub(crate) use planted::Trust;
pub(crate) use walls::make_tmp;

/// The room of commands that ask for no rights of their own.
const FIRST_ROOM: RoomId = RoomId(0);

/// Output is gathered for this long before it is published.
const BATCH_MS: u64 = 4;

/// Output is published earlier when this much has gathered.
const BATCH_BYTES_MAX: u64 = 1 << 20;

/// A command that is not done by then is waited for; most are, and then the
/// price of waiting is saved.
const WATCH_AFTER_MS: u64 = 1;

/// A shell that has been idle for this long is asked what it exports, so that
/// another one could take its place.
const SNAPSHOT_AFTER_MS: u64 = 40;

/// How often a write that failed is tried again.
const RETRY_MS: u64 = 500;

/// An execution that is over and in the journal, or whose end could not be
/// written.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The execution with its outcome; an error when the journal cannot be
    /// written.
    pub execution: Result<Arc<Execution>, String>,
    /// Where the session is now.
    pub cwd: String,
    /// What it had written when it ended; absent where that has to be looked
    /// up.
    pub output: Option<OutputEnd>,
}

/// How far an execution's output had come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputEnd {
    /// Bytes of standard output.
    pub stdout: u64,
    /// Bytes of standard error.
    pub stderr: u64,
    /// Bytes of both, with those that were dropped.
    pub position: u64,
}

/// What others may read of a session without asking it.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    pub(crate) session: Session,
    pub(crate) running: Option<(ShellId, String)>,
    pub(crate) queued: usize,
    pub(crate) last: Option<(ShellId, String, Option<i32>)>,
    /// How much its shell tells of what it does, and why no more.
    pub(crate) integration: String,
    /// What was seen of its processes, where somebody looks.
    pub(crate) seen: crate::look::Seen,
    /// What waits for a person, oldest first.
    pub(crate) approvals: Vec<Approval>,
    /// What is taken out of its output.
    pub(crate) secrets: Secrets,
}

/// The command that runs now.
struct Running {
    shell_id: ShellId,
    recording: Recording,
    slot: u32,
    launched: Launched,
    /// The clock of the process table when it began.
    since_ticks: u64,
    deadline: Option<Instant>,
    /// How often memory had run out before it began, where that is counted.
    oom_before: Option<u64>,
    /// Where callers write, if they may and have not ended it.
    stdin: Option<OwnedFd>,
    /// Where its relay is told to stop it, if it runs elsewhere.
    relay: Option<OwnedFd>,
    /// What it uses.
    cost: Cost,
}

/// Pipes of an ended execution that something it left behind still holds.
struct Tail {
    recording: Recording,
    slot: u32,
    launch: LaunchId,
}

/// The end of an execution.
#[derive(Clone)]
struct End {
    shell_id: ShellId,
    outcome: Outcome,
    index: EventIndex,
    at_ms: i64,
    output: OutputEnd,
}

/// What a batch of changes is followed by, once it is written.
#[derive(Default)]
struct Aftermath {
    events: Vec<glass_model::Event>,
    finished: Option<End>,
}

pub(crate) struct Actor {
    context: Arc<Context>,
    live: Arc<Mutex<Live>>,
    feed: Arc<Feed>,
    gate: Arc<SessionGate>,
    dir: PathBuf,
    state: State,
    session: Session,
    mailbox: mpsc::Receiver<Message>,
    notes: mpsc::UnboundedReceiver<Note>,
    note_sender: mpsc::UnboundedSender<Note>,
    /// The room that is attended to, and those that are not.
    room: Room,
    parked: Vec<Room>,
    rooms_made: u32,
    /// The rights of commands that ask for none of their own.
    policy: SandboxPolicy,
    /// What a sandbox of the session is for; none where it is gone.
    workspace: Option<Arc<Workspace>>,
    /// What the session was made with; nothing that a command did is in it.
    pristine: Vec<Vec<u8>>,
    /// What of that is from our own environment.
    ours: Vec<Vec<u8>>,
    /// Which repositories its commands may believe.
    trust: Trust,
    running: Option<Running>,
    tails: Vec<Tail>,
    launches: Launches,
    /// Accepted executions that are not over.
    accepted: HashMap<ShellId, Execution>,
    /// What let accepted executions pass, for the audit.
    passed: HashMap<ShellId, String>,
    /// What waits for a person, with the end of that, oldest first.
    approvals: Vec<(Approval, Instant)>,
    watchers: HashMap<ShellId, Vec<oneshot::Sender<Finished>>>,
    cancels: Vec<(ShellId, oneshot::Sender<bool>)>,
    disposals: Vec<oneshot::Sender<()>>,
    /// Where the shell says that the command left it.
    reported_cwd: Option<String>,
    /// The execution that is being accepted and is not in the journal yet.
    fresh: Option<ShellId>,
    /// Why the journal refused the command that was about to begin.
    refused: Option<WriteError>,
    /// Whether there is a note that the current command has begun.
    begun_noted: bool,
    /// The command of which there is a note that it is being ended.
    abort_noted: Option<ShellId>,
    next: EventIndex,
    last_flush: Instant,
    flush_at: Option<Instant>,
    /// When the output of the current command is to be waited for.
    watch_at: Option<Instant>,
    eager: Eager,
    /// When the current command's memory is looked at next.
    sample_at: Option<Instant>,
    snapshot_at: Option<Instant>,
    looks: Looks,
    backlog: VecDeque<(Vec<glass_store::Change>, Aftermath)>,
    retry_at: Option<Instant>,
    clock: Pin<Box<Sleep>>,
    over: bool,
}

enum Wake {
    Message(Message),
    Orphaned,
    Note(Note),
    Report,
    Output,
    Clock,
}

/// What an actor is made of.
pub(crate) struct Parts {
    pub(crate) context: Arc<Context>,
    pub(crate) session: Session,
    /// The rights of its commands that ask for none of their own.
    pub(crate) policy: SandboxPolicy,
    /// What its sandboxes are for.
    pub(crate) workspace: Option<Arc<Workspace>>,
    /// An environment that no command has had a hand in.
    pub(crate) pristine: Vec<Vec<u8>>,
    /// What of it is from our own environment.
    pub(crate) ours: Vec<Vec<u8>>,
    /// Which repositories its commands may believe.
    pub(crate) trust: Trust,
    pub(crate) next: EventIndex,
    pub(crate) feed: Arc<Feed>,
    pub(crate) live: Arc<Mutex<Live>>,
    /// Judges its commands before they run.
    pub(crate) gate: Arc<SessionGate>,
    pub(crate) mailbox: mpsc::Receiver<Message>,
}

impl Actor {
    pub(crate) fn new(parts: Parts) -> Actor {
        let Parts {
            context,
            session,
            policy,
            workspace,
            pristine,
            ours,
            trust,
            next,
            feed,
            live,
            gate,
            mailbox,
        } = parts;
        let (note_sender, notes) = mpsc::unbounded_channel();
        let dir = context.session_dir(&session);
        Actor {
            room: Room::new(FIRST_ROOM, room_key(&policy, &session.workspace_root), &dir),
            parked: Vec::new(),
            policy,
            workspace,
            ours,
            trust,
            rooms_made: 0,
            pristine,
            dir,
            state: State::new(session.mode, session.auto, session.startup),
            context,
            live,
            feed,
            gate,
            session,
            mailbox,
            notes,
            note_sender,
            running: None,
            tails: Vec::new(),
            launches: Launches::default(),
            accepted: HashMap::new(),
            passed: HashMap::new(),
            approvals: Vec::new(),
            watchers: HashMap::new(),
            cancels: Vec::new(),
            disposals: Vec::new(),
            reported_cwd: None,
            fresh: None,
            refused: None,
            begun_noted: false,
            abort_noted: None,
            next,
            last_flush: Instant::now(),
            flush_at: None,
            watch_at: None,
            eager: Eager::default(),
            sample_at: None,
            snapshot_at: None,
            looks: Looks::new(),
            backlog: VecDeque::new(),
            retry_at: None,
            clock: Box::pin(tokio::time::sleep(Duration::ZERO)),
            over: false,
        }
    }

    /// Lives until the session is over.
    pub(crate) async fn run(mut self, inheritance: Option<Inheritance>) {
        if let Some(inheritance) = inheritance {
            self.inherit(inheritance).await;
        }
        if self.session.chosen.is_empty() {
            let effects = self.state.warm_up(FIRST_ROOM);
            self.perform(effects).await;
        }
        if !self.session.ephemeral {
            // Which branch it is on is known before it runs anything.
            self.looks.soon();
        }
        // A shell that an agent has chosen, or given variables that it obeys,
        // executes nothing before a person has allowed something.
        while !self.over {
            self.set_clock();
            let wake = match self.is_answered_at_once().await {
                true => Wake::Report,
                false => std::future::poll_fn(|cx| self.poll_wake(cx)).await,
            };
            match wake {
                Wake::Message(message) => self.on_message(message).await,
                // The engine is gone, and with it the daemon's runtime: what
                // runs goes on under the keeper.
                Wake::Orphaned => return,
                Wake::Note(note) => self.on_note(note).await,
                Wake::Report => self.on_report().await,
                Wake::Output => self.on_output().await,
                Wake::Clock => self.on_clock().await,
            }
        }
        // Nobody is let in any more, but what is to be written still is.
        self.mailbox.close();
        while !self.backlog.is_empty() {
            tokio::time::sleep(Duration::from_millis(RETRY_MS)).await;
            self.retry_backlog();
        }
    }

    /// The next thing to attend to; what is cheapest to miss comes last.
    fn poll_wake(&mut self, cx: &mut TaskContext<'_>) -> Poll<Wake> {
        if let Poll::Ready(Some(note)) = self.notes.poll_recv(cx) {
            return Poll::Ready(Wake::Note(note));
        }
        if self
            .room
            .shell
            .as_ref()
            .is_some_and(|shell| shell.poll_report(cx))
        {
            return Poll::Ready(Wake::Report);
        }
        match self.mailbox.poll_recv(cx) {
            Poll::Ready(Some(message)) => return Poll::Ready(Wake::Message(message)),
            Poll::Ready(None) => return Poll::Ready(Wake::Orphaned),
            Poll::Pending => {}
        }
        let running = self.running.iter().map(|running| &running.recording);
        let tails = self.tails.iter().map(|tail| &tail.recording);
        let mut readable = false;
        for recording in running.chain(tails) {
            readable |= recording.poll_readable(cx);
        }
        if readable {
            return Poll::Ready(Wake::Output);
        }
        self.clock.as_mut().poll(cx).map(|()| Wake::Clock)
    }

    fn set_clock(&mut self) {
        let deadlines = [
            self.flush_at,
            self.watch_at,
            self.sample_at,
            self.snapshot_at,
            self.looks.due(),
            self.retry_at,
            self.approval_deadline(),
            self.running.as_ref().and_then(|running| running.deadline),
            self.room.shell.as_ref().and_then(|shell| shell.ready_by),
        ];
        let next = deadlines.into_iter().flatten().min();
        // Far enough to be never, near enough for the timer.
        let next = next.unwrap_or_else(|| Instant::now() + Duration::from_secs(86_400));
        let next = tokio::time::Instant::from_std(next);
        if self.clock.deadline() != next {
            self.clock.as_mut().reset(next);
        }
    }

    /// Asks the state what follows from `input`, and does it.
    async fn take(&mut self, input: Input) {
        let effects = self.state.step(input);
        self.perform(effects).await;
    }

    async fn perform(&mut self, effects: Vec<Effect>) {
        let mut effects = VecDeque::from(effects);
        while let Some(effect) = effects.pop_front() {
            let followed_by = match effect {
                Effect::StartShell(room, startup) => self.start_shell(room, startup).await,
                Effect::Attend(room) => {
                    self.enter_room(room).await;
                    None
                }
                Effect::Begin(id, Way::Warm) => self.begin_warm(id).await,
                Effect::Begin(id, Way::Line) => self.begin_line(id).await,
                Effect::EndCommand(id, way) => self.end_command(id, way),
                Effect::EndSession => self.end_session(),
                Effect::Finish(id, outcome) => self.finish(id, outcome),
                Effect::BecomeLine => self.become_line(),
                Effect::Remark(status, detail) => self.remark(status, detail),
                Effect::Close => self.close(),
            };
            if let Some(input) = followed_by {
                effects.extend(self.state.step(input));
            }
        }
        self.show();
    }

    /// Updates what others see of the session.
    fn show(&self) {
        let running = self.state.current().map(|id| {
            let command = self
                .accepted
                .get(&id)
                .map(|execution| execution.command.clone());
            (id, command.unwrap_or_default())
        });
        let mut live = lock(&self.live);
        live.running = running;
        live.queued = self.state.queued();
        let waiting = || self.approvals.iter().map(|(approval, _)| approval);
        let same = live.approvals.iter().map(|known| known.id);
        if !same.eq(waiting().map(|approval| approval.id)) {
            live.approvals = waiting().cloned().collect();
        }
        live.session.cwd.clone_from(&self.session.cwd);
        live.session.mode = self.session.mode;
        live.session.active_ms = self.session.active_ms;
        live.session.disposed_ms = self.session.disposed_ms;
        drop(live);
        self.context.note_change();
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The values behind these locks are replaced whole, so a panic elsewhere
    // leaves them usable.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A directory as the shell names it; none where the shell does not know. A
/// name that is not UTF-8 is shown with replacement characters, and a shell
/// that has to begin anew there begins in the nearest directory above.
fn absolute(cwd: &[u8]) -> Option<String> {
    cwd.starts_with(b"/")
        .then(|| String::from_utf8_lossy(cwd).into_owned())
}
