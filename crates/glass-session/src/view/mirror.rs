//! The mirror of a pipe or line session: its events as bytes for a terminal.
//!
//! The reader holds a cursor over the journal and nothing else, so opening a
//! mirror, or leaving one unread, changes nothing for the session.

use super::Shown;
use crate::engine::{Caller, Engine, Late, Projection};
use crate::errors::LookupError;
use crate::feed::Follower;
use bytes::Bytes;
use glass_model::{Event, EventBody, EventIndex, Session, SessionId};
use glass_vt::mirror::{Mirror, MirrorEvent, replay_bytes_max};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::mpsc;

/// Ctrl+C, as a terminal sends it.
const CTRL_C: u8 = 0x03;

/// Answers to what was typed that wait for the reader. More say nothing new.
const FLASHES_MAX: usize = 4;

/// When nothing has come for this long, somebody may be waiting for the little
/// that is held back.
const PAUSE: Duration = Duration::from_millis(100);

/// Events that one look at the stored history takes.
const BATCH_EVENTS_MAX: usize = 1024;

/// Bytes that are gathered into one frame.
const FRAME_BYTES_MAX: usize = 256 * 1024;

pub(super) struct MirrorReader {
    follower: Follower,
    /// Takes secrets out of what is shown.
    projection: Projection,
    mirror: Mirror,
    ready: VecDeque<Shown>,
    /// The replay ends before this event; none once it has.
    replay_end: Option<EventIndex>,
    flashes: mpsc::Receiver<()>,
    /// Whether what little is held back has been shown since the last event.
    has_paused: bool,
    /// Whether the session's last event was shown.
    disposed: bool,
    over: bool,
}

pub(super) struct MirrorWriter {
    engine: Engine,
    caller: Caller,
    id: SessionId,
    flash: mpsc::Sender<()>,
}

/// Opens a mirror. What happens from here on is shown once: the replay ends
/// where the live part begins.
pub(super) async fn open(
    engine: &Engine,
    caller: &Caller,
    session: &Session,
) -> Result<(MirrorReader, MirrorWriter), LookupError> {
    let id = session.id.clone();
    let (first, next) = engine.bounds(&id)?;
    let follower = engine.follow(caller, id.as_str(), first)?;
    let output = {
        let (engine, id) = (engine.clone(), id.clone());
        let counted = tokio::task::spawn_blocking(move || output_bytes(&engine, &id, first, next));
        counted.await.map_err(|_| LookupError::Stopping)??
    };
    let mut bytes = Vec::new();
    let mut mirror = Mirror::open(&session.cwd, &mut bytes);
    let mut ready = VecDeque::from([Shown::Opened {
        pid: -1,
        cwd: session.cwd.clone(),
    }]);
    ready.push_back(Shown::Bytes(Bytes::from(std::mem::take(&mut bytes))));
    ready.push_back(Shown::Property {
        name: "initialCwd",
        value: session.cwd.clone(),
    });
    mirror.limit_replay(output, replay_bytes_max(session.scrollback), &mut bytes);
    if !bytes.is_empty() {
        ready.push_back(Shown::Bytes(Bytes::from(bytes)));
    }
    let (flash, flashes) = mpsc::channel(FLASHES_MAX);
    let mut reader = MirrorReader {
        follower,
        projection: engine.projection(&id),
        mirror,
        ready,
        replay_end: Some(next),
        flashes,
        has_paused: false,
        disposed: session.disposed_ms.is_some(),
        over: false,
    };
    if first >= next {
        reader.settle();
    }
    let writer = MirrorWriter {
        engine: engine.clone(),
        caller: caller.clone(),
        id,
        flash,
    };
    Ok((reader, writer))
}

/// How much output the stored events from `from` up to `until` name.
fn output_bytes(
    engine: &Engine,
    id: &SessionId,
    mut from: EventIndex,
    until: EventIndex,
) -> Result<u64, LookupError> {
    let mut total = 0u64;
    while from < until {
        let events = engine.events(id, from, BATCH_EVENTS_MAX)?;
        let Some(last) = events.last() else { break };
        from = last.index.next();
        let before = events.iter().take_while(|event| event.index < until);
        total += before.map(output_of).sum::<u64>();
    }
    Ok(total)
}

fn output_of(event: &Event) -> u64 {
    match event.body {
        EventBody::Output { bytes, .. } => bytes,
        _ => 0,
    }
}

impl MirrorReader {
    pub(super) async fn next(&mut self) -> Result<Option<Shown>, LookupError> {
        loop {
            if let Some(shown) = self.ready.pop_front() {
                return Ok(Some(shown));
            }
            if self.over {
                return Ok(None);
            }
            let may_pause = !self.has_paused && self.projection.holds();
            tokio::select! {
                events = self.follower.next() => match events? {
                    Some(events) => {
                        self.has_paused = false;
                        self.show(&events)?;
                    }
                    None => self.end()?,
                },
                () = tokio::time::sleep(PAUSE), if may_pause => {
                    self.has_paused = true;
                    let late = self.projection.pause();
                    self.show_late(late);
                }
                // A writer that is gone types nothing.
                Some(()) = self.flashes.recv() => self.ready.push_back(Shown::ReadOnlyInput),
            }
        }
    }

    fn show(&mut self, events: &[std::sync::Arc<Event>]) -> Result<(), LookupError> {
        let mut out = Vec::new();
        for event in events {
            if self.replay_end.is_some_and(|end| event.index >= end) {
                self.push(&mut out);
                self.settle();
            }
            self.show_one(event, &mut out)?;
            if out.len() >= FRAME_BYTES_MAX {
                self.push(&mut out);
            }
        }
        self.push(&mut out);
        let shown = events.last().map(|last| last.index.next());
        if self.replay_end.is_some() && shown >= self.replay_end {
            self.settle();
        }
        Ok(())
    }

    fn show_one(&mut self, event: &Event, out: &mut Vec<u8>) -> Result<(), LookupError> {
        let output = output_of(event);
        if output > 0 && self.mirror.drops_whole(output) {
            return Ok(());
        }
        if let (Some(id), EventBody::Exit { .. }) = (event.shell_id, &event.body) {
            for late in self.projection.rest(id)? {
                let bytes = &late.bytes;
                self.mirror.show(MirrorEvent::Output { bytes }, out);
            }
        }
        let (event, bytes) = self.projection.show(event)?;
        let shown = match &event.body {
            EventBody::Output { .. } => MirrorEvent::Output { bytes: &bytes },
            EventBody::CommandStart { command, .. } => MirrorEvent::CommandStart { command },
            EventBody::Exit { outcome, .. } => MirrorEvent::Exit { code: outcome.code },
            EventBody::Cwd { cwd } => MirrorEvent::Cwd { path: cwd },
            EventBody::Disposed => {
                self.disposed = true;
                return Ok(());
            }
            // Nothing else is part of what a terminal would have shown.
            _ => return Ok(()),
        };
        self.mirror.show(shown, out);
        Ok(())
    }

    fn show_late(&mut self, late: Vec<Late>) {
        let mut out = Vec::new();
        for late in &late {
            let bytes = &late.bytes;
            self.mirror.show(MirrorEvent::Output { bytes }, &mut out);
        }
        self.push(&mut out);
    }

    fn push(&mut self, out: &mut Vec<u8>) {
        if !out.is_empty() {
            let bytes = Bytes::from(std::mem::take(out));
            self.ready.push_back(Shown::Bytes(bytes));
        }
    }

    /// The replay is done.
    fn settle(&mut self) {
        self.replay_end = None;
        let mut out = Vec::new();
        self.mirror.settle(&mut out);
        self.push(&mut out);
        self.ready.push_back(Shown::Ready);
    }

    /// A daemon that stops is no end.
    fn end(&mut self) -> Result<(), LookupError> {
        if !self.disposed {
            return Err(LookupError::Stopping);
        }
        self.over = true;
        let late = self.projection.end();
        self.show_late(late);
        if self.replay_end.is_some() {
            self.settle();
        }
        self.ready.push_back(Shown::Exited { code: None });
        Ok(())
    }
}

impl MirrorWriter {
    /// Ctrl+C cancels what runs; all else, and Ctrl+C where nothing runs, is
    /// answered with a flash.
    pub(super) async fn input(&mut self, bytes: &[u8]) {
        let mut refused = bytes.iter().any(|byte| *byte != CTRL_C);
        if bytes.contains(&CTRL_C) {
            let cancelled = self
                .engine
                .cancel(&self.caller, self.id.as_str(), None)
                .await;
            refused |= !matches!(cancelled, Ok(true));
        }
        if refused {
            // One that waits says the same.
            let _ = self.flash.try_send(());
        }
    }
}
