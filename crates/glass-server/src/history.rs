//! A session's stored events, a page at a time.

use crate::messages;
use glass_model::{EventIndex, Execution, Outcome};
use glass_proto::shellglass::v1 as wire;
use glass_proto::wire_execution;
use glass_session::{Caller, Engine, LookupError};
use prost::Message as _;

/// Bytes of events in one answer.
const PAGE_BYTES_MAX: usize = 2 << 20;

/// Events read from the journal in one go.
const BATCH_EVENTS_MAX: usize = 256;

/// Executions as a caller is shown them: what they left behind may have been
/// started with a secret, and why one did not run may quote one.
fn told(engine: &Engine, executions: Vec<Execution>) -> Result<Vec<wire::Execution>, LookupError> {
    let has_left = |outcome: &Outcome| {
        let receipt = outcome.receipt.as_ref();
        let quotes = outcome.spawn_error.is_some();
        quotes || receipt.is_some_and(|receipt| !receipt.left.is_empty())
    };
    let mut told = Vec::new();
    for mut execution in executions {
        if has_left(&execution.outcome) {
            let veil = engine.veil(execution.shell_id)?;
            execution.outcome = veil.outcome(&execution.outcome).into_owned();
        }
        told.extend(wire_execution(&execution));
    }
    Ok(told)
}

/// The executions that were asked for: each may have megabytes, and there may be many.
fn wanted(mut all: Vec<Execution>, request: &wire::HistoryRequest) -> Vec<Execution> {
    if request.shell_id != 0 {
        all.retain(|execution| execution.shell_id.0 == request.shell_id);
    }
    if request.max_executions != 0 {
        let older = all.len().saturating_sub(request.max_executions as usize);
        all.drain(..older);
    }
    all
}

/// Leaves as much of each command as was asked for.
fn shorten(executions: &mut [wire::Execution], bytes_max: usize) {
    for execution in executions {
        if execution.command.len() > bytes_max {
            let end = execution.command.floor_char_boundary(bytes_max);
            execution.command.truncate(end);
            execution.command_cut = true;
        }
    }
}

/// The answer to a request for history.
pub(crate) fn read(
    engine: &Engine,
    caller: &Caller,
    request: &wire::HistoryRequest,
) -> Result<wire::SessionHistory, LookupError> {
    let session = engine.session(caller, &request.session_id)?.session;
    let executions = wanted(engine.executions(caller, &request.session_id)?, request);
    let (first, end) = engine.bounds(&session.id)?;
    let mut history = wire::SessionHistory {
        events: Vec::new(),
        executions: told(engine, executions)?,
        cwd: session.cwd,
        next_index: None,
        first_index: first.0,
    };
    if request.max_command_bytes != 0 {
        shorten(&mut history.executions, request.max_command_bytes as usize);
    }
    if request.omit_events {
        return Ok(history);
    }
    let max = if request.max_events == 0 {
        usize::MAX
    } else {
        request.max_events as usize
    };
    let mut at = EventIndex(request.from_index.max(first.0));
    let mut projection = engine.projection(&session.id);
    let mut bytes = 0;
    'pages: while at < end && history.events.len() < max {
        let wanted = (max - history.events.len()).min(BATCH_EVENTS_MAX);
        let events = engine.events(&session.id, at, wanted)?;
        if events.is_empty() {
            break;
        }
        for event in events {
            let index = event.index;
            let messages = messages::of_event(&mut projection, &event)?;
            let len = |message: &wire::SessionEvent| message.encoded_len();
            bytes += messages.iter().map(len).sum::<usize>();
            if bytes > PAGE_BYTES_MAX && !history.events.is_empty() {
                break 'pages;
            }
            history.events.extend(messages);
            at = index.next();
        }
    }
    history.next_index = (at < end).then_some(at.0);
    Ok(history)
}
