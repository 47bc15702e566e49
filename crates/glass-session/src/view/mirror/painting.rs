//! Draws a session's history, and then what happens.

use super::announced::Announced;
use super::readable::Readable;
use super::replay::Replay;
use crate::engine::{Caller, Engine};
use crate::errors::LookupError;
use crate::reader::{Reader, Told};
use crate::view::Shown;
use crate::view::facts::name_of;
use bytes::Bytes;
use glass_model::{Dropped, Event, EventBody, EventIndex, Session, ShellId, Stream};
use glass_vt::mirror::{Mirror, MirrorEvent};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Bytes of a piece: a client that can hold little is not sent much more, and
/// what it is told does not wait long behind.
const PIECE_BYTES_MAX: usize = 64 * 1024;

/// The process number of a view that is none.
const NO_PID: i32 = -1;

/// A mirror that is being drawn.
pub(super) struct Painting {
    reader: Reader,
    mirror: Mirror,
    readable: Readable,
    /// The first event that is not part of the replay; none once it is over.
    replay_end: Option<EventIndex>,
    ready: VecDeque<Shown>,
    /// Bytes that are not a piece yet.
    out: Vec<u8>,
    /// When the live event happened that was shown last.
    shown_ms: Option<i64>,
    /// What is shown at the first prompt before it runs.
    announced: Arc<Announced>,
    /// Whether the session's last event was shown.
    disposed: bool,
    over: bool,
}

impl Painting {
    pub(super) async fn begin(
        engine: &Engine,
        caller: &Caller,
        session: &Session,
        from: EventIndex,
    ) -> Result<Painting, LookupError> {
        let replay = Replay::begin(engine, caller, session, from).await?;
        let mut out = Vec::new();
        let mut mirror = Mirror::open(&session.cwd, &mut out);
        let ready = VecDeque::from([
            Shown::opened(NO_PID, session.cwd.clone()),
            Shown::undated(Bytes::from(std::mem::take(&mut out))),
            Shown::Property {
                name: "initialCwd",
                value: session.cwd.clone(),
            },
        ]);
        mirror.limit_replay(replay.bytes, replay.bytes_max, &mut out);
        Ok(Painting {
            reader: replay.reader,
            mirror,
            readable: Readable::default(),
            replay_end: Some(replay.end),
            ready,
            out,
            shown_ms: None,
            announced: Arc::default(),
            disposed: session.disposed_ms.is_some(),
            over: false,
        })
    }

    /// What is announced to this mirror.
    pub(super) fn announced(&self) -> Arc<Announced> {
        self.announced.clone()
    }

    /// Hands over piece by piece, until the session is over or nobody looks.
    pub(super) async fn run(mut self, sender: mpsc::Sender<Result<Shown, LookupError>>) {
        loop {
            let next = tokio::select! {
                next = self.next() => next,
                () = sender.closed() => return,
            };
            let Some(shown) = next.transpose() else {
                return;
            };
            let is_last = shown.is_err();
            if sender.send(shown).await.is_err() || is_last {
                return;
            }
        }
    }

    /// What is to be shown next; none when the session is over.
    async fn next(&mut self) -> Result<Option<Shown>, LookupError> {
        loop {
            if let Some(shown) = self.ready.pop_front() {
                return Ok(Some(shown));
            }
            if self.over {
                return Ok(None);
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
                Some(Told::Event(event, bytes)) => self.show(&event, &bytes),
                Some(Told::Late(late)) => {
                    self.show_told(Some(late.shell_id), late.stream, &late.bytes);
                }
                None => self.end()?,
            }
        }
    }

    fn flush(&mut self) {
        let mut rest = Bytes::from(std::mem::take(&mut self.out));
        while !rest.is_empty() {
            let bytes = rest.split_to(rest.len().min(PIECE_BYTES_MAX));
            let at_ms = self.shown_ms;
            self.ready.push_back(Shown::Bytes { bytes, at_ms });
        }
    }

    fn end_replay(&mut self, end: EventIndex) {
        if self.mirror.settle(&mut self.out) {
            self.announced.open();
        }
        self.flush();
        self.ready.push_back(Shown::Ready { next: Some(end) });
        self.replay_end = None;
    }

    /// A daemon that stops is no end.
    fn end(&mut self) -> Result<(), LookupError> {
        if !self.disposed {
            return Err(LookupError::Stopping);
        }
        if let Some(end) = self.replay_end {
            self.end_replay(end);
        }
        self.flush();
        self.ready.push_back(Shown::Exited { code: None });
        self.over = true;
        Ok(())
    }

    fn show(&mut self, event: &Event, output: &[u8]) {
        if self.replay_end.is_none() {
            self.shown_ms = Some(event.at_ms);
        }
        self.readable.note(event);
        match &event.body {
            EventBody::CommandStart { command, .. } => self.show_start(command),
            EventBody::Output { stream, bytes, .. } => {
                if !self.mirror.drops_whole(*bytes) {
                    self.show_told(event.shell_id, *stream, output);
                }
            }
            EventBody::Dropped { dropped, .. } => self.show_dropped(dropped),
            EventBody::Exit { outcome, .. } => {
                let held = self.readable.end(event.shell_id);
                self.show_output(&held);
                let code = outcome.code;
                self.mirror.show(MirrorEvent::Exit { code }, &mut self.out);
            }
            EventBody::Cwd { cwd } => {
                self.flush();
                self.ready.push_back(Shown::Property {
                    name: "cwd",
                    value: cwd.clone(),
                });
                self.mirror
                    .show(MirrorEvent::Cwd { path: cwd }, &mut self.out);
            }
            EventBody::Disposed => self.disposed = true,
            EventBody::ApprovalPending { .. } | EventBody::Status { .. } => {}
        }
    }

    fn show_start(&mut self, command: &str) {
        match self.announced.begin() {
            Some(announced) => self
                .mirror
                .show_announced(&announced, command, &mut self.out),
            None => {
                let event = MirrorEvent::CommandStart { command };
                self.mirror.show(event, &mut self.out);
            }
        }
        if self.replay_end.is_none() {
            self.ready.push_back(Shown::Property {
                name: "name",
                value: name_of(command),
            });
        }
    }

    /// Shows what an execution wrote. While a replay drops bytes, they are counted
    /// as they were written.
    fn show_told(&mut self, id: Option<ShellId>, stream: Stream, bytes: &[u8]) {
        if self.mirror.is_dropping() {
            return self.show_output(bytes);
        }
        let shown = self.readable.output(id, stream, bytes);
        self.show_output(&shown);
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
