//! From the vocabulary to the wire and back.

use crate::agent::v1 as agent;
use crate::receipt::receipt;
use crate::shellglass::v1 as wire;
use glass_model::{
    AbortReason, Dropped, Event, EventBody, Execution, Outcome, SandboxKind, SandboxPolicy, Stream,
    core_dump_possible, signal_name,
};

/// A policy as a caller asked for it.
pub fn sandbox_from_wire(policy: agent::SandboxPolicy) -> SandboxPolicy {
    let kind = match policy.r#type() {
        agent::sandbox_policy::Type::Unspecified => SandboxKind::Unspecified,
        agent::sandbox_policy::Type::InsecureNone => SandboxKind::InsecureNone,
        agent::sandbox_policy::Type::WorkspaceReadwrite => SandboxKind::WorkspaceReadWrite,
        agent::sandbox_policy::Type::WorkspaceReadonly => SandboxKind::WorkspaceReadOnly,
    };
    SandboxPolicy {
        kind,
        network_access: policy.network_access,
        readwrite_paths: policy.additional_readwrite_paths,
        readonly_paths: policy.additional_readonly_paths,
        debug_output_dir: policy.debug_output_dir,
        block_git_writes: policy.block_git_writes,
        disable_tmp_write: policy.disable_tmp_write,
        ignore_mapping_json: policy.ignore_mapping_json,
    }
}

/// A policy as a result reports it.
pub fn sandbox_to_wire(policy: &SandboxPolicy) -> agent::SandboxPolicy {
    let kind = match policy.kind {
        SandboxKind::Unspecified => agent::sandbox_policy::Type::Unspecified,
        SandboxKind::InsecureNone => agent::sandbox_policy::Type::InsecureNone,
        SandboxKind::WorkspaceReadWrite => agent::sandbox_policy::Type::WorkspaceReadwrite,
        SandboxKind::WorkspaceReadOnly => agent::sandbox_policy::Type::WorkspaceReadonly,
    };
    agent::SandboxPolicy {
        r#type: kind.into(),
        network_access: policy.network_access,
        additional_readwrite_paths: policy.readwrite_paths.clone(),
        additional_readonly_paths: policy.readonly_paths.clone(),
        debug_output_dir: policy.debug_output_dir.clone(),
        block_git_writes: policy.block_git_writes,
        disable_tmp_write: policy.disable_tmp_write,
        ignore_mapping_json: policy.ignore_mapping_json.clone(),
    }
}

/// Bytes as the wire carries them: text, and the exact bytes where text could
/// not carry them.
pub fn text_and_raw(bytes: Vec<u8>) -> (String, Option<prost::bytes::Bytes>) {
    match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let bytes = error.into_bytes();
            (
                String::from_utf8_lossy(&bytes).into_owned(),
                Some(bytes.into()),
            )
        }
    }
}

/// How a command ended, beyond its code; absent where there is nothing to say.
pub fn exit_details(outcome: &Outcome) -> Option<agent::ExitDetails> {
    let details = &outcome.details;
    let wire = agent::ExitDetails {
        signal_number: details.signal,
        signal_name: details.signal.map(signal_name).unwrap_or_default(),
        core_dump_possible: details.signal.is_some_and(core_dump_possible),
        out_of_memory: details.out_of_memory,
        shell_replaced: details.shell_replaced,
        sandbox_denials: details.sandbox_denials.clone(),
        wants_terminal: details.wants_terminal,
    };
    (wire != agent::ExitDetails::default()).then_some(wire)
}

fn abort_reason(reason: AbortReason) -> agent::ShellAbortReason {
    match reason {
        AbortReason::User => agent::ShellAbortReason::UserAbort,
        AbortReason::Timeout => agent::ShellAbortReason::Timeout,
    }
}

/// The last message of an `Execute` stream.
pub fn exit_stream(
    outcome: &Outcome,
    cwd: String,
    output_location: Option<agent::OutputLocation>,
) -> agent::ShellStreamExit {
    agent::ShellStreamExit {
        code: outcome
            .code
            .and_then(|code| u32::try_from(code).ok())
            .unwrap_or(0),
        cwd,
        output_location,
        aborted: outcome.abort.is_some(),
        abort_reason: outcome.abort.map(|reason| abort_reason(reason).into()),
        code_unknown: outcome.code.is_none(),
        exit_details: exit_details(outcome),
        receipt: receipt(outcome),
    }
}

/// The end of a command, as an event of its session.
pub fn exit_event(command: String, outcome: &Outcome) -> wire::ExitEvent {
    wire::ExitEvent {
        code: outcome.code,
        signal: outcome.details.signal.map(signal_name).unwrap_or_default(),
        aborted: outcome.abort.is_some(),
        abort_reason: outcome
            .abort
            .map_or(0, |reason| abort_reason(reason).into()),
        command,
        confidence: "high".to_owned(),
        is_trusted: true,
        details: exit_details(outcome),
        receipt: receipt(outcome),
    }
}

/// What an event means for its command, in a word; empty where it means nothing
/// for it.
fn status(body: &EventBody) -> &str {
    match body {
        EventBody::CommandStart { .. } => "started",
        EventBody::Output { .. } => "output",
        EventBody::Exit { .. } => "exited",
        EventBody::Status { status, .. } => status,
        EventBody::Cwd { .. }
        | EventBody::Disposed
        | EventBody::Dropped { .. }
        | EventBody::ApprovalPending { .. } => "",
    }
}

/// One event; `bytes` are those that an output event names.
pub fn session_event(event: Event, bytes: Vec<u8>) -> wire::SessionEvent {
    use wire::session_event::Event as Body;
    let command_status = status(&event.body).to_owned();
    let body = match event.body {
        EventBody::Output {
            stream: Stream::Stdout,
            ..
        } => {
            let (data, raw) = text_and_raw(bytes);
            Body::Stdout(agent::ShellStreamStdout { data, raw })
        }
        EventBody::Output {
            stream: Stream::Stderr,
            ..
        } => {
            let (data, raw) = text_and_raw(bytes);
            Body::Stderr(agent::ShellStreamStderr { data, raw })
        }
        EventBody::CommandStart { command, cwd, pid } => Body::CommandStart(wire::CommandStart {
            command,
            cwd,
            confidence: "high".to_owned(),
            is_trusted: true,
            pid,
        }),
        EventBody::Exit { command, outcome } => Body::Exit(exit_event(command, &outcome)),
        EventBody::Cwd { cwd } => Body::Cwd(wire::CwdChange { cwd }),
        EventBody::Disposed => Body::Disposed(wire::Disposed {}),
        EventBody::Dropped {
            dropped:
                Dropped {
                    bytes,
                    events,
                    reason,
                },
            ..
        } => Body::Dropped(wire::Dropped {
            bytes,
            events,
            reason,
        }),
        EventBody::ApprovalPending {
            approval_id,
            command,
            reason,
        } => Body::Approval(wire::ApprovalPending {
            approval_id: approval_id.to_string(),
            command,
            reason,
        }),
        EventBody::Status { status, detail } if status == "integration" => {
            let (level, reason) = detail.split_once(": ").unwrap_or((&detail, ""));
            Body::Integration(wire::IntegrationChange {
                level: level.to_owned(),
                reason: reason.to_owned(),
            })
        }
        EventBody::Status { status, detail } => Body::Status(wire::Status {
            status,
            detail,
            pid: 0,
        }),
    };
    wire::SessionEvent {
        index: event.index.0,
        unix_ms: event.at_ms,
        event: Some(body),
        command_status,
        shell_id: event.shell_id.map_or(0, |id| id.0),
    }
}

/// One command of a session's history; absent while it waits in the queue, and
/// if it was withdrawn there. One that was refused, or could not be run, has its
/// end for its beginning.
pub fn wire_execution(execution: &Execution) -> Option<wire::Execution> {
    let outcome = &execution.outcome;
    let was_kept = outcome.rejected.is_some() || outcome.spawn_error.is_some();
    let start = execution.start.or(execution.end.filter(|_| was_kept))?;
    Some(wire::Execution {
        shell_id: execution.shell_id.0,
        rejected: outcome.rejected.clone().unwrap_or_default(),
        spawn_error: outcome.spawn_error.clone().unwrap_or_default(),
        command_cut: false,
        receipt: receipt(outcome),
        command: execution.command.clone(),
        cwd: match execution.cwd.is_empty() {
            true => execution.requested_cwd.clone(),
            false => execution.cwd.clone(),
        },
        start_index: start.0,
        end_index: execution.end.map(|index| index.0),
        exit_code: outcome.code,
        signal: outcome.details.signal.map(signal_name).unwrap_or_default(),
        started_unix_ms: execution.started_ms,
        ended_unix_ms: execution.ended_ms,
        tool_call_id: execution.tool_call_id.clone(),
        sandbox_policy: Some(sandbox_to_wire(&execution.sandbox)),
        aborted: outcome.abort.is_some(),
        abort_reason: outcome
            .abort
            .map_or(0, |reason| abort_reason(reason).into()),
    })
}
