//! What a command cost and left behind, as fields.

use glass_proto::agent::v1::{LeftProcess, Receipt};
use schemars::JsonSchema;
use serde::Serialize;

/// What a command cost and left behind; null is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Spent {
    /// Time on processors in its programs, in milliseconds.
    pub cpu_user_ms: Option<u64>,
    /// Time on processors in the kernel, in milliseconds.
    pub cpu_system_ms: Option<u64>,
    /// The most memory that one of its processes had resident.
    pub peak_memory_bytes: Option<u64>,
    /// Whether that was seen by looking every now and then: it may have been more.
    pub peak_memory_is_sampled: bool,
    /// Bytes from storage.
    pub read_bytes: Option<u64>,
    /// Bytes to storage.
    pub written_bytes: Option<u64>,
    /// How many of its processes lived on when it ended.
    pub left_count: u32,
    /// Some of them.
    pub left: Vec<Left>,
}

/// A process that lived on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Left {
    /// Its number.
    pub pid: u32,
    /// Its command line, shortened.
    pub command: String,
    /// The TCP ports that it listened on then.
    pub ports: Vec<u32>,
}

impl From<&Receipt> for Spent {
    fn from(receipt: &Receipt) -> Spent {
        Spent {
            cpu_user_ms: receipt.cpu_user_us.map(|us| us / 1_000),
            cpu_system_ms: receipt.cpu_system_us.map(|us| us / 1_000),
            peak_memory_bytes: receipt.peak_memory_bytes,
            peak_memory_is_sampled: receipt.peak_memory_is_sampled,
            read_bytes: receipt.read_bytes,
            written_bytes: receipt.written_bytes,
            left_count: receipt.left_count,
            left: receipt.left.iter().map(Left::from).collect(),
        }
    }
}

impl From<&LeftProcess> for Left {
    fn from(left: &LeftProcess) -> Left {
        Left {
            pid: left.pid,
            command: left.command.clone(),
            ports: left.ports.clone(),
        }
    }
}
