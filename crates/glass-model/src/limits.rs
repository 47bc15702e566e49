//! Every bound, with its name, its unit and its default.

/// The bounds that a configuration can change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of output kept for one execution; beyond, the middle goes.
    pub execution_output_bytes_max: u64,
    /// Bytes of output kept for one session; beyond, its oldest executions go.
    pub session_output_bytes_max: u64,
    /// Bytes of output kept in all; beyond, the oldest executions go.
    pub store_output_bytes_max: u64,
    /// Events kept for one session; beyond, the oldest go.
    pub session_events_max: u64,
    /// Entries of the audit that are kept; beyond, the oldest go.
    pub audit_rows_max: u64,
    /// Days that a disposed session is remembered.
    pub disposed_days_max: u32,
    /// Bytes that must stay free on the disk; below, output is not recorded.
    pub disk_free_bytes_min: u64,
    /// Executions that may wait in one session.
    pub queue_max: u32,
    /// Sessions that may live at once.
    pub sessions_max: u32,
    /// The longest command, in bytes.
    pub command_bytes_max: u64,
    /// Time for a shell's start files, in milliseconds.
    pub startup_ms_max: u32,
    /// Time between the polite signal of a cancel and the final one.
    pub cancel_grace_ms: u32,
    /// Seconds that a person's terminal lives without anybody looking at it.
    pub terminal_idle_seconds_max: u32,
    /// The same for the terminal of an agent.
    pub agent_terminal_idle_seconds_max: u32,
    /// Bytes of output in a `Run` answer; beyond, the middle is cut and the
    /// whole is found in a file.
    pub file_output_threshold_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            execution_output_bytes_max: 256 << 20,
            session_output_bytes_max: 1 << 30,
            store_output_bytes_max: 8 << 30,
            session_events_max: 200_000,
            audit_rows_max: 1_000_000,
            disposed_days_max: 30,
            disk_free_bytes_min: 256 << 20,
            queue_max: 64,
            sessions_max: 4096,
            command_bytes_max: 4 << 20,
            startup_ms_max: 5_000,
            cancel_grace_ms: 200,
            terminal_idle_seconds_max: 30 * 60,
            agent_terminal_idle_seconds_max: 24 * 3600,
            file_output_threshold_bytes: 1 << 20,
        }
    }
}
