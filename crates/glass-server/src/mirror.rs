//! A session as a terminal that only shows: its history, then what happens.
//!
//! Reading is by cursor: a reader that is slow reads later, and costs the
//! session nothing.

use crate::shown::{self, Reader, Shown};
use axum::body::Bytes;
use glass_model::{Dropped, Event, EventBody, EventIndex, SessionId};
use glass_session::{Caller, Engine, LookupError};
use glass_vt::mirror::{Mirror, MirrorEvent, replay_bytes_max};
use std::collections::VecDeque;
use tokio::sync::mpsc;

/// Bytes of a piece: a client that can hold little is not sent much more, and
/// what it is told does not wait long behind.
const PIECE_BYTES_MAX: usize = 64 * 1024;

/// Pieces that wait for a slow client.
const PIECES_MAX: usize = 1;

/// Events that are counted in one go before a replay.
const COUNT_EVENTS_MAX: usize = 4096;

/// A mirror of one session.
pub(crate) struct MirrorView {
    reader: Reader,
    mirror: Mirror,
    /// The first event that is not part of the replay; none once it is over.
    replay_end: Option<EventIndex>,
    pieces: VecDeque<Piece>,
    /// Bytes that are not a piece yet.
    out: Vec<u8>,
    /// When the live event happened that was shown last.
    shown_ms: i64,
}

/// What a mirror shows next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Bytes for the terminal, and when what they show happened, in milliseconds
    /// since 1970; far in the future for what is not live.
    Bytes(Bytes, i64),
    /// The session has another directory.
    Cwd(String),
    /// The replay is over; what follows is live and begins with this event.
    Ready(EventIndex),
}

/// What comes of a mirror, until nothing does: then the session is over.
pub(crate) type Pieces = mpsc::Receiver<Result<Piece, LookupError>>;

/// Opens a mirror from an event on; the session does not notice. Also says the
/// session's directory.
pub(crate) async fn open(
    engine: &Engine,
    caller: &Caller,
    id: &str,
    from: EventIndex,
) -> Result<(Pieces, String), LookupError> {
    let (view, cwd) = MirrorView::open(engine, caller, id, from).await?;
    let (sender, pieces) = mpsc::channel(PIECES_MAX);
    tokio::spawn(view.run(sender));
    Ok((pieces, cwd))
}

impl MirrorView {
    async fn open(
        engine: &Engine,
        caller: &Caller,
        id: &str,
        from: EventIndex,
    ) -> Result<(MirrorView, String), LookupError> {
        let session = engine.session(caller, id)?.session;
        let (first, _) = engine.bounds(&session.id)?;
        let from = from.max(first);
        // First the reader and then the end of the history: what happens in
        // between is read once, as part of what is live.
        let follower = engine.follow(caller, id, from)?;
        let (_, end) = engine.bounds(&session.id)?;
        let bytes_max = replay_bytes_max(session.scrollback);
        let counter = (engine.clone(), session.id.clone());
        let counted = tokio::task::spawn_blocking(move || {
            Extent::of(&counter.0, &counter.1, from..end, bytes_max)
        });
        let extent = counted.await.map_err(|_| LookupError::Stopping)??;
        let mut out = Vec::new();
        let mut mirror = Mirror::open(&session.cwd, &mut out);
        mirror.limit_replay(extent.bytes, bytes_max, &mut out);
        let reader = shown::all(engine, follower).without_output_before(extent.kept_from);
        let view = MirrorView {
            reader,
            mirror,
            // A cursor beyond the end has nothing to replay.
            replay_end: Some(end.max(from)),
            pieces: VecDeque::new(),
            out,
            shown_ms: i64::MAX,
        };
        Ok((view, session.cwd))
    }

    /// Hands over piece by piece, until the session is over or nobody looks.
    async fn run(mut self, sender: mpsc::Sender<Result<Piece, LookupError>>) {
        loop {
            let next = tokio::select! {
                next = self.next() => next,
                () = sender.closed() => return,
            };
            let (piece, is_last) = match next {
                Ok(Some(piece)) => (Ok(piece), false),
                Ok(None) => return,
                Err(error) => (Err(error), true),
            };
            if sender.send(piece).await.is_err() || is_last {
                return;
            }
        }
    }

    /// What is to be shown next; none when the session is over.
    async fn next(&mut self) -> Result<Option<Piece>, LookupError> {
        loop {
            if let Some(piece) = self.pieces.pop_front() {
                return Ok(Some(piece));
            }
            if let Some(end) = self.replay_end.filter(|end| self.reader.is_past(*end)) {
                self.end_replay(end);
                continue;
            }
            let is_full = self.out.len() >= PIECE_BYTES_MAX;
            if !self.out.is_empty() && (is_full || !self.reader.has_more()) {
                self.flush();
                continue;
            }
            match self.reader.next().await? {
                Some(shown) => self.show(shown),
                None => match self.replay_end {
                    Some(end) => self.end_replay(end),
                    None if self.out.is_empty() => return Ok(None),
                    None => self.flush(),
                },
            }
        }
    }

    fn flush(&mut self) {
        let mut rest = Bytes::from(std::mem::take(&mut self.out));
        while !rest.is_empty() {
            let piece = rest.split_to(rest.len().min(PIECE_BYTES_MAX));
            self.pieces.push_back(Piece::Bytes(piece, self.shown_ms));
        }
    }

    fn end_replay(&mut self, end: EventIndex) {
        self.mirror.settle(&mut self.out);
        self.flush();
        self.pieces.push_back(Piece::Ready(end));
        self.replay_end = None;
    }

    fn show(&mut self, shown: Shown) {
        match shown {
            Shown::Event(event, bytes) => {
                if self.replay_end.is_none() {
                    self.shown_ms = event.at_ms;
                }
                self.show_event(&event, &bytes);
            }
            Shown::Late(late) => self.show_output(&late.bytes),
        }
    }

    fn show_event(&mut self, event: &Event, output: &[u8]) {
        match &event.body {
            EventBody::CommandStart { command, .. } => {
                let event = MirrorEvent::CommandStart { command };
                self.mirror.show(event, &mut self.out);
            }
            EventBody::Output { bytes, .. } => {
                if !self.mirror.drops_whole(*bytes) {
                    self.show_output(output);
                }
            }
            EventBody::Dropped { dropped, .. } => self.show_dropped(dropped),
            EventBody::Exit { outcome, .. } => {
                let code = outcome.code;
                self.mirror.show(MirrorEvent::Exit { code }, &mut self.out);
            }
            EventBody::Cwd { cwd } => {
                self.flush();
                self.pieces.push_back(Piece::Cwd(cwd.clone()));
                self.mirror
                    .show(MirrorEvent::Cwd { path: cwd }, &mut self.out);
            }
            EventBody::Disposed | EventBody::ApprovalPending { .. } | EventBody::Status { .. } => {}
        }
    }

    fn show_output(&mut self, bytes: &[u8]) {
        self.mirror
            .show(MirrorEvent::Output { bytes }, &mut self.out);
    }

    /// A gap that nobody sees would be a lie.
    fn show_dropped(&mut self, dropped: &Dropped) {
        let notice = format!("[{} bytes dropped: {}]\n", dropped.bytes, dropped.reason);
        self.show_output(notice.as_bytes());
    }
}

/// How much output there is to replay.
struct Extent {
    bytes: u64,
    /// The first event whose output is shown, at least in part.
    kept_from: EventIndex,
}

impl Extent {
    /// Looks at a range of events of which `bytes_max` of output are shown.
    fn of(
        engine: &Engine,
        id: &SessionId,
        range: std::ops::Range<EventIndex>,
        bytes_max: u64,
    ) -> Result<Extent, LookupError> {
        let mut at = range.start;
        let mut total = 0_u64;
        // The last events, which together have what is shown.
        let mut kept: VecDeque<(EventIndex, u64)> = VecDeque::new();
        let mut kept_bytes = 0_u64;
        while at < range.end {
            let events = engine.events(id, at, COUNT_EVENTS_MAX)?;
            let Some(last) = events.last() else { break };
            at = last.index.next();
            for event in events.iter().filter(|event| event.index < range.end) {
                let EventBody::Output { bytes, .. } = event.body else {
                    continue;
                };
                total = total.saturating_add(bytes);
                kept.push_back((event.index, bytes));
                kept_bytes = kept_bytes.saturating_add(bytes);
                while let Some((_, oldest)) = kept.front().copied()
                    && kept_bytes - oldest >= bytes_max
                {
                    kept.pop_front();
                    kept_bytes -= oldest;
                }
            }
        }
        let kept_from = kept.front().map_or(range.start, |(index, _)| *index);
        Ok(Extent {
            bytes: total,
            kept_from,
        })
    }
}
