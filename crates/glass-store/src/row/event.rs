//! Events as rows. What can be searched or summed is in columns of its own;
//! texts are in the payload.

use glass_model::{ApprovalId, Dropped, Event, EventBody, EventIndex, ShellId, Stream};
use rusqlite::{Connection, Row, params};

use crate::codec::{Decoder, Encoder};
use crate::error::{ReadError, WriteError};
use crate::row::{column, decode_outcome, encode_outcome, natural};

/// The columns that [`read`] expects, in this order.
pub(crate) const SELECT: &str =
    "SELECT idx, at_ms, shell_id, kind, stream, offset, bytes, position, payload FROM events";

const INSERT: &str = "INSERT INTO events (session, idx, at_ms, shell_id, kind, stream, offset, \
     bytes, position, payload) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

// The two kinds below 2 are those of the partial index.
const OUTPUT: i64 = 0;
const DROPPED: i64 = 1;
const COMMAND_START: i64 = 2;
const EXIT: i64 = 3;
const CWD: i64 = 4;
const DISPOSED: i64 = 5;
pub(crate) const STATUS: i64 = 6;
const APPROVAL_PENDING: i64 = 7;

/// What a body is in columns.
struct Columns {
    kind: i64,
    stream: Option<i64>,
    offset: Option<i64>,
    bytes: Option<i64>,
    position: Option<i64>,
    payload: Option<Vec<u8>>,
}

impl Columns {
    fn of_text(kind: i64, payload: Option<Vec<u8>>) -> Columns {
        Columns {
            kind,
            stream: None,
            offset: None,
            bytes: None,
            position: None,
            payload,
        }
    }
}

/// Writes a new event.
pub(crate) fn insert(conn: &Connection, session: i64, event: &Event) -> Result<(), WriteError> {
    let columns = columns(&event.body)?;
    conn.prepare_cached(INSERT)?.execute(params![
        session,
        column(event.index.0, "an index")?,
        event.at_ms,
        event.shell_id.map(|shell| shell.0),
        columns.kind,
        columns.stream,
        columns.offset,
        columns.bytes,
        columns.position,
        columns.payload,
    ])?;
    Ok(())
}

pub(crate) fn stream_column(stream: Stream) -> i64 {
    match stream {
        Stream::Stdout => 0,
        Stream::Stderr => 1,
    }
}

pub(crate) fn stream_of(value: i64) -> Result<Stream, ReadError> {
    match value {
        0 => Ok(Stream::Stdout),
        1 => Ok(Stream::Stderr),
        _ => Err(corrupt()),
    }
}

/// The payload of an event that stands for output that is gone.
pub(crate) fn dropped_payload(events: u64, reason: &str) -> Vec<u8> {
    Encoder::default().number(events).text(reason).finish()
}

fn columns(body: &EventBody) -> Result<Columns, WriteError> {
    let mut encoder = Encoder::default();
    Ok(match body {
        EventBody::Output {
            stream,
            offset,
            bytes,
            position,
        } => Columns {
            kind: OUTPUT,
            stream: Some(stream_column(*stream)),
            offset: Some(column(*offset, "an offset")?),
            bytes: Some(column(*bytes, "a length")?),
            position: Some(column(*position, "a position")?),
            payload: None,
        },
        EventBody::Dropped { position, dropped } => Columns {
            kind: DROPPED,
            stream: None,
            offset: None,
            bytes: Some(column(dropped.bytes, "a length")?),
            position: Some(column(*position, "a position")?),
            payload: Some(dropped_payload(dropped.events, &dropped.reason)),
        },
        EventBody::CommandStart { command, cwd, pid } => {
            encoder.text(command).text(cwd).number(u64::from(*pid));
            Columns::of_text(COMMAND_START, Some(encoder.finish()))
        }
        EventBody::Exit { command, outcome } => {
            encode_outcome(encoder.text(command), outcome);
            Columns::of_text(EXIT, Some(encoder.finish()))
        }
        EventBody::Cwd { cwd } => Columns::of_text(CWD, Some(encoder.text(cwd).finish())),
        EventBody::Disposed => Columns::of_text(DISPOSED, None),
        EventBody::ApprovalPending {
            approval_id,
            command,
            reason,
        } => {
            encoder.number(u64::from(approval_id.0.0));
            encoder.text(command).text(reason);
            Columns::of_text(APPROVAL_PENDING, Some(encoder.finish()))
        }
        EventBody::Status { status, detail } => {
            Columns::of_text(STATUS, Some(encoder.text(status).text(detail).finish()))
        }
    })
}

fn corrupt() -> ReadError {
    ReadError::Corrupt { what: "an event" }
}

/// Reads a row of [`SELECT`]; also says how many bytes its texts have.
pub(crate) fn read(row: &Row<'_>) -> Result<(Event, usize), ReadError> {
    let shell_id: Option<i64> = row.get(2)?;
    let payload = row
        .get_ref(8)?
        .as_blob_or_null()
        .map_err(|_| corrupt())?
        .unwrap_or_default();
    let event = Event {
        index: EventIndex(natural(row.get(0)?, "an index")?),
        at_ms: row.get(1)?,
        shell_id: shell_id
            .map(|id| natural(id, "a handle").map(ShellId))
            .transpose()?,
        body: match row.get::<_, i64>(3)? {
            OUTPUT => EventBody::Output {
                stream: stream_of(row.get(4)?)?,
                offset: natural(row.get(5)?, "an offset")?,
                bytes: natural(row.get(6)?, "a length")?,
                position: natural(row.get(7)?, "a position")?,
            },
            DROPPED => {
                let bytes = natural(row.get(6)?, "a length")?;
                let mut decoder = Decoder::new(payload);
                let events = decoder.number().ok_or_else(corrupt)?;
                let reason = decoder.text().ok_or_else(corrupt)?;
                EventBody::Dropped {
                    position: natural(row.get(7)?, "a position")?,
                    dropped: Dropped {
                        bytes,
                        events,
                        reason,
                    },
                }
            }
            kind => text_body(kind, payload).ok_or_else(corrupt)?,
        },
    };
    Ok((event, payload.len()))
}

fn text_body(kind: i64, payload: &[u8]) -> Option<EventBody> {
    let mut decoder = Decoder::new(payload);
    let body = match kind {
        COMMAND_START => EventBody::CommandStart {
            command: decoder.text()?,
            cwd: decoder.text()?,
            pid: u32::try_from(decoder.number()?).ok()?,
        },
        EXIT => EventBody::Exit {
            command: decoder.text()?,
            outcome: decode_outcome(&mut decoder)?,
        },
        CWD => EventBody::Cwd {
            cwd: decoder.text()?,
        },
        DISPOSED => EventBody::Disposed,
        APPROVAL_PENDING => EventBody::ApprovalPending {
            approval_id: ApprovalId(ShellId(u32::try_from(decoder.number()?).ok()?)),
            command: decoder.text()?,
            reason: decoder.text()?,
        },
        STATUS => EventBody::Status {
            status: decoder.text()?,
            detail: decoder.text()?,
        },
        _ => return None,
    };
    decoder.finish()?;
    Some(body)
}
