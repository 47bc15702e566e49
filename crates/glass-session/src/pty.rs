//! Sessions on a terminal: one interactive shell, and everybody who looks at it.
//!
//! Theory of operation. The keeper holds the terminal, so the shell outlives
//! us. One task reads it: what comes is first appended to the output file of
//! one long execution, then fed to a screen on this side, then queued for the
//! clients. A client that comes, or that was too slow, is drawn the screen. The
//! next daemon takes the terminal back from the keeper, the last saved screen
//! from the session's directory, and what came after that from the output file.
//!
//! A shell that can is made to mark its commands (`integration`). Its markers are
//! taken out of the stream before anybody has it, and are all that is believed
//! (`beliefs`): each command becomes an execution of the session (`front`). A
//! command that somebody asks for waits (`queue`) until the shell takes it at its
//! prompt (`handover`), or runs without it (`plain`).

mod adopt;
mod argv;
mod beliefs;
mod clients;
mod close;
mod display;
mod flood;
mod front;
mod handover;
mod integration;
mod journal;
mod late;
mod look;
mod nu;
mod orders;
mod plain;
mod postamble;
mod preamble;
mod question;
mod queue;
mod reader;
mod remote;
mod sizing;
mod start;
mod walls;
mod witness;

use crate::actor::{Finished, Live, Message, lock};
use crate::context::Context;
use crate::feed::Feed;
use crate::habits::Habits;
use crate::look::Looks;
use crate::recording::Recording;
use crate::routes::Note;
use beliefs::Beliefs;
use bytes::Bytes;
use clients::Clients;
use display::Display;
use front::Front;
use glass_model::{Event, EventIndex, Execution, Session, WaitStatus};
use glass_sandbox::Workspace;
use glass_spawn::Launched;
use glass_store::Change;
use glass_vt::sieve::{Sieve, Sifted};
use handover::Offer;
use plain::{Plain, Stirred};
use question::Question;
use queue::Queue;
use reader::{Reader, Reading};
use sizing::Sizing;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::{Semaphore, mpsc, oneshot};
use walls::Walls;
use witness::Witness;

pub(crate) use adopt::{Adoption, adopt};
pub(crate) use clients::{Client, ClientId, Taken};
pub(crate) use orders::{Attached, Order, TerminalHandle, may_type};
pub(crate) use start::{Beginning, Ready, begin};

/// A terminal that no process has open is looked at again after so much time.
const DESERTED_LOOK: Duration = Duration::from_millis(200);

/// Orders that may wait.
const ORDERS_MAX: usize = 256;

/// The label under which the keeper holds the terminal.
const TERMINAL_LABEL: &str = "tty";

/// What a task is made of.
struct Parts {
    context: Arc<Context>,
    session: Session,
    execution: Execution,
    launched: Launched,
    master: OwnedFd,
    recording: Recording,
    display: Display,
    sizing: Sizing,
    walls: Option<Walls>,
    insight: Insight,
    workspace: Option<Arc<Workspace>>,
    ours: Vec<Vec<u8>>,
    habits: Habits,
    next: EventIndex,
    notes: mpsc::UnboundedReceiver<Note>,
    note_sender: mpsc::UnboundedSender<Note>,
}

/// What is known of the shell's commands from the beginning.
#[derive(Default)]
struct Insight {
    /// What its markers carry, where it writes some.
    nonce: Option<String>,
    beliefs: Beliefs,
    front: Option<Front>,
    integration: String,
}

/// The one task that owns a terminal.
pub(crate) struct Task {
    context: Arc<Context>,
    session: Session,
    execution: Execution,
    launched: Launched,
    master: AsyncFd<OwnedFd>,
    reader: Reader,
    recording: Recording,
    display: Display,
    sizing: Sizing,
    walls: Option<Walls>,
    workspace: Option<Arc<Workspace>>,
    ours: Vec<Vec<u8>>,
    habits: Habits,
    nonce: String,
    /// Takes our own markers out, where the shell writes some.
    sieve: Option<Sieve>,
    beliefs: Beliefs,
    integration: String,
    /// The command that runs in front of the shell.
    front: Option<Front>,
    /// The command that the shell may take at its prompt.
    offer: Option<Offer>,
    offers: u32,
    /// The command that runs without the shell.
    plain: Option<Plain>,
    queue: Queue,
    /// Whether the shell has put a person's half-written line aside.
    has_draft: bool,
    /// Keys with which the shell leaves its prompt, and when the last was typed.
    leaves: (usize, Instant),
    look_at: Option<Instant>,
    /// When integration has taken too long.
    late_at: Option<Instant>,
    looks: Looks,
    witness: Witness,
    next: EventIndex,
    notes: mpsc::UnboundedReceiver<Note>,
    note_sender: mpsc::UnboundedSender<Note>,
    dir: PathBuf,
    live: Arc<Mutex<Live>>,
    feed: Arc<Feed>,
    mailbox: mpsc::Receiver<Message>,
    orders: mpsc::Receiver<Order>,
    clients: Clients,
    /// What was typed and the terminal has not taken.
    input: VecDeque<Typed>,
    /// How much more may be typed.
    input_room: Arc<Semaphore>,
    buffer: Vec<u8>,
    deserted_until: Option<Instant>,
    question: Question,
    /// How many may type, as everybody was told.
    keyboards_told: Option<usize>,
    name_at: Option<Instant>,
    retry_at: Option<Instant>,
    backlog: VecDeque<(Vec<Change>, Vec<Event>)>,
    /// Since when nobody looks.
    unwatched_since: Option<Instant>,
    watchers: Vec<oneshot::Sender<Finished>>,
    disposals: Vec<oneshot::Sender<()>>,
    /// How the shell ended, once it has.
    status: Option<WaitStatus>,
    ending: Ending,
}

/// How far the end of a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// It goes on.
    No,
    /// Its processes are being ended, because somebody disposed of it or because
    /// its shell has ended.
    Processes { disposed: bool },
    /// None of its processes is left.
    Gone { disposed: bool, since: Instant },
}

/// Something on its way to the programs.
enum Typed {
    /// A client typed it, and had room made for it.
    Keys(Bytes),
    /// We say it.
    Said(Bytes),
}

enum Wake {
    Message(Message),
    Orphaned,
    Order(Order),
    Note(Note),
    Read(Reading),
    Writable,
    Plain(Stirred),
    Clock,
}

impl Task {
    /// Lives until the session is over.
    pub(crate) async fn run(mut self) {
        loop {
            self.look_after_clients();
            self.advance();
            self.give_draft_back();
            if self.is_over() {
                return self.close().await;
            }
            match self.wait().await {
                Wake::Message(message) => self.on_message(message),
                // The daemon goes; the shell stays with the keeper.
                Wake::Orphaned => return self.leave(),
                Wake::Order(order) => self.on_order(order),
                Wake::Note(note) => self.on_note(note),
                Wake::Read(reading) => self.on_read(reading),
                Wake::Writable => self.write_input(),
                Wake::Plain(stirred) => self.on_stirred(stirred),
                Wake::Clock => self.on_clock(),
            }
        }
    }

    /// The next thing to attend to; what is cheapest to miss comes last.
    async fn wait(&mut self) -> Wake {
        let deserted = self.deserted_until.is_some();
        let has_input = !self.input.is_empty() && !deserted;
        let clock = self.next_deadline();
        tokio::select! {
            biased;
            Some(note) = self.notes.recv() => Wake::Note(note),
            message = self.mailbox.recv() => message.map_or(Wake::Orphaned, Wake::Message),
            Some(order) = self.orders.recv() => Wake::Order(order),
            writable = self.master.writable(), if has_input => {
                drop(writable);
                Wake::Writable
            }
            reading = self.reader.turn(&self.master, &mut self.buffer), if !deserted => {
                Wake::Read(reading)
            }
            stirred = Plain::stir(&mut self.plain) => Wake::Plain(stirred),
            () = tokio::time::sleep_until(clock.into()) => Wake::Clock,
        }
    }

    fn next_deadline(&self) -> Instant {
        let deadlines = [
            self.name_at,
            self.retry_at,
            self.deserted_until,
            self.display.due(),
            self.display.rest_due(),
            self.sizing.due(),
            self.question.due(),
            self.close_by(),
            self.abandoned_at(),
            self.handover_due(),
            self.late_at,
            self.queue.due(),
            self.looks.due(),
            self.witness.due(),
            self.front.as_ref().and_then(Front::due),
            self.plain.as_ref().and_then(Plain::due),
        ];
        let next = deadlines.into_iter().flatten().min();
        // Far enough to be never, near enough for the timer.
        next.unwrap_or_else(|| Instant::now() + Duration::from_secs(86_400))
    }

    fn on_clock(&mut self) {
        let now = Instant::now();
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if is_due(self.deserted_until) {
            self.deserted_until = None;
        }
        if is_due(self.retry_at) {
            self.write_backlog();
        }
        if is_due(self.name_at) {
            self.name(crate::recording::When::Running);
        }
        if is_due(self.display.due()) {
            self.show_frame();
        }
        if is_due(self.display.rest_due()) {
            self.rest(now);
        }
        if let Some(size) = self.sizing.take_due(now) {
            self.apply_size(size);
        }
        if is_due(self.question.due()) {
            self.look_for_question();
        }
        if is_due(self.abandoned_at()) {
            self.abandon();
        }
        if self.looks.is_due(now) {
            self.look();
        }
        if is_due(self.witness.due()) {
            self.ask_kernel(now);
        }
        self.tend_front(now);
        self.tend_plain(now);
        self.tend_offer(now);
        self.note_late(now);
        self.end_unanswered(now);
    }

    /// Gives memory back, if nothing has come for a while.
    fn rest(&mut self, now: Instant) {
        if self.display.rest(now) {
            self.buffer = Vec::new();
            self.context.thrift.freed();
        }
    }

    fn on_read(&mut self, reading: Reading) {
        if reading == Reading::Deserted {
            self.deserted_until = Some(Instant::now() + DESERTED_LOOK);
        }
        self.take_output();
        // Who writes without end must not keep the clock from its work.
        if self.next_deadline() <= Instant::now() {
            self.on_clock();
        }
    }

    /// Output goes to the file, then to the screen, then to the clients; what the
    /// shell says to us alone, to none of them.
    fn take_output(&mut self) {
        if self.buffer.is_empty() {
            return;
        }
        self.looks.wrote();
        let bytes = std::mem::take(&mut self.buffer);
        match self.sieve.as_mut().map(|sieve| sieve.push(&bytes)) {
            None => self.take_bytes(&bytes),
            Some(parts) => {
                for part in parts {
                    match part {
                        Sifted::Piece(range) => self.take_bytes(&bytes[range]),
                        Sifted::Bytes(held) => self.take_bytes(&held),
                        Sifted::Marker(marker) => self.believe(marker),
                    }
                }
            }
        }
        self.buffer = bytes;
        self.buffer.clear();
        self.show_frame();
        let size = self.sizing.current();
        self.display
            .save_at_times(self.recording.recorded_bytes(), size);
    }

    fn take_bytes(&mut self, bytes: &[u8]) {
        self.record(bytes);
        self.beliefs.shown(bytes);
        let now = Instant::now();
        self.question.wrote(bytes, now);
        self.doubt(now);
        let replies = self.display.feed(bytes, now);
        if !replies.is_empty() {
            self.say(replies.into());
        }
    }

    /// Nothing more will come that could make a marker of what is held back.
    fn take_rest(&mut self) {
        let rest = self.sieve.as_mut().map(Sieve::finish).unwrap_or_default();
        if !rest.is_empty() {
            self.take_bytes(&rest);
            self.show_frame();
        }
    }

    fn show_frame(&mut self) {
        let frame = self.display.frame(Instant::now());
        if !frame.is_empty() {
            self.clients.output(&frame);
        }
    }

    /// Updates what others see of the session.
    fn show(&self) {
        let size = self.sizing.current();
        let front = self.front.as_ref().map(|front| &front.execution);
        let plain = self.plain.as_ref().map(Plain::execution);
        // Of a shell that tells nothing, all that is known is that it runs.
        let shell = (!self.beliefs.is_ready()).then_some(&self.execution);
        let running = front.or(plain).or(shell);
        let running = running.filter(|_| self.session.disposed_ms.is_none());
        let mut live = lock(&self.live);
        live.running = running.map(|run| (run.shell_id, run.command.clone()));
        live.queued = self.queue.waiting.len() + usize::from(self.offer.is_some());
        live.approvals = self
            .queue
            .approvals
            .iter()
            .map(|(one, _)| one.clone())
            .collect();
        live.integration.clone_from(&self.integration);
        live.seen.clone_from(self.looks.seen());
        live.session.cwd.clone_from(&self.session.cwd);
        live.session.active_ms = self.session.active_ms;
        live.session.disposed_ms = self.session.disposed_ms;
        live.session.cols = u32::from(size.columns);
        live.session.rows = u32::from(size.rows);
        drop(live);
        self.context.note_change();
    }

    /// The same where only time has passed.
    fn show_activity(&self) {
        lock(&self.live).session.active_ms = self.session.active_ms;
    }
}

/// Writes what the terminal takes; says how much, or nothing where it is full.
fn write_some(master: &AsyncFd<OwnedFd>, bytes: &[u8]) -> std::io::Result<usize> {
    let written = master.try_io(Interest::WRITABLE, |fd| {
        Ok(rustix::io::retry_on_intr(|| rustix::io::write(fd, bytes))?)
    });
    match written {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(0),
        written => written,
    }
}
