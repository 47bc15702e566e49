//! Walls, limits and features as messages.

use glass_model::{FileId, Mount, Resources, View, WallBuild, Walls};
use prost::Message;

/// The walls around a launch.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct WallsMessage {
    /// 1 for namespaces, 2 for Landlock alone, 3 for namespaces in which no
    /// repository can be made: a keeper that does not know that refuses it.
    #[prost(uint32, tag = "1")]
    pub build: u32,
    #[prost(message, repeated, tag = "2")]
    pub mounts: Vec<MountMessage>,
    #[prost(bool, tag = "3")]
    pub network: bool,
}

/// One place and how it looks; `kind` is one of the constants below.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct MountMessage {
    #[prost(bytes = "vec", tag = "1")]
    pub path: Vec<u8>,
    #[prost(uint32, tag = "2")]
    pub kind: u32,
    /// Of a scratch directory.
    #[prost(uint64, tag = "3")]
    pub bytes_max: u64,
    /// Of a place that is elsewhere outside.
    #[prost(bytes = "vec", tag = "4")]
    pub source: Vec<u8>,
    #[prost(message, optional, tag = "5")]
    pub expected: Option<FileIdMessage>,
}

/// Which file something is.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct FileIdMessage {
    #[prost(uint64, tag = "1")]
    pub device: u64,
    #[prost(uint64, tag = "2")]
    pub inode: u64,
}

/// What a launch may use.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct ResourcesMessage {
    #[prost(uint64, optional, tag = "1")]
    pub open_files: Option<u64>,
    #[prost(uint64, optional, tag = "2")]
    pub cpu_seconds: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub file_bytes: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    pub core_bytes: Option<u64>,
    #[prost(uint64, optional, tag = "5")]
    pub address_bytes: Option<u64>,
    #[prost(uint64, optional, tag = "6")]
    pub memory_bytes: Option<u64>,
    #[prost(uint64, optional, tag = "7")]
    pub processes: Option<u64>,
    #[prost(uint64, optional, tag = "8")]
    pub tasks: Option<u64>,
}

/// More mounts for walls that stand; answered with a `Covered` of its number.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Cover {
    #[prost(uint64, tag = "1")]
    pub number: u64,
    #[prost(message, repeated, tag = "2")]
    pub mounts: Vec<MountMessage>,
}

/// What became of a `Cover`: everything was done when `errno` is 0.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Covered {
    #[prost(uint64, tag = "1")]
    pub number: u64,
    #[prost(int32, tag = "2")]
    pub errno: i32,
    /// Which of its mounts failed, counted from 0.
    #[prost(uint32, tag = "3")]
    pub index: u32,
}

/// Something that walls can be made of, tried out.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct FeatureMessage {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(bool, tag = "2")]
    pub works: bool,
    /// Why it does not.
    #[prost(string, tag = "3")]
    pub why: String,
    /// Its version, where it has one.
    #[prost(uint32, tag = "4")]
    pub version: u32,
}

/// All of them.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct FeaturesMessage {
    #[prost(message, repeated, tag = "1")]
    pub features: Vec<FeatureMessage>,
}

const NAMESPACES: u32 = 1;
const LANDLOCK_ONLY: u32 = 2;
const WITHOUT_REPOSITORIES: u32 = 3;

const WRITABLE: u32 = 1;
const READ_ONLY: u32 = 2;
const HIDDEN: u32 = 3;
const EMPTY: u32 = 4;
const SCRATCH: u32 = 5;
const OTHER: u32 = 6;

impl From<Walls> for WallsMessage {
    fn from(walls: Walls) -> WallsMessage {
        WallsMessage {
            build: match walls.build {
                WallBuild::Namespaces if walls.refuses_repositories => WITHOUT_REPOSITORIES,
                WallBuild::Namespaces => NAMESPACES,
                WallBuild::LandlockOnly => LANDLOCK_ONLY,
            },
            mounts: walls.mounts.into_iter().map(Into::into).collect(),
            network: walls.network,
        }
    }
}

impl From<Mount> for MountMessage {
    fn from(mount: Mount) -> MountMessage {
        let (kind, bytes_max, source) = match mount.view {
            View::Writable => (WRITABLE, 0, Vec::new()),
            View::ReadOnly => (READ_ONLY, 0, Vec::new()),
            View::Hidden => (HIDDEN, 0, Vec::new()),
            View::Empty => (EMPTY, 0, Vec::new()),
            View::Scratch { bytes_max } => (SCRATCH, bytes_max, Vec::new()),
            View::Other { source } => (OTHER, 0, source),
        };
        MountMessage {
            path: mount.path,
            kind,
            bytes_max,
            source,
            expected: mount.expected.map(|id| FileIdMessage {
                device: id.device,
                inode: id.inode,
            }),
        }
    }
}

impl WallsMessage {
    /// What they say; nothing if they say something that is not known, for
    /// walls that are understood by half must not be built.
    pub fn understood(self) -> Option<Walls> {
        let build = match self.build {
            NAMESPACES | WITHOUT_REPOSITORIES => WallBuild::Namespaces,
            LANDLOCK_ONLY => WallBuild::LandlockOnly,
            _ => return None,
        };
        let mounts = self.mounts.into_iter().map(MountMessage::understood);
        Some(Walls {
            build,
            mounts: mounts.collect::<Option<_>>()?,
            network: self.network,
            refuses_repositories: self.build == WITHOUT_REPOSITORIES,
        })
    }
}

impl MountMessage {
    /// What it says, if all of it is known.
    pub fn understood(self) -> Option<Mount> {
        let view = match self.kind {
            WRITABLE => View::Writable,
            READ_ONLY => View::ReadOnly,
            HIDDEN => View::Hidden,
            EMPTY => View::Empty,
            SCRATCH => View::Scratch {
                bytes_max: self.bytes_max,
            },
            OTHER => View::Other {
                source: self.source,
            },
            _ => return None,
        };
        Some(Mount {
            path: self.path,
            view,
            expected: self.expected.map(|id| FileId {
                device: id.device,
                inode: id.inode,
            }),
        })
    }
}

impl From<Resources> for ResourcesMessage {
    fn from(resources: Resources) -> ResourcesMessage {
        ResourcesMessage {
            open_files: resources.open_files,
            cpu_seconds: resources.cpu_seconds,
            file_bytes: resources.file_bytes,
            core_bytes: resources.core_bytes,
            address_bytes: resources.address_bytes,
            memory_bytes: resources.memory_bytes,
            processes: resources.processes,
            tasks: resources.tasks,
        }
    }
}

impl From<ResourcesMessage> for Resources {
    fn from(resources: ResourcesMessage) -> Resources {
        Resources {
            open_files: resources.open_files,
            cpu_seconds: resources.cpu_seconds,
            file_bytes: resources.file_bytes,
            core_bytes: resources.core_bytes,
            address_bytes: resources.address_bytes,
            memory_bytes: resources.memory_bytes,
            processes: resources.processes,
            tasks: resources.tasks,
        }
    }
}
