//! All sessions of a daemon, and the way in for callers.

mod adapters;
mod audit;
mod background;
mod check;
mod connections;
mod create;
mod elsewhere;
mod excerpt;
mod execute;
mod gate;
mod hooks;
mod hot;
mod intact;
mod levels;
mod output;
mod overview;
mod page;
mod presence;
mod projection;
mod readable;
mod search;
mod start;
mod terminal;
mod terminals;
mod timeouts;
mod wait;
mod whole;

use crate::actor::{Live, Message, lock};
use crate::context::Context;
use crate::errors::LookupError;
use crate::feed::{Feed, Follower};
use crate::gate::SessionGate;
use crate::pty::TerminalHandle;
use crate::redaction::Detectors;
use glass_model::{EventIndex, Execution, Role, Session, SessionId, ShellId};
use glass_sandbox::Workspace;
use glass_store::ReadError;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};

pub use adapters::Adapting;
pub use audit::AuditError;
pub use background::{Background, Before, Origin};
pub(crate) use connections::Connections;
pub use connections::{HostState, HostView};
pub(crate) use create::{INTERACTIVE, NON_INTERACTIVE};
pub use create::{SessionSpec, TERM};
pub use execute::{OrderSpec, Target, Ticket};
pub use hooks::Wording;
pub use levels::Level;
pub use output::{Gathered, OutputFile};
pub use overview::Totals;
pub use page::{Name, OutputPage};
pub(crate) use presence::Presence;
pub use projection::{Late, Projection};
pub(crate) use readable::{ADAPTED, speaks};
pub use search::{Hit, SearchError, SearchSpec, Searched, Spot};
pub use timeouts::Timeouts;
pub use wait::{Held, WaitSpec, Waited};

/// Ended executions of which hooks are being told.
const TELLING_MAX: usize = 256;

/// Locks for keyed calls; each key has one of them.
const KEY_LOCKS: usize = 64;

/// Messages that may wait for one session.
const MAILBOX_MAX: usize = 256;

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// What they may do.
    pub role: Role,
}

/// All sessions of a daemon. Cheap to clone.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    context: Arc<Context>,
    sessions: Mutex<HashMap<SessionId, Handle>>,
    /// Held while a keyed call is looked up and accepted, so that two of the
    /// same key cannot both be new.
    keyed_calls: [tokio::sync::Mutex<()>; KEY_LOCKS],
    /// Held from picking an idle session until it is busy, so that no two calls
    /// pick the same.
    picks: tokio::sync::Mutex<()>,
    /// Where each execution's reader without an offset goes on.
    cursors: Mutex<BTreeMap<ShellId, u64>>,
    shells: Vec<String>,
    /// The pages of the terminals folder.
    sheets: Mutex<terminals::Sheets>,
    /// Who looks at which session.
    views: Mutex<presence::Views>,
    /// How many executions hooks may be told of at once.
    telling: Arc<Semaphore>,
    keeper_lost: watch::Sender<bool>,
}

/// The way to one session's task.
#[derive(Clone)]
struct Handle {
    mailbox: mpsc::Sender<Message>,
    live: Arc<Mutex<Live>>,
    feed: Arc<Feed>,
    /// What its sandboxes are for; none where that is gone.
    workspace: Option<Arc<Workspace>>,
    /// Judges its commands before they run.
    gate: Arc<SessionGate>,
    /// The way to its terminal, where it is one.
    terminal: Option<TerminalHandle>,
    /// Its page in the terminals folder, if it has one.
    page: Option<PathBuf>,
}

/// A session as a caller sees it.
#[derive(Clone, Debug)]
pub struct SessionView {
    /// The session.
    pub session: Session,
    /// The command that runs, if one does.
    pub running: Option<(ShellId, String)>,
    /// How many wait.
    pub queued: usize,
    /// The command that ended last, with its code.
    pub last: Option<LastCommand>,
    /// Its page in the terminals folder, if it has one.
    pub terminal_file: Option<PathBuf>,
    /// How much its shell tells of what it does: `none`, `basic` or `rich`, and
    /// why.
    pub integration: String,
    /// What runs in it, but for the shell.
    pub processes: Vec<ProcessView>,
    /// Why the command that runs is quiet, in the words of the contract, or
    /// empty.
    pub quiet: &'static str,
    /// Since when it is; 0 where it is not.
    pub quiet_since_ms: i64,
    /// The git branch that it is on, or empty.
    pub branch: String,
}

/// A process of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessView {
    /// Its number.
    pub pid: i32,
    /// Its command line, without secrets.
    pub command: String,
    /// Who started it, in the words of the contract.
    pub source: &'static str,
}

/// A command that has ended: its handle, its text and its code.
pub type LastCommand = (ShellId, String, Option<i32>);

impl Engine {
    /// Whether every sandbox policy can be enforced here.
    pub fn enforces_all(&self) -> bool {
        self.0.context.wall_build() == Some(glass_model::WallBuild::Namespaces)
    }

    /// What sandboxes are made of here, in the words of the contract.
    pub fn sandbox_features(&self) -> Vec<String> {
        crate::sandbox::feature_names(&self.0.context.features)
    }

    /// What a model is shown of output, where its call does not say.
    pub fn text_budget(&self) -> &glass_vt::text::Budget {
        &self.0.context.settings.text
    }

    /// The session of this id, if the caller may see it.
    pub fn session(&self, caller: &Caller, id: &str) -> Result<SessionView, LookupError> {
        let id = parse(id)?;
        if let Some(handle) = self.live(&id) {
            let view = view(&handle);
            return may_see(caller, &view.session).map(|()| view);
        }
        let session = self.0.context.store.session(&id)?;
        let session = session.ok_or_else(|| LookupError::Unknown {
            given: id.to_string(),
        })?;
        may_see(caller, &session)?;
        self.stored_view(session)
    }

    /// A session that is over.
    fn stored_view(&self, session: Session) -> Result<SessionView, LookupError> {
        let last = self.last_ended(&session.id)?;
        Ok(SessionView {
            terminal_file: self.terminal_file(&session),
            session,
            running: None,
            queued: 0,
            last,
            integration: "none".to_owned(),
            processes: Vec::new(),
            quiet: "",
            quiet_since_ms: 0,
            branch: String::new(),
        })
    }

    /// The command of a session that ended last, as the journal has it.
    fn last_ended(&self, id: &SessionId) -> Result<Option<LastCommand>, ReadError> {
        let last = self.0.context.store.last_ended(id)?;
        Ok(last.map(|last| (last.shell_id, last.command, last.outcome.code)))
    }

    /// The sessions that the caller may see, oldest first.
    pub fn sessions(
        &self,
        caller: &Caller,
        include_disposed: bool,
    ) -> Result<Vec<SessionView>, LookupError> {
        let mut views: Vec<SessionView> = lock(&self.0.sessions).values().map(view).collect();
        if include_disposed {
            let known: Vec<SessionId> = views.iter().map(|view| view.session.id.clone()).collect();
            for session in self.0.context.store.sessions(true)? {
                if !known.contains(&session.id) {
                    views.push(self.stored_view(session)?);
                }
            }
        }
        views.retain(|view| {
            let session = &view.session;
            // A session of one command is a matter of its caller's alone, unless
            // nobody waits for that.
            let is_busy = view.running.is_some() || view.queued > 0;
            let is_shown = !session.ephemeral || (session.background.is_some() && is_busy);
            may_see(caller, session).is_ok()
                && (include_disposed || (is_shown && session.disposed_ms.is_none()))
        });
        views.sort_by(|a, b| {
            (a.session.created_ms, &a.session.id).cmp(&(b.session.created_ms, &b.session.id))
        });
        Ok(views)
    }

    /// Ends a session with everything in it. Ending it twice is harmless.
    pub async fn dispose(&self, caller: &Caller, id: &str) -> Result<(), LookupError> {
        let view = self.session(caller, id)?;
        let Some(handle) = self.live(&view.session.id) else {
            return Ok(());
        };
        let (reply, answer) = oneshot::channel();
        if handle
            .mailbox
            .send(Message::Dispose { reply })
            .await
            .is_ok()
        {
            // An error means that somebody else's disposal was faster.
            drop(answer.await);
        }
        Ok(())
    }

    /// Stops what runs in a session, or exactly one execution. Returns when
    /// nothing of it is left, with whether anything was stopped.
    pub async fn cancel(
        &self,
        caller: &Caller,
        session: &str,
        shell_id: Option<ShellId>,
    ) -> Result<bool, LookupError> {
        let id = match shell_id {
            Some(shell_id) => self.execution(caller, shell_id)?.session,
            None => self.session(caller, session)?.session.id,
        };
        let Some(handle) = self.live(&id) else {
            return if shell_id.is_some() {
                Ok(false)
            } else {
                Err(LookupError::Disposed(id))
            };
        };
        let (reply, answer) = oneshot::channel();
        if handle
            .mailbox
            .send(Message::Cancel { shell_id, reply })
            .await
            .is_err()
        {
            return Ok(false);
        }
        Ok(answer.await.unwrap_or(false))
    }

    /// One execution, running or ended, if the caller may see its session.
    pub fn execution(&self, caller: &Caller, id: ShellId) -> Result<Execution, LookupError> {
        let found = self.0.context.store.execution(id)?;
        let execution = found.ok_or(LookupError::UnknownExecution(id))?;
        self.session(caller, execution.session.as_str())?;
        Ok(execution)
    }

    /// All executions of a session, in order.
    pub fn executions(&self, caller: &Caller, id: &str) -> Result<Vec<Execution>, LookupError> {
        let id = self.session(caller, id)?.session.id;
        Ok(self.0.context.store.executions(&id)?)
    }

    /// A reader of a session's events from an index on.
    pub fn follow(
        &self,
        caller: &Caller,
        id: &str,
        from: EventIndex,
    ) -> Result<Follower, LookupError> {
        let id = self.session(caller, id)?.session.id;
        Ok(self.follower(id, from))
    }

    fn follower(&self, id: SessionId, from: EventIndex) -> Follower {
        let store = self.0.context.store.clone();
        match self.live(&id) {
            Some(handle) => Follower::live(id, store, handle.feed, from),
            None => Follower::stored(id, store, from),
        }
    }

    /// The stored events of a session from an index on.
    pub fn events(
        &self,
        id: &SessionId,
        from: EventIndex,
        max: usize,
    ) -> Result<Vec<glass_model::Event>, LookupError> {
        Ok(self.0.context.store.events(id, from, max)?)
    }

    /// The first event that is still kept, and the one that comes next.
    pub fn bounds(&self, id: &SessionId) -> Result<(EventIndex, EventIndex), LookupError> {
        let cursor = self.0.context.store.cursor(id)?;
        Ok((cursor.first, cursor.next))
    }

    /// The shells that this machine has.
    pub fn shells(&self) -> &[String] {
        &self.0.shells
    }

    /// Becomes true when the keeper is lost: no session can go on then.
    pub fn keeper_lost(&self) -> watch::Receiver<bool> {
        self.0.keeper_lost.subscribe()
    }

    /// The keeper's process: whoever descends from it runs inside a session.
    pub fn keeper_pid(&self) -> i32 {
        self.0.context.keeper.pid()
    }

    /// Removes what the quotas no longer allow.
    pub fn retain(&self) {
        let now = crate::context::now_ms();
        match self.0.context.store.retain(now) {
            Ok(retained) => {
                self.0.context.figures.dropped(retained.output_bytes);
                tracing::debug!(?retained, "retention");
            }
            Err(error) => tracing::error!(%error, "retention failed"),
        }
    }

    /// What happened since this daemon began, in numbers.
    pub fn figures(&self) -> Vec<crate::figures::Family> {
        self.0.context.figures.read()
    }

    fn live(&self, id: &SessionId) -> Option<Handle> {
        lock(&self.0.sessions).get(id).cloned()
    }
}

fn view(handle: &Handle) -> SessionView {
    let live = lock(&handle.live).clone();
    // A program may have been started with a secret. What a session knows of them
    // needs no settings: those are for an execution with variables of its own.
    let veil = Detectors::new(None).veil_of(&live.secrets, &[]);
    let processes = live.seen.processes.into_iter();
    let processes = processes.map(|process| ProcessView {
        pid: process.pid,
        command: veil.text(&process.command),
        source: process.source.as_str(),
    });
    SessionView {
        session: live.session,
        running: live.running,
        queued: live.queued,
        last: live.last,
        terminal_file: handle.page.clone(),
        integration: live.integration,
        processes: processes.collect(),
        quiet: live.seen.quiet,
        quiet_since_ms: live.seen.quiet_since_ms,
        branch: live.seen.branch,
    }
}

fn parse(id: &str) -> Result<SessionId, LookupError> {
    id.parse().map_err(|_| LookupError::Unknown {
        given: id.chars().take(64).collect(),
    })
}

/// An agent sees what agents made.
fn may_see(caller: &Caller, session: &Session) -> Result<(), LookupError> {
    if caller.role == Role::Person || session.owner == Role::Agent {
        Ok(())
    } else {
        Err(LookupError::NotYours(session.id.clone()))
    }
}
