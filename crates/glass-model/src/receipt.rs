//! What a command cost, and what it left behind.
//!
//! Invariant: a figure that is not known is absent; none is estimated.

/// What a process and those that it has waited for have used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time on processors in its own code, in microseconds.
    pub user_us: u64,
    /// Time on processors in the kernel, in microseconds.
    pub system_us: u64,
    /// The most memory that one of the processes had resident, in bytes.
    pub peak_memory_bytes: u64,
    /// Bytes that came from storage.
    pub read_bytes: u64,
    /// Bytes that went to storage.
    pub written_bytes: u64,
}

/// How a peak of memory was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peak {
    /// The kernel counted it: the most that one process had resident.
    Exact(u64),
    /// Somebody looked every now and then: at least this much.
    Seen(u64),
}

/// A process that a command left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftProcess {
    /// Its number.
    pub pid: u32,
    /// Its command line, shortened.
    pub command: String,
    /// The TCP ports that it listens on.
    pub ports: Vec<u16>,
}

/// What a command has used until its end, and what lives on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// Time on processors, in microseconds: in its own code, and in the kernel.
    pub cpu_us: Option<(u64, u64)>,
    /// Memory that one of its processes had resident.
    pub peak_memory: Option<Peak>,
    /// Bytes from storage, and to it.
    pub io_bytes: Option<(u64, u64)>,
    /// What it left behind, the oldest first; no more than a few.
    pub left: Vec<LeftProcess>,
    /// How many it left behind in all.
    pub left_count: u32,
}

impl Receipt {
    /// The receipt of a command whose processes the kernel has accounted for.
    pub fn of_usage(usage: Usage) -> Receipt {
        Receipt {
            cpu_us: Some((usage.user_us, usage.system_us)),
            peak_memory: Some(Peak::Exact(usage.peak_memory_bytes)),
            io_bytes: Some((usage.read_bytes, usage.written_bytes)),
            ..Receipt::default()
        }
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == Receipt::default()
    }
}
