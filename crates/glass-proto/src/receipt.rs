//! Receipts on the wire.

use crate::agent::v1 as agent;
use glass_model::{LeftProcess, Outcome, Peak};

/// What a command cost and left behind; absent where nothing is known.
pub fn receipt(outcome: &Outcome) -> Option<agent::Receipt> {
    let receipt = outcome.receipt.as_ref()?;
    let (peak_memory_bytes, peak_memory_is_sampled) = match receipt.peak_memory {
        None => (None, false),
        Some(Peak::Exact(bytes)) => (Some(bytes), false),
        Some(Peak::Seen(bytes)) => (Some(bytes), true),
    };
    Some(agent::Receipt {
        cpu_user_us: receipt.cpu_us.map(|(user, _)| user),
        cpu_system_us: receipt.cpu_us.map(|(_, system)| system),
        peak_memory_bytes,
        peak_memory_is_sampled,
        read_bytes: receipt.io_bytes.map(|(read, _)| read),
        written_bytes: receipt.io_bytes.map(|(_, written)| written),
        left: receipt.left.iter().map(left_process).collect(),
        left_count: receipt.left_count,
    })
}

fn left_process(left: &LeftProcess) -> agent::LeftProcess {
    agent::LeftProcess {
        pid: left.pid,
        command: left.command.clone(),
        ports: left.ports.iter().map(|port| u32::from(*port)).collect(),
    }
}
