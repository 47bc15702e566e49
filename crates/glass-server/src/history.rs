//! A session's stored events, a page at a time.

use crate::messages;
use crate::shorten::shorten;
use glass_model::{EventIndex, Execution, SessionId, ShellId};
use glass_proto::shellglass::v1 as wire;
use glass_proto::wire_execution;
use glass_session::{Caller, Engine, LookupError};
use prost::Message as _;

/// Bytes of events in one answer.
const PAGE_BYTES_MAX: usize = 2 << 20;

/// Events read from the journal in one go.
const BATCH_EVENTS_MAX: usize = 256;

/// The executions that were asked for, in order: there may be many, and each may have
/// megabytes.
fn wanted(
    engine: &Engine,
    caller: &Caller,
    session: &SessionId,
    request: &wire::HistoryRequest,
) -> Result<Vec<wire::Execution>, LookupError> {
    let all = match request.shell_id {
        0 => engine.executions(caller, session.as_str())?,
        id => match engine.execution(caller, ShellId(id)) {
            Ok(execution) if execution.session == *session => vec![execution],
            // It has none like that.
            Ok(_) | Err(LookupError::UnknownExecution(_)) => Vec::new(),
            Err(error) => return Err(error),
        },
    };
    let most = or_all(request.max_executions);
    let mut told = Vec::new();
    // The newest first: one that waits is told of nowhere, and counts as none.
    for execution in all.into_iter().rev() {
        if told.len() == most {
            break;
        }
        told.extend(shown(engine, execution, or_all(request.max_command_bytes))?);
    }
    told.reverse();
    Ok(told)
}

/// An execution as a caller is shown it: what it left behind may have been started with
/// a secret, and why it did not run may quote one.
fn shown(
    engine: &Engine,
    mut execution: Execution,
    command_bytes_max: usize,
) -> Result<Option<wire::Execution>, LookupError> {
    let outcome = &execution.outcome;
    let receipt = outcome.receipt.as_ref();
    let has_left = receipt.is_some_and(|receipt| !receipt.left.is_empty());
    if has_left || outcome.spawn_error.is_some() {
        let veil = engine.veil(execution.shell_id)?;
        execution.outcome = veil.outcome(outcome).into_owned();
    }
    Ok(told(execution, command_bytes_max))
}

/// An execution with the beginning of its command, at most so many bytes of it.
pub(crate) fn told(mut execution: Execution, command_bytes_max: usize) -> Option<wire::Execution> {
    let command_cut = shorten(&mut execution.command, command_bytes_max);
    wire_execution(&execution).map(|told| wire::Execution {
        command_cut,
        ..told
    })
}

/// A limit of the wire, where 0 is none.
fn or_all(limit: u32) -> usize {
    match limit {
        0 => usize::MAX,
        limit => limit as usize,
    }
}

/// The answer to a request for history.
pub(crate) fn read(
    engine: &Engine,
    caller: &Caller,
    request: &wire::HistoryRequest,
) -> Result<wire::SessionHistory, LookupError> {
    let session = engine.session(caller, &request.session_id)?.session;
    let (first, end) = engine.bounds(&session.id)?;
    let mut history = wire::SessionHistory {
        events: Vec::new(),
        executions: wanted(engine, caller, &session.id, request)?,
        cwd: session.cwd,
        next_index: None,
        first_index: first.0,
    };
    if request.omit_events {
        return Ok(history);
    }
    let max = or_all(request.max_events);
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
