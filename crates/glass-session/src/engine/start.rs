//! Beginning: everything that the last daemon left is taken up again.

use super::{Connections, Engine, Inner, TELLING_MAX};
use crate::actor::{Child, Inheritance, Trust};
use crate::context::{Context, Settings};
use crate::errors::EngineError;
use crate::gate::Remembered;
use crate::redaction::Detectors;
use crate::repositories::Repositories;
use crate::routes::Routes;
use crate::shells;
use crate::stands::Stands;
use crate::tag::Tag;
use glass_model::{EventIndex, Execution, Mode, Phase, SessionId, ShellId};
use glass_spawn::tree::{self, Manner, Scope, TreeEnd};
use glass_spawn::{Keeper, KeeperEvent, LaunchInfo};
use glass_store::Store;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc, watch};

/// How long the kernel may take to end a child that belongs to nobody.
const STRAY_DEADLINE: Duration = Duration::from_secs(10);

impl Engine {
    /// Takes up all sessions of the journal with what the keeper holds for
    /// them, and is ready for callers.
    pub async fn start(
        settings: Settings,
        store: Store,
        keeper: Keeper,
        events: mpsc::Receiver<KeeperEvent>,
    ) -> Result<Engine, EngineError> {
        crate::context::make_private(&settings.runtime_dir.join("sessions"))?;
        crate::context::make_private(&settings.runtime_dir.join("terminals"))?;
        let shells = shells::all(&settings.base_env)
            .into_iter()
            .map(|shell| shell.path)
            .collect();
        let detectors = Detectors::new(settings.redaction.clone());
        let routes = Routes::default();
        let features = keeper.probe().await?;
        let remembered = Remembered::open(&settings.gatekeeping.remembered);
        let context = Arc::new(Context {
            settings,
            store,
            keeper,
            routes,
            features,
            stands: Stands::default(),
            repositories: Repositories::default(),
            remembered,
            detectors,
            connections: Connections::default(),
            changes: watch::Sender::new(0),
            figures: Arc::default(),
            thrift: Arc::default(),
            news: Arc::default(),
        });
        let engine = Engine(Arc::new(Inner {
            context,
            sessions: Mutex::new(HashMap::new()),
            keyed_calls: std::array::from_fn(|_| tokio::sync::Mutex::new(())),
            picks: tokio::sync::Mutex::new(()),
            cursors: Mutex::new(BTreeMap::new()),
            shells,
            sheets: Mutex::default(),
            views: Mutex::default(),
            telling: Arc::new(Semaphore::new(TELLING_MAX)),
            keeper_lost: watch::Sender::new(false),
        }));
        engine.take_up_sessions().await?;
        engine.listen_to_keeper(events);
        engine.keep_pages();
        engine.keep_connections();
        Ok(engine)
    }

    async fn take_up_sessions(&self) -> Result<(), EngineError> {
        let store = &self.0.context.store;
        let mut children = self.children_by_session().await?;
        for session in store.sessions(false)? {
            let id = session.id.clone();
            let next = store.cursor(&id)?.next;
            let executions = store.executions(&id)?;
            let children = children.remove(&id).unwrap_or_default();
            if session.mode == Mode::Pty {
                self.take_up_terminal(session, next, children, executions)
                    .await?;
                continue;
            }
            let only = session
                .ephemeral
                .then(|| executions.last().map(|last| last.shell_id));
            let is_held = |run: &&Execution| run.held && run.phase == Phase::Queued;
            let held: Vec<Execution> = executions.iter().filter(is_held).cloned().collect();
            let open = executions.iter().filter(|run| run.phase != Phase::Ended);
            let open: Vec<ShellId> = open.map(|run| run.shell_id).collect();
            let inheritance = Inheritance {
                children,
                executions,
            };
            self.take_up(session, next, inheritance);
            for execution in held {
                self.judge_again(execution);
            }
            if let Some(handle) = self.live(&id) {
                open.into_iter()
                    .for_each(|open| self.tell_hooks(&handle, open));
            }
            if let (Some(only), Some(handle)) = (only, self.live(&id)) {
                self.dispose_when_done(handle, only);
            }
            crate::failpoint::hit("adopted-session");
        }
        for child in children.into_values().flatten() {
            self.end_stray(&child.info).await?;
        }
        if let Err(error) = self.remove_stray_pages() {
            tracing::warn!(%error, "the page of a session that is over stays");
        }
        if let Err(error) = self.remove_stray_directories() {
            tracing::warn!(%error, "the directory of a session that is over stays");
        }
        Ok(())
    }

    /// Removes what the last daemon had no time to remove.
    fn remove_stray_directories(&self) -> std::io::Result<()> {
        let sessions = self.0.context.settings.runtime_dir.join("sessions");
        for entry in std::fs::read_dir(sessions)? {
            let entry = entry?;
            let name = entry.file_name();
            let id = name.to_str().and_then(|name| name.parse().ok());
            if id.is_some_and(|id| self.live(&id).is_none()) {
                std::fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }

    fn take_up(&self, session: glass_model::Session, next: EventIndex, inheritance: Inheritance) {
        let id = session.id.clone();
        // Who gave a variable is not known any more.
        let ours = self.0.context.settings.base_env.clone();
        let taken = (ours, Trust::default());
        let workspace = self.workspace_of(&session).ok();
        if let Err(error) = self.spawn_actor(session, workspace, next, taken, Some(inheritance)) {
            tracing::error!(session = %id, %error, "a session could not be taken up");
        }
    }

    async fn children_by_session(&self) -> Result<HashMap<SessionId, Vec<Child>>, EngineError> {
        let keeper = &self.0.context.keeper;
        let mut children: HashMap<SessionId, Vec<Child>> = HashMap::new();
        for info in keeper.list().await? {
            if self.take_up_connection(&info) {
                continue;
            }
            let Some(tag) = Tag::decode(&info.tag) else {
                self.end_stray(&info).await?;
                continue;
            };
            crate::failpoint::hit("adopt-listed");
            let fds = keeper.adopt(info.id).await?.into_iter().collect();
            children
                .entry(tag.session().clone())
                .or_default()
                .push(Child { info, tag, fds });
        }
        Ok(children)
    }

    /// Ends a child whose session is over, or that nobody knows.
    pub(super) async fn end_stray(&self, info: &LaunchInfo) -> Result<(), EngineError> {
        let tree = TreeEnd {
            reaper: info.reaper,
            child: info.child,
            init: info.init,
            shell: None,
            cgroup: info.cgroup.clone(),
            scope: Scope::Everything,
            manner: Manner::Kill,
            deadline: STRAY_DEADLINE,
        };
        let ended = tokio::task::spawn_blocking(move || tree::end(&tree)).await;
        if let Ok(Err(error)) = ended {
            tracing::error!(%error, "a stray process stays");
        }
        Ok(self.0.context.keeper.forget(info.id).await?)
    }

    fn listen_to_keeper(&self, mut events: mpsc::Receiver<KeeperEvent>) {
        let engine = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            while let Some(event) = events.recv().await {
                let Some(engine) = engine.upgrade() else {
                    return;
                };
                match event {
                    KeeperEvent::Exited { id, status, usage } => {
                        engine.context.routes.exited(id, status, usage);
                    }
                    KeeperEvent::Emptied { .. } => {}
                    KeeperEvent::Lost => {
                        engine.keeper_lost.send_replace(true);
                    }
                }
            }
        });
    }
}
