//! What a command cost and left behind, in words.

use glass_proto::agent::v1::{LeftProcess, Receipt};

/// Time on processors that is worth a word, in microseconds.
const NOTED_CPU_US: u64 = 10_000_000;

/// Memory of one process that is worth a word, in bytes.
const NOTED_MEMORY_BYTES: u64 = 1 << 30;

/// Storage that is worth a word, in bytes.
const NOTED_IO_BYTES: u64 = 1 << 30;

/// Processes that are named.
const NAMED_MAX: usize = 4;

/// Characters of a command line that are shown.
const COMMAND_CHARS_MAX: usize = 80;

/// One line about what somebody should know; none where nothing stands out.
pub(crate) fn noteworthy(receipt: &Receipt) -> Option<String> {
    let mut parts = Vec::new();
    let cpu = receipt.cpu_user_us.zip(receipt.cpu_system_us);
    if let Some(us) = cpu.map(|(user, system)| user.saturating_add(system))
        && us >= NOTED_CPU_US
    {
        parts.push(format!("{} s of CPU", us / 1_000_000));
    }
    if let Some(bytes) = receipt.peak_memory_bytes
        && bytes >= NOTED_MEMORY_BYTES
    {
        let least = match receipt.peak_memory_is_sampled {
            true => "at least ",
            false => "",
        };
        parts.push(format!("{least}{} of memory", amount(bytes)));
    }
    let io = receipt.read_bytes.zip(receipt.written_bytes);
    if let Some((read, written)) = io
        && read.max(written) >= NOTED_IO_BYTES
    {
        let (read, written) = (amount(read), amount(written));
        parts.push(format!("{read} read and {written} written"));
    }
    parts.extend(left(receipt));
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// What lives on.
fn left(receipt: &Receipt) -> Option<String> {
    let count = receipt.left_count;
    if count == 0 {
        return None;
    }
    let named = receipt.left.iter().take(NAMED_MAX);
    let mut names: Vec<String> = named.map(process).collect();
    let more = (count as usize).saturating_sub(names.len());
    if more > 0 {
        names.push(format!("{more} more"));
    }
    Some(format!("still alive: {}", names.join("; ")))
}

fn process(left: &LeftProcess) -> String {
    let mut command: String = left.command.chars().take(COMMAND_CHARS_MAX).collect();
    if command.len() < left.command.len() {
        command.push('…');
    }
    let ports: Vec<String> = left.ports.iter().map(u32::to_string).collect();
    let ports = match ports.as_slice() {
        [] => String::new(),
        ports => format!(", listens on {}", ports.join(", ")),
    };
    // Nothing in a command line moves the cursor or ends the line.
    format!("{} (pid {}{ports})", command.escape_debug(), left.pid)
}

/// An amount as people say it.
fn amount(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    for (unit, name) in UNITS {
        if bytes >= unit {
            return format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit);
        }
    }
    format!("{bytes} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_out_is_said() {
        let cheap = Receipt {
            cpu_user_us: Some(9_000_000),
            cpu_system_us: Some(0),
            peak_memory_bytes: Some(1 << 20),
            ..Receipt::default()
        };
        assert_eq!(noteworthy(&cheap), None);
        let dear = Receipt {
            cpu_system_us: Some(3_500_000),
            peak_memory_bytes: Some(3 << 29),
            peak_memory_is_sampled: true,
            left_count: 6,
            left: (1..7)
                .map(|pid| LeftProcess {
                    pid,
                    command: "a\nb".to_owned(),
                    ports: if pid == 1 { vec![80, 443] } else { vec![] },
                })
                .collect(),
            ..cheap
        };
        assert_eq!(
            noteworthy(&dear).as_deref(),
            Some(
                "12 s of CPU · at least 1.5 GiB of memory · still alive: a\\nb (pid 1, listens on \
                 80, 443); a\\nb (pid 2); a\\nb (pid 3); a\\nb (pid 4); 2 more"
            )
        );
    }
}
