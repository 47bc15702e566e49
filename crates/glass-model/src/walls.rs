//! The walls around a process, decided before it exists. Data only: who makes
//! the plan looks at the file system, who builds the walls asks nothing.

/// The walls around a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walls {
    /// What they are made of.
    pub build: WallBuild,
    /// How the file system looks inside. The host's whole tree is there,
    /// read-only, with a `/dev` and a `/proc` of its own; these come on top of
    /// it in this order, so that a later one covers an earlier one.
    pub mounts: Vec<Mount>,
    /// Whether the host's network is reachable. Without it the processes
    /// inside have a loopback of their own.
    pub network: bool,
    /// Whether nothing may come to be in a writable place of the host that git
    /// would take for a repository. Needs namespaces.
    pub refuses_repositories: bool,
}

/// What a directory becomes a repository by once `HEAD` is in it.
const BESIDE_HEAD: [&[u8]; 3] = [b"objects", b"refs", b"commondir"];

/// Whether a file of this name, where there is none yet, would make git believe
/// a directory, or nearly so.
pub fn makes_repository(name: &[u8], is_beside_head: bool) -> bool {
    name.eq_ignore_ascii_case(b".git")
        || name == b"HEAD"
        || (is_beside_head && BESIDE_HEAD.contains(&name))
}

/// What walls are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WallBuild {
    /// Namespaces, Landlock and seccomp.
    #[default]
    Namespaces,
    /// Landlock and seccomp alone. Such walls cannot hide what is below
    /// something visible, nor protect what is below something writable. If any
    /// place is said to be read-only, nothing else can be read.
    LandlockOnly,
}

/// One place in the file system and how it looks inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The place, inside and (but for `View::Other`) outside: absolute, and
    /// without symbolic links when it was decided.
    pub path: Vec<u8>,
    /// How it looks.
    pub view: View,
    /// What was there when it was decided. The builder refuses to go on when
    /// it finds something else.
    pub expected: Option<FileId>,
}

/// How a place looks inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum View {
    /// As outside, and writable.
    Writable,
    /// As outside, and read-only.
    ReadOnly,
    /// There, and neither readable, writable nor searchable.
    Hidden,
    /// A read-only empty directory, except for what later mounts show in it.
    Empty,
    /// A writable directory that only lives as long as these walls.
    Scratch {
        /// The most that it can hold.
        bytes_max: u64,
    },
    /// A writable directory of the host from another place.
    Other {
        /// Its path outside.
        source: Vec<u8>,
    },
}

/// Which file something is, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The device that it is on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
}

/// What one launch may use. None is no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Open files of one process.
    pub open_files: Option<u64>,
    /// Seconds of processor time of one process.
    pub cpu_seconds: Option<u64>,
    /// Bytes of one file.
    pub file_bytes: Option<u64>,
    /// Bytes of a core dump.
    pub core_bytes: Option<u64>,
    /// Bytes of address space of one process. Breaks programs that reserve
    /// much and use little.
    pub address_bytes: Option<u64>,
    /// Bytes of memory of all processes; needs a cgroup.
    pub memory_bytes: Option<u64>,
    /// Processes; needs a cgroup.
    pub processes: Option<u64>,
    /// Processes and threads behind walls of namespaces, where they are counted
    /// by themselves. Means nothing without such walls.
    pub tasks: Option<u64>,
}
