//! What one connection knows: its own session, where each command's output was
//! last shown, and which calls are under way.

use super::daemon::{Daemon, Way};
use super::elicit::Outcome;
use super::farewells::Farewells;
use super::follow::Execution;
use super::logs::Wanted;
use super::place::Place;
use super::request::Ask;
use super::same::Runs;
use super::watching::Watched;
use crate::config::Settings;
use crate::error::{Failure, Kind};
use glass_model::Role;
use glass_proto::shellglass::v1::CancelRequest;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit, watch};

/// Calls that may wait for a command at once. A session's queue in the daemon
/// holds 64; the others wait here.
const CALLS_MAX: usize = 32;

/// Calls that may wait for their turn; more are told so at once.
const TURNS_WAITING_MAX: usize = 256;

/// How long a call waits for its turn.
const TURN_WAIT: Duration = Duration::from_secs(45);

/// Commands that are remembered. The oldest are forgotten; what is forgotten is
/// read from its beginning again.
const COMMANDS_MAX: usize = 1024;

/// Sessions whose directory is remembered.
const DIRECTORIES_MAX: usize = 256;

/// Calls that were answered before their command began.
const WAITING_MAX: usize = 32;

/// What is known of a command that this connection began or read.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// The byte after the last one shown.
    pub shown: u64,
    /// The command, if it runs in the background.
    pub background: Option<String>,
}

/// A call whose command has not begun, and may be asked for again.
pub(super) struct Waiting {
    pub ask: Ask,
    pub execution: Execution,
}

/// What one connection knows.
pub(super) struct State {
    pub settings: Arc<Settings>,
    /// As whom the daemon knows the client.
    pub role: Role,
    pub daemon: Arc<Daemon>,
    /// Where and as whom its commands run. Over HTTP it is known with the first
    /// call.
    place: OnceLock<Place>,
    /// This connection's session. Held while one is made, so that two first
    /// calls do not make two.
    pub own: tokio::sync::Mutex<Option<String>>,
    commands: Mutex<BTreeMap<u32, Known>>,
    directories: Mutex<BTreeMap<String, String>>,
    waiting: Mutex<Vec<Waiting>>,
    /// What ran before.
    runs: Mutex<Runs>,
    /// What the client was asked in a person's stead, by the approval's name.
    questions: Mutex<BTreeMap<String, watch::Receiver<Option<Outcome>>>>,
    /// What cancels each call that a client waits for, by its key.
    under_way: Mutex<BTreeMap<String, CancelRequest>>,
    turns: Semaphore,
    /// Room to wait for a turn.
    lobby: Semaphore,
    /// Over HTTP, which connections were ended by their clients.
    farewells: Option<Arc<Farewells>>,
    /// What the client wants to be told beside its answers.
    pub wanted_logs: Wanted,
    /// Resources that the client watches.
    pub watched: Watched,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is inside is whole after every statement, whoever panicked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    pub(super) fn new(settings: Arc<Settings>, role: Role, way: Way) -> State {
        State {
            settings,
            role,
            daemon: Arc::new(Daemon::new(way)),
            place: OnceLock::new(),
            own: tokio::sync::Mutex::new(None),
            commands: Mutex::default(),
            directories: Mutex::default(),
            waiting: Mutex::default(),
            runs: Mutex::default(),
            questions: Mutex::default(),
            under_way: Mutex::default(),
            turns: Semaphore::new(CALLS_MAX),
            lobby: Semaphore::new(TURNS_WAITING_MAX),
            farewells: None,
            wanted_logs: Wanted::default(),
            watched: Watched::default(),
        }
    }

    /// For connections that may go before their clients have said farewell.
    pub(super) fn with_farewells(mut self, farewells: Arc<Farewells>) -> State {
        self.farewells = Some(farewells);
        self
    }

    /// Whether what was begun goes on without the connection: it made room for
    /// another, and its client has not ended it.
    pub(super) fn outlives_connection(&self) -> bool {
        let task = self.place.get().map(|place| place.task.as_str());
        let said = |farewells: &Arc<Farewells>| task.is_some_and(|task| farewells.has(task));
        self.farewells.as_ref().is_some_and(|it| !said(it))
    }

    /// Says where this connection's commands run. The first word counts.
    pub(super) fn settle(&self, place: impl FnOnce() -> Place) {
        self.place.get_or_init(place);
    }

    /// Where this connection's commands run.
    pub(super) fn place(&self) -> Result<&Place, Failure> {
        let unknown = || Failure::new(Kind::Broken, "this connection has no name yet");
        self.place.get().ok_or_else(unknown)
    }

    /// A call's turn. Few calls wait for the daemon at once, so that a client
    /// with many cannot fill a session's queue.
    pub(super) async fn turn(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<SemaphorePermit<'_>, Failure> {
        let Ok(_waiting) = self.lobby.try_acquire() else {
            let message = format!("{CALLS_MAX} calls are under way and too many wait");
            return Err(Failure::new(Kind::Failed, message).hint("call again when some have ended"));
        };
        let turn = tokio::select! {
            biased;
            () = context.ct.cancelled() => return Err(given_up()),
            turn = tokio::time::timeout(TURN_WAIT, self.turns.acquire()) => turn,
        };
        match turn {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) => Err(given_up()),
            Err(_) => {
                let message = format!("{CALLS_MAX} calls are under way and none has ended");
                Err(Failure::new(Kind::Failed, message)
                    .hint("wait for some of them, or give them a smaller yield_ms"))
            }
        }
    }

    /// What is known of a command.
    pub(super) fn known(&self, shell_id: u32) -> Known {
        lock(&self.commands)
            .get(&shell_id)
            .cloned()
            .unwrap_or_default()
    }

    /// The last commands in the background, the newest first.
    pub(super) fn background(&self, most: usize) -> Vec<(u32, String)> {
        let commands = lock(&self.commands);
        let newest = commands.iter().rev();
        let background = newest.filter_map(|(id, known)| Some((*id, known.background.clone()?)));
        background.take(most).collect()
    }

    /// Notes something about a command.
    pub(super) fn note(&self, shell_id: u32, change: impl FnOnce(&mut Known)) {
        let mut commands = lock(&self.commands);
        change(commands.entry(shell_id).or_default());
        if commands.len() > COMMANDS_MAX {
            commands.pop_first();
        }
    }

    /// The directory that a session was last seen in.
    pub(super) fn directory(&self, session: &str) -> Option<String> {
        lock(&self.directories).get(session).cloned()
    }

    /// Notes a session's directory and gives the one before.
    pub(super) fn moved(&self, session: &str, directory: &str) -> Option<String> {
        let mut directories = lock(&self.directories);
        let before = directories.insert(session.to_owned(), directory.to_owned());
        if directories.len() > DIRECTORIES_MAX {
            directories.pop_first();
        }
        before
    }

    /// What ran before.
    pub(super) fn runs<T>(&self, change: impl FnOnce(&mut Runs) -> T) -> T {
        change(&mut lock(&self.runs))
    }

    /// Keeps a call whose command has not begun.
    pub(super) fn keep(&self, waiting: Waiting) {
        let mut calls = lock(&self.waiting);
        if calls.len() == WAITING_MAX {
            calls.remove(0);
        }
        calls.push(waiting);
    }

    /// The kept call that asked for the same.
    pub(super) fn kept(&self, ask: &Ask) -> Option<Execution> {
        let mut calls = lock(&self.waiting);
        let at = calls.iter().position(|call| call.ask == *ask)?;
        Some(calls.remove(at).execution)
    }

    /// What comes of a question that the client is showing, or has seen answered.
    pub(super) fn asked(&self, approval: &str) -> Option<watch::Receiver<Option<Outcome>>> {
        let mut questions = lock(&self.questions);
        // One that was put away, or whose answer did not count, may be asked again.
        questions.retain(|_, outcome| matches!(&*outcome.borrow(), None | Some(Outcome::Answered)));
        questions.get(approval).cloned()
    }

    /// Notes a question that the client is shown.
    pub(super) fn asks(&self, approval: &str, outcome: watch::Receiver<Option<Outcome>>) {
        let mut questions = lock(&self.questions);
        questions.insert(approval.to_owned(), outcome);
        if questions.len() > WAITING_MAX {
            questions.pop_first();
        }
    }

    /// Says that a client waits for a call.
    pub(super) fn enter(&self, key: &str, cancel: CancelRequest) -> UnderWay<'_> {
        lock(&self.under_way).insert(key.to_owned(), cancel);
        UnderWay {
            state: self,
            key: key.to_owned(),
        }
    }

    /// The client has gone: nobody waits for these any more. What runs in the
    /// background goes on.
    pub(super) async fn leave(&self) {
        // Whoever still waits for a turn begins nothing any more.
        self.turns.close();
        self.watched.clear();
        if self.outlives_connection() {
            return;
        }
        let mut cancels: Vec<CancelRequest> = std::mem::take(&mut *lock(&self.under_way))
            .into_values()
            .collect();
        let kept = std::mem::take(&mut *lock(&self.waiting));
        cancels.extend(kept.iter().map(|call| call.execution.cancel_request()));
        let mut tasks = tokio::task::JoinSet::new();
        for cancel in cancels {
            let daemon = Arc::clone(&self.daemon);
            tasks.spawn(async move {
                let call = |mut client: crate::client::Client, request| async move {
                    client.cancel(request).await
                };
                drop(daemon.call(cancel, call).await);
            });
        }
        while tasks.join_next().await.is_some() {}
    }
}

/// Why a call did not begin that nobody waits for.
fn given_up() -> Failure {
    Failure::new(Kind::Cancelled, "the client gave this call up")
        .hint("nothing was begun; call again")
}

/// A call that a client waits for.
pub(super) struct UnderWay<'a> {
    state: &'a State,
    key: String,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        lock(&self.state.under_way).remove(&self.key);
    }
}
