//! The keeper's protocol as messages: bytes in, values out, no sockets.
//!
//! Invariant: no input panics, and nothing that was decoded exceeds a limit.
//! Unknown fields and unknown requests are tolerated, so that a newer daemon
//! can adopt an older keeper's children; changes are made by adding fields,
//! and a field's number is never used for anything else.

use glass_model::{LaunchId, LaunchPlan, Usage, WaitStatus};
use prost::{Message, Oneof};

use crate::limits::MESSAGE_BYTES_MAX;
use crate::process::ProcessRef;

#[cfg(test)]
mod tests;
mod walls;

pub(crate) use walls::{
    Cover, Covered, FeatureMessage, FeaturesMessage, ResourcesMessage, WallsMessage,
};

/// Bytes that are not a message.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DecodeError {
    #[error("a message of {bytes} bytes is longer than {MESSAGE_BYTES_MAX}")]
    TooLong { bytes: usize },
    #[error("a message is malformed")]
    Malformed(#[from] prost::DecodeError),
}

/// What the daemon asks, numbered by it; never 0.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Request {
    #[prost(uint64, tag = "1")]
    pub seq: u64,
    #[prost(oneof = "Ask", tags = "2, 3, 4, 5, 6, 7, 8, 9")]
    pub ask: Option<Ask>,
}

/// The questions there are.
#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum Ask {
    #[prost(message, tag = "2")]
    Hello(Hello),
    #[prost(message, boxed, tag = "3")]
    Launch(Box<Launch>),
    #[prost(message, tag = "4")]
    List(List),
    #[prost(message, tag = "5")]
    Adopt(Named),
    #[prost(message, tag = "6")]
    Hold(Labels),
    #[prost(message, tag = "7")]
    Unhold(Labels),
    #[prost(message, tag = "8")]
    Forget(Named),
    #[prost(message, tag = "9")]
    Probe(Done),
}

/// What the keeper says: an answer with its request's number, an event with 0.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Answer {
    #[prost(uint64, tag = "1")]
    pub seq: u64,
    #[prost(oneof = "Say", tags = "2, 3, 4, 5, 6, 7, 8, 9, 10, 11")]
    pub say: Option<Say>,
}

/// The answers and events there are.
#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum Say {
    #[prost(message, tag = "2")]
    Welcome(Hello),
    #[prost(message, tag = "3")]
    Launched(Info),
    #[prost(message, tag = "4")]
    Failed(Failed),
    #[prost(message, tag = "5")]
    Page(Page),
    #[prost(message, tag = "6")]
    Held(Labels),
    #[prost(message, tag = "7")]
    Done(Done),
    #[prost(message, tag = "8")]
    Refused(Refused),
    #[prost(message, tag = "9")]
    Exited(Exited),
    #[prost(message, tag = "10")]
    Emptied(Named),
    #[prost(message, tag = "11")]
    Features(FeaturesMessage),
}

/// The first message in both directions.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Hello {
    #[prost(uint32, tag = "1")]
    pub version: u32,
    #[prost(uint32, tag = "2")]
    pub oldest: u32,
}

/// A launch; its descriptors come with the packet, the child's first, in the
/// order of `targets`, then those to hold, in the order of `labels`, then the
/// one for orders to the walls, if there is one.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Launch {
    #[prost(bytes = "vec", tag = "1")]
    pub program: Vec<u8>,
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub argv: Vec<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "3")]
    pub env: Vec<Vec<u8>>,
    #[prost(bytes = "vec", tag = "4")]
    pub cwd: Vec<u8>,
    #[prost(string, tag = "5")]
    pub cgroup: String,
    #[prost(int32, repeated, tag = "6")]
    pub targets: Vec<i32>,
    #[prost(string, repeated, tag = "7")]
    pub labels: Vec<String>,
    #[prost(bytes = "vec", tag = "8")]
    pub tag: Vec<u8>,
    #[prost(message, optional, tag = "9")]
    pub resources: Option<ResourcesMessage>,
    #[prost(message, optional, tag = "10")]
    pub walls: Option<WallsMessage>,
    #[prost(bool, tag = "11")]
    pub has_control: bool,
    #[prost(bool, tag = "12")]
    pub takes_terminal: bool,
}

/// Asks for the launches whose ids are above `after`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct List {
    #[prost(uint64, tag = "1")]
    pub after: u64,
}

/// One launch by its id.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Named {
    #[prost(uint64, tag = "1")]
    pub id: u64,
}

/// Some of a launch's held descriptors.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Labels {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(string, repeated, tag = "2")]
    pub labels: Vec<String>,
}

/// A process, as `ProcessRef` has it.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Process {
    #[prost(int32, tag = "1")]
    pub pid: i32,
    #[prost(uint64, tag = "2")]
    pub start_ticks: u64,
}

/// All that is known of a launch.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Info {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(message, optional, tag = "2")]
    pub child: Option<Process>,
    #[prost(message, optional, tag = "3")]
    pub reaper: Option<Process>,
    /// Empty for none.
    #[prost(bytes = "vec", tag = "4")]
    pub cgroup: Vec<u8>,
    #[prost(bytes = "vec", tag = "5")]
    pub tag: Vec<u8>,
    #[prost(message, optional, tag = "6")]
    pub status: Option<Status>,
    #[prost(string, repeated, tag = "7")]
    pub labels: Vec<String>,
    #[prost(bool, tag = "8")]
    pub emptied: bool,
    #[prost(message, optional, tag = "9")]
    pub init: Option<Process>,
    /// Empty for none.
    #[prost(bytes = "vec", tag = "10")]
    pub memory: Vec<u8>,
}

/// How a process ended; neither field means that nobody knows.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Status {
    #[prost(int32, optional, tag = "1")]
    pub code: Option<i32>,
    #[prost(int32, optional, tag = "2")]
    pub signal: Option<i32>,
}

/// A part of the list; `more` says that there is another after it.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Page {
    #[prost(message, repeated, tag = "1")]
    pub launches: Vec<Info>,
    #[prost(bool, tag = "2")]
    pub more: bool,
}

/// A child that could not be started.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Failed {
    #[prost(uint32, tag = "1")]
    pub stage: u32,
    #[prost(int32, tag = "2")]
    pub errno: i32,
    /// Which mount of the walls it was about, counted from 1.
    #[prost(uint64, tag = "3")]
    pub detail: u64,
}

/// A request that was done and has no other answer.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Done {}

/// A request that was not done.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Refused {
    #[prost(string, tag = "1")]
    pub reason: String,
    #[prost(bool, tag = "2")]
    pub unknown_launch: bool,
}

/// A child's end.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Exited {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(message, optional, tag = "2")]
    pub status: Option<Status>,
    #[prost(message, optional, tag = "3")]
    pub usage: Option<Used>,
}

/// What a child and those that it waited for have used.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Message)]
pub(crate) struct Used {
    #[prost(uint64, tag = "1")]
    pub user_us: u64,
    #[prost(uint64, tag = "2")]
    pub system_us: u64,
    #[prost(uint64, tag = "3")]
    pub peak_memory_bytes: u64,
    #[prost(uint64, tag = "4")]
    pub read_bytes: u64,
    #[prost(uint64, tag = "5")]
    pub written_bytes: u64,
}

/// Reads a message that may be from anyone.
pub(crate) fn decode<M: Message + Default>(bytes: &[u8]) -> Result<M, DecodeError> {
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(DecodeError::TooLong { bytes: bytes.len() });
    }
    Ok(M::decode(bytes)?)
}

/// Whether two sides with these versions understand each other.
pub(crate) fn compatible(ours: &Hello, theirs: &Hello) -> bool {
    ours.version >= theirs.oldest && theirs.version >= ours.oldest
}

impl From<LaunchPlan> for Launch {
    fn from(plan: LaunchPlan) -> Launch {
        Launch {
            program: plan.program,
            argv: plan.argv,
            env: plan.env,
            cwd: plan.cwd,
            cgroup: plan.cgroup,
            targets: Vec::new(),
            labels: Vec::new(),
            tag: Vec::new(),
            resources: Some(plan.resources.into()),
            walls: plan.walls.map(Into::into),
            has_control: false,
            takes_terminal: plan.takes_terminal,
        }
    }
}

impl From<LaunchId> for Named {
    fn from(id: LaunchId) -> Named {
        Named { id: id.0 }
    }
}

impl From<ProcessRef> for Process {
    fn from(process: ProcessRef) -> Process {
        Process {
            pid: process.pid,
            start_ticks: process.start_ticks,
        }
    }
}

impl From<Process> for ProcessRef {
    fn from(process: Process) -> ProcessRef {
        ProcessRef {
            pid: process.pid,
            start_ticks: process.start_ticks,
        }
    }
}

impl From<Usage> for Used {
    fn from(usage: Usage) -> Used {
        Used {
            user_us: usage.user_us,
            system_us: usage.system_us,
            peak_memory_bytes: usage.peak_memory_bytes,
            read_bytes: usage.read_bytes,
            written_bytes: usage.written_bytes,
        }
    }
}

impl From<Used> for Usage {
    fn from(used: Used) -> Usage {
        Usage {
            user_us: used.user_us,
            system_us: used.system_us,
            peak_memory_bytes: used.peak_memory_bytes,
            read_bytes: used.read_bytes,
            written_bytes: used.written_bytes,
        }
    }
}

impl From<WaitStatus> for Status {
    fn from(status: WaitStatus) -> Status {
        match status {
            WaitStatus::Exited(code) => Status {
                code: Some(code),
                signal: None,
            },
            WaitStatus::Signaled(signal) => Status {
                code: None,
                signal: Some(signal),
            },
            WaitStatus::Unknown => Status {
                code: None,
                signal: None,
            },
        }
    }
}

impl From<Status> for WaitStatus {
    fn from(status: Status) -> WaitStatus {
        match (status.code, status.signal) {
            (Some(code), None) => WaitStatus::Exited(code),
            (None, Some(signal)) => WaitStatus::Signaled(signal),
            _ => WaitStatus::Unknown,
        }
    }
}
