//! Connections to other hosts that are kept up, so that commands there begin at once
//! and sessions know where they may go.
//!
//! Each is an `ssh` that runs nothing and lends its connection to others through a
//! socket in our runtime directory. It is the keeper's child: what runs through it
//! outlives the daemon, and the next one takes it up.

use super::{Engine, Inner};
use crate::actor::{launched, lock};
use crate::context::{Context, make_private};
use crate::hosts::{AgentUse, Host};
use crate::routes::Note;
use glass_model::{LOCAL_HOST, LaunchPlan, Resources};
use glass_spawn::tree::{self, Manner, Scope};
use glass_spawn::{Launch, LaunchInfo, Launched};
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// How the tag of a connection begins; its host's name follows.
const TAG: &str = "host ";

/// Time for a connection to come up, and between two looks whether it has.
const UP_LOOKS_MAX: u32 = 200;
const UP_LOOK: Duration = Duration::from_millis(100);

/// Pause before a lost connection is tried again; it doubles.
const RETRY_MIN: Duration = Duration::from_millis(500);
const RETRY_MAX: Duration = Duration::from_secs(60);

/// How long those that are being begun are waited for when all are ended.
const CLOSE_WAIT: Duration = Duration::from_secs(5);

/// A connection that was begun, and what the keeper says of it.
type Begun = (Launched, mpsc::UnboundedReceiver<Note>);

/// How much of what `ssh` says is read, in bytes.
const LOG_BYTES_MAX: u64 = 4096;

/// Which hosts we are connected to.
#[derive(Default)]
pub(crate) struct Connections {
    up: Mutex<HashMap<String, Connection>>,
    /// Those that the last daemon left.
    left: Mutex<HashMap<String, Launched>>,
    /// Whether no more are begun. Whoever begins one reads this until the others know
    /// of it: so none is overlooked when all are ended.
    closed: tokio::sync::RwLock<bool>,
    changes: watch::Sender<u64>,
}

#[derive(Clone, Default)]
struct Connection {
    is_up: bool,
    problem: String,
    launched: Option<Launched>,
}

/// What is known of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostView {
    /// What it is called.
    pub name: String,
    /// Where it is; empty is this machine.
    pub address: String,
    /// Whether we are connected to it.
    pub state: HostState,
    /// Whether agents may use it.
    pub agents: AgentUse,
    /// Why we are not, as far as that is known.
    pub problem: String,
}

/// Whether we are connected to a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostState {
    /// It is this machine.
    Here,
    /// A connection is up.
    Up,
    /// A connection should be up, and is not.
    Down,
    /// No connection is kept; it is reached when it is needed.
    Idle,
}

impl Context {
    /// Whether a connection to this host is up.
    pub(crate) fn is_connected(&self, name: &str) -> bool {
        let up = lock(&self.connections.up);
        up.get(name).is_some_and(|connection| connection.is_up)
    }

    /// The socket through which the connection to this host is shared, if one is up.
    pub(crate) fn shared_socket(&self, name: &str) -> Option<PathBuf> {
        self.is_connected(name).then(|| self.socket_of(name))
    }

    /// `ssh` appends a few characters while it makes the socket, and a path has few:
    /// so it is named by the host's place in the list.
    fn socket_of(&self, name: &str) -> PathBuf {
        let listed = &self.settings.hosts.listed;
        let place = listed.iter().position(|host| host.name == name);
        let place = place.unwrap_or(listed.len());
        self.settings
            .runtime_dir
            .join("ssh")
            .join(format!("{place}"))
    }

    /// What a connection is known by. It has everything that says where it leads and
    /// where its socket is: after a change of the list it is nobody's.
    fn tag_of(&self, host: &Host) -> Vec<u8> {
        let socket = self.socket_of(&host.name);
        format!("{TAG}{} {} {}", host.name, host.address, socket.display()).into_bytes()
    }

    fn log_of(&self, name: &str) -> PathBuf {
        self.socket_of(name).with_extension("log")
    }

    fn set_connection(&self, name: &str, connection: Connection) {
        lock(&self.connections.up).insert(name.to_owned(), connection);
        self.connections
            .changes
            .send_modify(|count| *count = count.wrapping_add(1));
        self.note_change();
    }
}

impl Engine {
    /// Every host, and what is known of it.
    pub fn hosts(&self) -> Vec<HostView> {
        let context = &self.0.context;
        let here = HostView {
            name: LOCAL_HOST.to_owned(),
            address: String::new(),
            state: HostState::Here,
            agents: AgentUse::Allow,
            problem: String::new(),
        };
        let listed = context.settings.hosts.listed.iter();
        let listed = listed.map(|host| {
            let known = lock(&context.connections.up).get(&host.name).cloned();
            let known = known.unwrap_or_default();
            HostView {
                name: host.name.clone(),
                address: host.address.to_string(),
                state: match (host.connect, known.is_up) {
                    (false, _) => HostState::Idle,
                    (true, true) => HostState::Up,
                    (true, false) => HostState::Down,
                },
                agents: host.agents,
                problem: known.problem,
            }
        });
        std::iter::once(here).chain(listed).collect()
    }

    /// The hosts that sessions can be on now.
    pub fn hosts_now(&self) -> Vec<String> {
        let hosts = self.hosts().into_iter();
        let hosts = hosts.filter(|host| host.state != HostState::Down);
        hosts.map(|host| host.name).collect()
    }

    /// Changes when a host comes or goes.
    pub fn host_changes(&self) -> watch::Receiver<u64> {
        self.0.context.connections.changes.subscribe()
    }

    /// Takes up a connection that the last daemon left. Says whether it is one.
    pub(super) fn take_up_connection(&self, info: &LaunchInfo) -> bool {
        let context = &self.0.context;
        let mut listed = context.settings.hosts.listed.iter();
        let host = listed.find(|host| host.connect && context.tag_of(host) == info.tag);
        let Some(host) = host.filter(|_| info.status.is_none()) else {
            return false;
        };
        lock(&context.connections.left).insert(host.name.clone(), launched(info));
        true
    }

    /// Keeps up what is to be kept up.
    pub(super) fn keep_connections(&self) {
        for host in &self.0.context.settings.hosts.listed {
            if host.connect {
                tokio::spawn(keep_up(Arc::downgrade(&self.0), host.clone()));
            }
        }
    }

    /// Ends the connections that nothing runs through, before the daemon ends.
    pub async fn disconnect(&self) {
        let context = self.0.context.clone();
        let closing = context.connections.closed.write();
        // A keeper that does not answer ends with us, or is asked by the next daemon.
        if let Ok(mut closed) = tokio::time::timeout(CLOSE_WAIT, closing).await {
            *closed = true;
        }
        let busy: Vec<String> = lock(&self.0.sessions)
            .values()
            .map(|handle| lock(&handle.live).clone())
            .filter(|live| live.running.is_some())
            .map(|live| live.session.host)
            .collect();
        let up: Vec<(String, Connection)> = lock(&context.connections.up).drain().collect();
        for (name, connection) in up {
            if let Some(launched) = connection.launched.filter(|_| !busy.contains(&name)) {
                end(&context, launched).await;
            }
        }
    }
}

/// Keeps one connection up until the daemon ends.
async fn keep_up(engine: Weak<Inner>, host: Host) {
    let mut pause = RETRY_MIN;
    loop {
        let Some(context) = engine.upgrade().map(|engine| engine.context.clone()) else {
            return;
        };
        let Some(began) = begin_open(&context, &host).await else {
            return;
        };
        let problem = match began {
            Ok((launched, mut notes)) => {
                if come_up(&context, &host, &launched).await {
                    pause = RETRY_MIN;
                    let connection = Connection {
                        is_up: true,
                        problem: String::new(),
                        launched: Some(launched.clone()),
                    };
                    context.set_connection(&host.name, connection);
                } else if launched.child.is_alive() {
                    end(&context, launched.clone()).await;
                }
                // Not the context: a daemon that ends must be able to let go of it.
                drop(context);
                let Some(Note::Exited(..)) = notes.recv().await else {
                    return;
                };
                let Some(engine) = engine.upgrade() else {
                    return;
                };
                let _ = engine.context.keeper.forget(launched.id).await;
                last_words(&engine.context.log_of(&host.name))
            }
            Err(why) => why,
        };
        let Some(engine) = engine.upgrade() else {
            return;
        };
        tracing::info!(host = host.name, problem, "not connected");
        let connection = Connection {
            problem,
            ..Connection::default()
        };
        engine.context.set_connection(&host.name, connection);
        drop(engine);
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(RETRY_MAX);
    }
}

/// Begins a connection, or takes the one that is left, and lets others know of it
/// before it is up; none once all were ended.
async fn begin_open(context: &Context, host: &Host) -> Option<Result<Begun, String>> {
    let closed = context.connections.closed.read().await;
    if *closed {
        return None;
    }
    let left = lock(&context.connections.left).remove(&host.name);
    let began = match left {
        Some(launched) => Ok(launched),
        None => begin(context, host).await,
    };
    Some(began.map(|launched| {
        let (sender, notes) = mpsc::unbounded_channel();
        context.routes.add(launched.id, sender);
        let mut up = lock(&context.connections.up);
        let connection = up.entry(host.name.clone()).or_default();
        // What went wrong the last time is shown until this one is up.
        connection.is_up = false;
        connection.launched = Some(launched.clone());
        (launched, notes)
    }))
}

async fn begin(context: &Context, host: &Host) -> Result<Launched, String> {
    let (socket, log) = (context.socket_of(&host.name), context.log_of(&host.name));
    let said = |error: std::io::Error| error.to_string();
    make_private(&context.settings.runtime_dir.join("ssh")).map_err(said)?;
    for stale in [&socket, &log] {
        drop(std::fs::remove_file(stale));
    }
    let ssh = &context.settings.hosts.ssh;
    let argv = ssh.shared(&host.address, &log, &socket);
    let argv: Vec<Vec<u8>> = argv.into_iter().map(OsString::into_vec).collect();
    let launch = Launch {
        plan: LaunchPlan {
            program: argv[0].clone(),
            argv,
            env: context.ssh_env(),
            cwd: b"/".to_vec(),
            cgroup: String::new(),
            resources: Resources::default(),
            takes_terminal: false,
            walls: None,
        },
        child_fds: Vec::new(),
        held: Vec::new(),
        tag: context.tag_of(host),
        walls_control: None,
    };
    let spawned = context.keeper.spawn(launch).await;
    spawned.map_err(|error| error.to_string())
}

/// Whether others can go through it.
async fn come_up(context: &Context, host: &Host, launched: &Launched) -> bool {
    let socket = context.socket_of(&host.name);
    for _ in 0..UP_LOOKS_MAX {
        if UnixStream::connect(&socket).is_ok() {
            return true;
        }
        if !launched.child.is_alive() {
            return false;
        }
        tokio::time::sleep(UP_LOOK).await;
    }
    false
}

async fn end(context: &Context, launched: Launched) {
    let id = launched.id;
    let tree = crate::actor::tree_end(&launched, Scope::Everything, Manner::Kill, None);
    let ended = tokio::task::spawn_blocking(move || tree::end(&tree)).await;
    if let Ok(Err(error)) = ended {
        tracing::error!(%error, "a connection stays");
    }
    let _ = context.keeper.forget(id).await;
}

/// What `ssh` said last, fit to be shown.
fn last_words(log: &Path) -> String {
    use std::io::Read as _;
    let mut text = Vec::new();
    let read =
        std::fs::File::open(log).and_then(|file| file.take(LOG_BYTES_MAX).read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text);
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    match last.filter(|_| read.is_ok()) {
        Some(line) => line.chars().filter(|c| !c.is_control()).collect(),
        None => "the connection was lost".to_owned(),
    }
}
