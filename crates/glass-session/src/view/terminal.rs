//! The terminal of a session: its screen first, then its bytes as they come.

use super::{Access, AttachError, Shown, ViewSpec};
use crate::engine::{Caller, Engine};
use crate::errors::LookupError;
use crate::pty::{Attached, Client, ClientId, Order, Taken, TerminalHandle};
use bytes::Bytes;
use glass_model::Session;
use glass_vt::screen::ScreenSize;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Output is gathered for this long after a frame; the first goes at once.
const BATCH: Duration = Duration::from_millis(4);

/// Output is not gathered any more when this much waits.
const BATCH_BYTES_MAX: usize = 64 * 1024;

/// Bytes that are typed in one go.
const INPUT_BYTES_MAX: usize = 64 * 1024;

pub(super) struct TerminalReader {
    handle: TerminalHandle,
    id: ClientId,
    client: Arc<Client>,
    opened: Option<Shown>,
    /// When the next frame may go.
    next_frame: Instant,
    over: bool,
}

pub(super) struct TerminalWriter {
    handle: TerminalHandle,
    id: ClientId,
}

/// Opens a view of a session's terminal.
pub(super) async fn open(
    engine: &Engine,
    caller: &Caller,
    session: &Session,
    spec: ViewSpec,
) -> Result<(TerminalReader, TerminalWriter), AttachError> {
    if spec.access == Access::Interactive && !engine.may_type(caller) {
        return Err(AttachError::Unjudged(session.id.clone()));
    }
    let handle = engine.terminal(&session.id)?;
    let (reply, attached) = oneshot::channel();
    let order = Order::Attach {
        access: match spec.kind {
            // A mirror never types, whatever it shows.
            Some(super::ViewKind::Mirror) => Access::ReadOnly,
            _ => spec.access,
        },
        size: size(spec.columns, spec.rows),
        reply,
    };
    let gone = || LookupError::Disposed(session.id.clone());
    handle.orders.send(order).await.map_err(|_| gone())?;
    let attached = attached.await.map_err(|_| gone())?;
    let Attached {
        id,
        client,
        pid,
        cwd,
    } = attached;
    let reader = TerminalReader {
        handle: handle.clone(),
        id,
        client,
        opened: Some(Shown::opened(pid, cwd)),
        next_frame: Instant::now(),
        over: false,
    };
    Ok((reader, TerminalWriter { handle, id }))
}

/// A size that was measured; none where it was not.
fn size(columns: u32, rows: u32) -> Option<ScreenSize> {
    let narrow = |value: u32| u16::try_from(value).unwrap_or(u16::MAX);
    (columns > 0 && rows > 0).then(|| ScreenSize {
        columns: narrow(columns),
        rows: narrow(rows),
    })
}

impl TerminalReader {
    /// The next thing to show; none after the end. A daemon that stops is no
    /// end.
    pub(super) async fn next(&mut self) -> Result<Option<Shown>, LookupError> {
        if self.over {
            return Ok(None);
        }
        let shown = self.next_shown().await;
        shown.map(Some).ok_or(LookupError::Stopping)
    }

    async fn next_shown(&mut self) -> Option<Shown> {
        if let Some(opened) = self.opened.take() {
            return Some(opened);
        }
        loop {
            // A time that has come would still be waited for until a whole millisecond.
            if self.client.may_gather(BATCH_BYTES_MAX) && Instant::now() < self.next_frame {
                tokio::time::sleep_until(self.next_frame).await;
            }
            match self.client.take() {
                Taken::Shown(shown) => {
                    self.over = matches!(shown, Shown::Exited { .. });
                    if matches!(shown, Shown::Bytes { .. }) {
                        self.next_frame = Instant::now() + BATCH;
                    }
                    return Some(shown);
                }
                Taken::Lagging => {
                    let order = Order::Redraw { client: self.id };
                    self.handle.orders.send(order).await.ok()?;
                    self.client.has_asked();
                }
                Taken::Nothing => {
                    tokio::select! {
                        () = self.client.changed() => {}
                        // The daemon stops: what was shown last may be read.
                        () = self.handle.orders.closed() => return self.last(),
                    }
                }
            }
        }
    }

    /// What is left when the task is gone.
    fn last(&mut self) -> Option<Shown> {
        match self.client.take() {
            Taken::Shown(shown) => {
                self.over = matches!(shown, Shown::Exited { .. });
                Some(shown)
            }
            Taken::Lagging | Taken::Nothing => None,
        }
    }
}

impl Drop for TerminalReader {
    fn drop(&mut self) {
        // A full queue wakes the task as well.
        let _ = self.handle.orders.try_send(Order::Left);
    }
}

impl TerminalWriter {
    /// Types; waits while programs do not read what was typed before.
    pub(super) async fn input(&mut self, mut bytes: Bytes) {
        while !bytes.is_empty() {
            let piece = bytes.split_to(bytes.len().min(INPUT_BYTES_MAX));
            let count = u32::try_from(piece.len()).unwrap_or(u32::MAX);
            let Ok(room) = self.handle.input_room.acquire_many(count).await else {
                return;
            };
            // Given back when the terminal has taken it.
            room.forget();
            let order = Order::Input {
                client: self.id,
                bytes: piece,
            };
            if self.handle.orders.send(order).await.is_err() {
                return;
            }
        }
    }

    pub(super) async fn resize(&mut self, columns: u32, rows: u32) {
        if let Some(size) = size(columns, rows) {
            let client = self.id;
            // A terminal that is gone has no size.
            let _ = self
                .handle
                .orders
                .send(Order::Resize { client, size })
                .await;
        }
    }
}
