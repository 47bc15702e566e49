//! The daemon's side of the keeper's socket.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glass_model::{LaunchId, LaunchPlan, Resources, Usage, WaitStatus};
use tokio::sync::mpsc;

use crate::features::Features;
use crate::limits::{ANSWER_WAIT, LAUNCH_WAIT, PROTOCOL_WITH_TERMINALS, PROTOCOL_WITH_WALLS};
use crate::process::ProcessRef;
use crate::wire::{self, Ask, Say};

mod connect;
mod error;
mod line;
mod start;

pub use connect::ConnectError;
pub use error::{HeldError, KeeperGone, SpawnError};
use error::{held_refusal, spawn_failure};
use line::Line;
pub use start::{StartError, start_keeper};

/// A process to be started, with what it and the keeper are given.
#[derive(Debug)]
pub struct Launch {
    /// What is to be started.
    pub plan: LaunchPlan,
    /// The child's descriptors by their numbers in it. Of 0, 1 and 2 those
    /// that are not given are `/dev/null`; of all others it has none.
    pub child_fds: Vec<(i32, OwnedFd)>,
    /// Descriptors that the keeper holds for whoever adopts the launch.
    pub held: Vec<(String, OwnedFd)>,
    /// Anything at all, up to 4 KiB; `list` gives it back.
    pub tag: Vec<u8>,
    /// One end of a sequenced-packet socket pair: whoever has the other can
    /// `cover` places while the walls stand. Only for namespaces.
    pub walls_control: Option<OwnedFd>,
}

/// A process that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// Its number at the keeper.
    pub id: LaunchId,
    /// The process itself.
    pub child: ProcessRef,
    /// The root of its tree.
    pub reaper: ProcessRef,
    /// The first process of its own namespace, behind walls of namespaces.
    pub init: Option<ProcessRef>,
    /// The cgroup that it was started in; none if it could not be had.
    pub cgroup: Option<PathBuf>,
    /// The cgroup that counts its memory, if that is limited.
    pub memory: Option<PathBuf>,
}

/// What the keeper knows of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchInfo {
    /// Its number at the keeper.
    pub id: LaunchId,
    /// The process itself.
    pub child: ProcessRef,
    /// The root of its tree.
    pub reaper: ProcessRef,
    /// The first process of its own namespace, behind walls of namespaces.
    pub init: Option<ProcessRef>,
    /// The cgroup that it was started in.
    pub cgroup: Option<PathBuf>,
    /// The cgroup that counts its memory, if that is limited.
    pub memory: Option<PathBuf>,
    /// As it was given.
    pub tag: Vec<u8>,
    /// How the child ended, once it has.
    pub status: Option<WaitStatus>,
    /// Whether nothing of its tree is left.
    pub emptied: bool,
    /// What is held for it.
    pub labels: Vec<String>,
}

/// What happens to launches. An event may overtake the answer to the `spawn`
/// that it is about, because the two are read by different tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeeperEvent {
    /// A child ended; others of its tree may live.
    Exited {
        /// Which.
        id: LaunchId,
        /// How.
        status: WaitStatus,
        /// What it and those that it waited for have used, where the keeper
        /// knows.
        usage: Option<Usage>,
    },
    /// Nothing of a launch's tree is left.
    Emptied {
        /// Which.
        id: LaunchId,
    },
    /// The connection is over: the keeper ended, or another daemon took its
    /// place. Nothing comes after this.
    Lost,
}

/// A connection to the keeper. Clones share it; it closes with the last.
#[derive(Clone, Debug)]
pub struct Keeper {
    line: Arc<Line>,
}

impl Keeper {
    /// Connects to a keeper and becomes its daemon; an earlier one loses its
    /// connection. Must be called in a tokio runtime.
    pub async fn connect(
        socket: &Path,
    ) -> Result<(Keeper, mpsc::Receiver<KeeperEvent>), ConnectError> {
        connect::connect(socket).await
    }

    /// Starts a process, and returns when it executes its program.
    ///
    /// When this future is dropped or times out before that, the process is
    /// killed as soon as it has begun.
    pub async fn spawn(&self, launch: Launch) -> Result<Launched, SpawnError> {
        let Launch {
            plan,
            child_fds,
            held,
            tag,
            walls_control,
        } = launch;
        let plain = plan.walls.is_none() && plan.resources == Resources::default();
        if !plain && self.version() < PROTOCOL_WITH_WALLS {
            return Err(self.too_old("builds no walls"));
        }
        if plan.takes_terminal && self.version() < PROTOCOL_WITH_TERMINALS {
            return Err(self.too_old("knows no terminals"));
        }
        let mounts = plan.walls.iter().flat_map(|walls| &walls.mounts);
        let mounts: Vec<Vec<u8>> = mounts.map(|mount| mount.path.clone()).collect();
        let program = plan.program.clone();
        let cwd = plan.cwd.clone();
        let mut ask = wire::Launch::from(plan);
        ask.tag = tag;
        let mut fds = Vec::with_capacity(child_fds.len() + held.len());
        for (target, fd) in child_fds {
            ask.targets.push(target);
            fds.push(Arc::new(fd));
        }
        for (label, fd) in held {
            ask.labels.push(label);
            fds.push(Arc::new(fd));
        }
        ask.has_control = walls_control.is_some();
        fds.extend(walls_control.map(Arc::new));
        let (say, _) = self
            .line
            .ask(Ask::Launch(Box::new(ask)), fds, LAUNCH_WAIT)
            .await?;
        match say {
            Say::Launched(info) => launched(info).ok_or(KeeperGone::Nonsense.into()),
            Say::Failed(failed) => Err(spawn_failure(&failed, program, cwd, &mounts)),
            Say::Refused(refused) => Err(SpawnError::Refused {
                reason: refused.reason,
            }),
            _ => Err(KeeperGone::Nonsense.into()),
        }
    }

    /// What walls can be made of here, found out by trying.
    pub async fn probe(&self) -> Result<Features, KeeperGone> {
        let ask = Ask::Probe(wire::Done {});
        match self.line.ask(ask, Vec::new(), LAUNCH_WAIT).await?.0 {
            Say::Features(features) => Ok(features.into()),
            Say::Refused(refused) => Ok(Features::none(&refused.reason)),
            _ => Err(KeeperGone::Nonsense),
        }
    }

    /// All launches, ended ones included until they are forgotten.
    pub async fn list(&self) -> Result<Vec<LaunchInfo>, KeeperGone> {
        let mut launches: Vec<LaunchInfo> = Vec::new();
        loop {
            let after = launches.last().map_or(0, |info| info.id.0);
            let ask = Ask::List(wire::List { after });
            let (say, _) = self.line.ask(ask, Vec::new(), ANSWER_WAIT).await?;
            let Say::Page(page) = say else {
                return Err(KeeperGone::Nonsense);
            };
            let before = launches.len();
            launches.extend(page.launches.into_iter().filter_map(launch_info));
            if !page.more {
                return Ok(launches);
            }
            // A page that brings nothing new would be asked for for ever.
            if launches.len() == before {
                return Err(KeeperGone::Nonsense);
            }
        }
    }

    /// Copies of everything that is held for a launch.
    pub async fn adopt(&self, id: LaunchId) -> Result<Vec<(String, OwnedFd)>, HeldError> {
        let (say, fds) = self
            .line
            .ask(Ask::Adopt(id.into()), Vec::new(), ANSWER_WAIT)
            .await?;
        match say {
            Say::Held(held) if held.labels.len() == fds.len() => {
                Ok(held.labels.into_iter().zip(fds).collect())
            }
            Say::Held(_) => Err(HeldError::DescriptorsLost),
            other => Err(held_refusal(id, other)),
        }
    }

    /// Gives the keeper more to hold; a label that is in use is given anew.
    pub async fn hold(&self, id: LaunchId, held: Vec<(String, OwnedFd)>) -> Result<(), HeldError> {
        let (labels, fds) = held
            .into_iter()
            .map(|(label, fd)| (label, Arc::new(fd)))
            .unzip();
        let ask = Ask::Hold(wire::Labels { id: id.0, labels });
        self.ask_done(id, ask, fds).await
    }

    /// Lets the keeper close some of what it holds.
    pub async fn unhold(&self, id: LaunchId, labels: Vec<String>) -> Result<(), HeldError> {
        let ask = Ask::Unhold(wire::Labels { id: id.0, labels });
        self.ask_done(id, ask, Vec::new()).await
    }

    /// Lets the keeper drop its record of a launch and all that it holds for
    /// it. Processes that live go on, and are not listed any more.
    pub async fn forget(&self, id: LaunchId) -> Result<(), HeldError> {
        self.ask_done(id, Ask::Forget(id.into()), Vec::new()).await
    }

    /// The keeper's process.
    pub fn pid(&self) -> i32 {
        self.line.pid
    }

    /// The version of the protocol that the keeper speaks.
    pub fn version(&self) -> u32 {
        self.line.version
    }

    fn too_old(&self, lacks: &'static str) -> SpawnError {
        SpawnError::KeeperTooOld {
            keeper: self.version(),
            lacks,
        }
    }

    async fn ask_done(
        &self,
        id: LaunchId,
        ask: Ask,
        fds: Vec<Arc<OwnedFd>>,
    ) -> Result<(), HeldError> {
        match self.line.ask(ask, fds, ANSWER_WAIT).await? {
            (Say::Done(_), _) => Ok(()),
            (other, _) => Err(held_refusal(id, other)),
        }
    }
}

fn launched(info: wire::Info) -> Option<Launched> {
    let info = launch_info(info)?;
    let LaunchInfo {
        id,
        child,
        reaper,
        init,
        cgroup,
        memory,
        ..
    } = info;
    Some(Launched {
        id,
        child,
        reaper,
        init,
        cgroup,
        memory,
    })
}

fn launch_info(info: wire::Info) -> Option<LaunchInfo> {
    use std::os::unix::ffi::OsStringExt;
    let path = |bytes: Vec<u8>| {
        let path = PathBuf::from(std::ffi::OsString::from_vec(bytes));
        Some(path).filter(|path| !path.as_os_str().is_empty())
    };
    Some(LaunchInfo {
        id: LaunchId(info.id),
        child: info.child?.into(),
        reaper: info.reaper?.into(),
        init: info.init.map(Into::into),
        cgroup: path(info.cgroup),
        memory: path(info.memory),
        tag: info.tag,
        status: info.status.map(Into::into),
        emptied: info.emptied,
        labels: info.labels,
    })
}

/// A socket towards a keeper that does not block.
fn open_socket(path: &Path) -> io::Result<OwnedFd> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let family = AddressFamily::UNIX;
    let socket = rustix::net::socket_with(family, SocketType::SEQPACKET, flags, None)?;
    rustix::net::connect(socket.as_fd(), &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}
