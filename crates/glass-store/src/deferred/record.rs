//! Changes as the bytes of a record.

use glass_model::{
    AuditEntry, Event, EventBody, EventIndex, Execution, LaunchId, Outcome, Phase, Role, ShellId,
    Stream,
};

use crate::change::Change;
use crate::codec::{Decoder, Encoder};
use crate::row::audit::{kind_columns, kind_of};
use crate::row::session::{mode_column, mode_of};
use crate::row::{decode_outcome, encode_outcome, sandbox_column, sandbox_of};

// What a change is, and what an event is. Numbers on the disk.
const INSERT: u64 = 0;
const START: u64 = 1;
const EVENT: u64 = 2;
const END: u64 = 3;
const MOVE: u64 = 4;
const INSERT_FOR_AGENT: u64 = 5;
const AUDIT: u64 = 6;
const COMMAND_START: u64 = 0;
const OUTPUT: u64 = 1;
const EXIT: u64 = 2;
const CWD: u64 = 3;

/// What happens with every command can be deferred. Without an event among
/// them, changes could not be told from such that were made already.
pub(super) fn encode(changes: &[Change]) -> Option<Vec<u8>> {
    let is_event = |change: &Change| matches!(change, Change::Event { .. });
    if !changes.iter().any(is_event) {
        return None;
    }
    let mut encoder = Encoder::default();
    encoder.number(changes.len() as u64);
    for change in changes {
        encode_change(&mut encoder, change)?;
    }
    Some(encoder.finish())
}

fn encode_change(encoder: &mut Encoder, change: &Change) -> Option<()> {
    match change {
        Change::InsertExecution(execution)
            if execution.phase == Phase::Running && !execution.held =>
        {
            encoder.number(match execution.asked_by {
                Role::Person => INSERT,
                Role::Agent => INSERT_FOR_AGENT,
            });
            encode_execution(encoder, execution)?;
        }
        Change::StartExecution {
            shell_id,
            launch,
            slot,
            start,
            started_ms,
            cwd,
        } => {
            encoder.number(START).number(shell_id.0.into());
            encoder.number(launch.0).number((*slot).into());
            encoder.number(start.0).number(started_ms.cast_unsigned());
            encoder.text(cwd);
        }
        Change::EndExecution {
            shell_id,
            end: Some(end),
            ended_ms,
            outcome,
        } => {
            encoder.number(END).number(shell_id.0.into()).number(end.0);
            encode_outcome(encoder.number(ended_ms.cast_unsigned()), outcome);
        }
        Change::UpdateSession {
            id,
            cwd: Some(cwd),
            env: None,
            mode: Some(mode),
            active_ms,
            disposed_ms: None,
        } => {
            encoder.number(MOVE).text(id.as_str()).text(cwd);
            encoder.number(mode_column(*mode).cast_unsigned());
            encoder.number(active_ms.cast_unsigned());
        }
        Change::Event { session, event } => {
            encoder.number(EVENT).text(session.as_str());
            encode_event(encoder, event)?;
        }
        Change::Audit(entry) => {
            encoder.number(AUDIT);
            encode_audit(encoder, entry);
        }
        _ => return None,
    }
    Some(())
}

fn encode_audit(encoder: &mut Encoder, entry: &AuditEntry) {
    let (kind, payload) = kind_columns(&entry.what);
    encoder.number(entry.at_ms.cast_unsigned());
    encoder
        .text(&entry.session)
        .number(entry.shell_id.into())
        .text(&entry.task)
        .text(&entry.asked_by);
    encoder.number(kind).bytes(&payload);
    encoder.text(&entry.command).text(&entry.detail);
}

fn encode_event(encoder: &mut Encoder, event: &Event) -> Option<()> {
    encoder
        .number(event.index.0)
        .number(event.at_ms.cast_unsigned());
    let shell_id = event.shell_id.map(|id| id.0.cast_signed());
    encoder.optional_code(shell_id);
    match &event.body {
        EventBody::CommandStart { command, cwd, pid } => {
            encoder.number(COMMAND_START).text(command).text(cwd);
            encoder.number((*pid).into());
        }
        EventBody::Output {
            stream,
            offset,
            bytes,
            position,
        } => {
            encoder.number(OUTPUT).flag(*stream == Stream::Stderr);
            encoder.number(*offset).number(*bytes).number(*position);
        }
        EventBody::Exit { command, outcome } => {
            encode_outcome(encoder.number(EXIT).text(command), outcome);
        }
        EventBody::Cwd { cwd } => {
            encoder.number(CWD).text(cwd);
        }
        EventBody::Dropped { .. }
        | EventBody::Disposed
        | EventBody::ApprovalPending { .. }
        | EventBody::Status { .. } => return None,
    }
    Some(())
}

fn encode_execution(encoder: &mut Encoder, execution: &Execution) -> Option<()> {
    encoder
        .number(execution.shell_id.0.into())
        .text(execution.session.as_str());
    encoder
        .text(&execution.command)
        .text(&execution.cwd)
        .text(&execution.tool_call_id);
    encoder
        .text(&execution.tool_call_scope)
        .text(&execution.requested_cwd);
    encoder.number(execution.env.len() as u64);
    for (name, value) in &execution.env {
        encoder.text(name).text(value);
    }
    encoder
        .number(execution.timeout_ms.into())
        .bytes(&sandbox_column(&execution.sandbox));
    encoder
        .number(execution.launch?.0)
        .number(execution.slot.into());
    encoder
        .number(execution.start?.0)
        .number(execution.started_ms.cast_unsigned());
    Some(())
}

pub(super) fn decode(payload: &[u8]) -> Option<Vec<Change>> {
    let mut decoder = Decoder::new(payload);
    let count = decoder.number()?;
    let mut changes = Vec::new();
    for _ in 0..count {
        changes.push(decode_change(&mut decoder)?);
    }
    decoder.finish()?;
    Some(changes)
}

fn decode_change(decoder: &mut Decoder<'_>) -> Option<Change> {
    Some(match decoder.number()? {
        INSERT => Change::InsertExecution(decode_execution(decoder, Role::Person)?),
        INSERT_FOR_AGENT => Change::InsertExecution(decode_execution(decoder, Role::Agent)?),
        START => Change::StartExecution {
            shell_id: ShellId(small(decoder)?),
            launch: LaunchId(decoder.number()?),
            slot: small(decoder)?,
            start: EventIndex(decoder.number()?),
            started_ms: decoder.number()?.cast_signed(),
            cwd: decoder.text()?,
        },
        EVENT => Change::Event {
            session: decoder.text()?.parse().ok()?,
            event: decode_event(decoder)?,
        },
        END => Change::EndExecution {
            shell_id: ShellId(small(decoder)?),
            end: Some(EventIndex(decoder.number()?)),
            ended_ms: decoder.number()?.cast_signed(),
            outcome: decode_outcome(decoder)?,
        },
        MOVE => Change::UpdateSession {
            id: decoder.text()?.parse().ok()?,
            cwd: Some(decoder.text()?),
            env: None,
            mode: Some(mode_of(decoder.number()?.cast_signed()).ok()?),
            active_ms: decoder.number()?.cast_signed(),
            disposed_ms: None,
        },
        AUDIT => Change::Audit(decode_audit(decoder)?),
        _ => return None,
    })
}

fn decode_audit(decoder: &mut Decoder<'_>) -> Option<AuditEntry> {
    Some(AuditEntry {
        at_ms: decoder.number()?.cast_signed(),
        session: decoder.text()?,
        shell_id: small(decoder)?,
        task: decoder.text()?,
        asked_by: decoder.text()?,
        what: kind_of(decoder.number()?, decoder.bytes()?)?,
        command: decoder.text()?,
        detail: decoder.text()?,
    })
}

fn decode_event(decoder: &mut Decoder<'_>) -> Option<Event> {
    let index = EventIndex(decoder.number()?);
    let at_ms = decoder.number()?.cast_signed();
    let shell_id = decoder
        .optional_code()?
        .map(|id| ShellId(id.cast_unsigned()));
    let body = match decoder.number()? {
        COMMAND_START => EventBody::CommandStart {
            command: decoder.text()?,
            cwd: decoder.text()?,
            pid: small(decoder)?,
        },
        OUTPUT => EventBody::Output {
            stream: if decoder.flag()? {
                Stream::Stderr
            } else {
                Stream::Stdout
            },
            offset: decoder.number()?,
            bytes: decoder.number()?,
            position: decoder.number()?,
        },
        EXIT => EventBody::Exit {
            command: decoder.text()?,
            outcome: decode_outcome(decoder)?,
        },
        CWD => EventBody::Cwd {
            cwd: decoder.text()?,
        },
        _ => return None,
    };
    Some(Event {
        index,
        at_ms,
        shell_id,
        body,
    })
}

fn decode_execution(decoder: &mut Decoder<'_>, asked_by: Role) -> Option<Execution> {
    let shell_id = ShellId(small(decoder)?);
    let session = decoder.text()?.parse().ok()?;
    let (command, cwd, tool_call_id) = (decoder.text()?, decoder.text()?, decoder.text()?);
    let (tool_call_scope, requested_cwd) = (decoder.text()?, decoder.text()?);
    let variables = decoder.number()?;
    let mut env = Vec::new();
    for _ in 0..variables {
        env.push((decoder.text()?, decoder.text()?));
    }
    Some(Execution {
        shell_id,
        session,
        command,
        cwd,
        tool_call_id,
        tool_call_scope,
        env,
        requested_cwd,
        timeout_ms: small(decoder)?,
        sandbox: sandbox_of(decoder.bytes()?).ok()?,
        asked_by,
        held: false,
        phase: Phase::Running,
        launch: Some(LaunchId(decoder.number()?)),
        slot: small(decoder)?,
        start: Some(EventIndex(decoder.number()?)),
        end: None,
        started_ms: decoder.number()?.cast_signed(),
        ended_ms: None,
        outcome: Outcome::default(),
    })
}

fn small(decoder: &mut Decoder<'_>) -> Option<u32> {
    u32::try_from(decoder.number()?).ok()
}
