//! The bounds, as they are written in a file. `glass_model::Limits` is what
//! the program works with; this mirror is what a person writes.

use glass_model::Limits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LimitSettings {
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
    /// Time between the polite signal of a cancel and the final one, in
    /// milliseconds.
    pub cancel_grace_ms: u32,
    /// Seconds that a person's terminal lives without anybody looking at it.
    pub terminal_idle_seconds_max: u32,
    /// The same for the terminal of an agent.
    pub agent_terminal_idle_seconds_max: u32,
    /// Bytes of output in one result; beyond, the middle is cut and the whole
    /// is found in a file.
    pub file_output_threshold_bytes: u64,
}

impl Default for LimitSettings {
    fn default() -> LimitSettings {
        // Taken apart by name, so that a new limit cannot be forgotten here.
        let Limits {
            execution_output_bytes_max,
            session_output_bytes_max,
            store_output_bytes_max,
            session_events_max,
            audit_rows_max,
            disposed_days_max,
            disk_free_bytes_min,
            queue_max,
            sessions_max,
            command_bytes_max,
            startup_ms_max,
            cancel_grace_ms,
            terminal_idle_seconds_max,
            agent_terminal_idle_seconds_max,
            file_output_threshold_bytes,
        } = Limits::default();
        LimitSettings {
            execution_output_bytes_max,
            session_output_bytes_max,
            store_output_bytes_max,
            session_events_max,
            audit_rows_max,
            disposed_days_max,
            disk_free_bytes_min,
            queue_max,
            sessions_max,
            command_bytes_max,
            startup_ms_max,
            cancel_grace_ms,
            terminal_idle_seconds_max,
            agent_terminal_idle_seconds_max,
            file_output_threshold_bytes,
        }
    }
}

impl From<&LimitSettings> for Limits {
    fn from(settings: &LimitSettings) -> Limits {
        Limits {
            execution_output_bytes_max: settings.execution_output_bytes_max,
            session_output_bytes_max: settings.session_output_bytes_max,
            store_output_bytes_max: settings.store_output_bytes_max,
            session_events_max: settings.session_events_max,
            audit_rows_max: settings.audit_rows_max,
            disposed_days_max: settings.disposed_days_max,
            disk_free_bytes_min: settings.disk_free_bytes_min,
            queue_max: settings.queue_max,
            sessions_max: settings.sessions_max,
            command_bytes_max: settings.command_bytes_max,
            startup_ms_max: settings.startup_ms_max,
            cancel_grace_ms: settings.cancel_grace_ms,
            terminal_idle_seconds_max: settings.terminal_idle_seconds_max,
            agent_terminal_idle_seconds_max: settings.agent_terminal_idle_seconds_max,
            file_output_threshold_bytes: settings.file_output_threshold_bytes,
        }
    }
}
