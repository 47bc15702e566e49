//! One part of what an execution wrote.
//!
//! Offsets count what was written, and not what is shown of it: a page is what
//! the whole output, without its secrets, shows of the bytes between two offsets.

use super::excerpt::{Excerpt, Writer};
use super::output::{PAGE_BYTES_MAX, PAGE_EVENTS_MAX};
use super::{Caller, Engine};
use crate::errors::LookupError;
use crate::redaction::Veil;
use crate::text::incomplete_suffix;
use glass_model::{EventBody, EventIndex, Phase, ShellId, Stream};
use std::time::Duration;

/// Bytes of the longest character: a page that cannot hold one is made larger.
const CHARACTER_BYTES_MAX: u64 = 4;

/// Readers without an offset whose place is remembered; the oldest execution's
/// is forgotten first.
const CURSORS_MAX: usize = 4096;

/// A command that has written nothing for this long may wait for an answer to
/// what it has.
const QUIET_MS: i64 = 100;

/// What a page shows at most, in bytes: names of secrets may be longer than the
/// secrets, and an answer must fit a message.
const SHOWN_BYTES_MAX: usize = 3 << 20;

/// Bytes that are shown in one go, before that is looked at.
const STEP_BYTES: usize = 64 << 10;

/// A piece of an execution's output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputPage {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Where the next piece begins.
    pub next_offset: u64,
    /// Bytes that a limit removed from this stretch.
    pub dropped: u64,
    /// Whether the execution goes on.
    pub running: bool,
    /// Its code, once it is over and known.
    pub code: Option<i32>,
    /// Whether it wrote something just now.
    pub hot: bool,
    /// Where names stand among the bytes, in order.
    pub names: Vec<Name>,
    /// How much was written so far; known where there was nothing to read.
    pub end: Option<u64>,
}

/// The name of a secret in a page; a secret that began before the page has none
/// there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// Where the secret stands in what was written.
    pub offset: u64,
    /// How many bytes of it.
    pub bytes: u64,
    /// How many bytes stand in the page instead.
    pub shown: u64,
}

/// A part of the output, in order.
enum Part {
    Written {
        stream: Stream,
        offset: u64,
        position: u64,
        bytes: Vec<u8>,
    },
    Dropped {
        bytes: u64,
        position: u64,
    },
}

impl Engine {
    /// What an execution has written from `offset` on, or since it was last
    /// asked; waits a while for something new.
    pub async fn read_output(
        &self,
        caller: &Caller,
        id: ShellId,
        offset: Option<u64>,
        max_bytes: u64,
        wait: Duration,
    ) -> Result<OutputPage, LookupError> {
        let execution = self.execution(caller, id)?;
        let from = match offset {
            Some(offset) => offset,
            None => crate::actor::lock(&self.0.cursors)
                .get(&id)
                .copied()
                .unwrap_or(0),
        };
        let veil = self.veil_of(&execution)?;
        let mut page = self.page(id, &veil, from, max_bytes)?;
        if page.next_offset == from && page.running && !wait.is_zero() {
            let mut follower = self.follower(execution.session, self.tail_of(id)?);
            let news = async {
                while let Ok(Some(events)) = follower.next().await {
                    if events.iter().any(|event| event.shell_id == Some(id)) {
                        break;
                    }
                }
            };
            tokio::pin!(news);
            // After a short silence a little that was held back can be shown.
            let silence = wait.min(Duration::from_millis(QUIET_MS.unsigned_abs()));
            for pause in [silence, wait - silence] {
                // No news in time is an answer, too.
                let is_news = tokio::time::timeout(pause, &mut news).await.is_ok();
                page = self.page(id, &veil, from, max_bytes)?;
                if is_news || page.next_offset != from || !page.running {
                    break;
                }
            }
        }
        if page.next_offset == from {
            page.end = Some(self.0.context.store.recorded(id)?.position);
        }
        if offset.is_none() {
            let mut cursors = crate::actor::lock(&self.0.cursors);
            cursors.insert(id, page.next_offset);
            if cursors.len() > CURSORS_MAX {
                cursors.pop_first();
            }
        }
        Ok(page)
    }

    /// The next event of an execution's session.
    pub(super) fn tail_of(&self, id: ShellId) -> Result<EventIndex, LookupError> {
        let execution = self.0.context.store.execution(id)?;
        let execution = execution.ok_or(LookupError::UnknownExecution(id))?;
        Ok(self.0.context.store.cursor(&execution.session)?.next)
    }

    /// A page that shows something, unless there is nothing more to show.
    pub(super) fn page(
        &self,
        id: ShellId,
        veil: &Veil,
        from: u64,
        max_bytes: u64,
    ) -> Result<OutputPage, LookupError> {
        let mut dropped = 0;
        let mut names = Vec::new();
        let mut at = from;
        loop {
            let mut page = self.shown_page(id, veil, at, max_bytes)?;
            dropped += page.dropped;
            names.append(&mut page.names);
            if !page.bytes.is_empty() || page.next_offset == at {
                page.dropped = dropped;
                page.names = names;
                return Ok(page);
            }
            // All of it lies within a secret that was named before.
            at = page.next_offset;
        }
    }

    fn shown_page(
        &self,
        id: ShellId,
        veil: &Veil,
        from: u64,
        max_bytes: u64,
    ) -> Result<OutputPage, LookupError> {
        let store = &self.0.context.store;
        let execution = store
            .execution(id)?
            .ok_or(LookupError::UnknownExecution(id))?;
        let mut page = OutputPage {
            next_offset: from,
            running: execution.phase != Phase::Ended,
            code: execution.outcome.code,
            ..OutputPage::default()
        };
        let max = if max_bytes == 0 {
            PAGE_BYTES_MAX
        } else {
            max_bytes.min(PAGE_BYTES_MAX)
        };
        let (mut parts, last_ms) = self.parts(id, from, max)?;
        let age_ms = crate::context::now_ms() - last_ms;
        page.hot = page.running && self.is_hot(id, age_ms)?;
        // A page ends between two characters, where the rest of one can follow.
        let (held, end) = held_at_end(&parts);
        if held > 0 && (page.running || store.recorded(id)?.position > end) {
            hold_back(&mut parts, held);
            if max < CHARACTER_BYTES_MAX && parts.iter().all(Part::is_empty) {
                return self.shown_page(id, veil, from, CHARACTER_BYTES_MAX);
            }
        }
        let writer = match page.running {
            true if age_ms < QUIET_MS => Writer::Busy,
            true => Writer::Quiet,
            false => Writer::Gone,
        };
        self.show_parts(id, veil, &parts, writer, &mut page)?;
        Ok(page)
    }

    /// What was written from an offset on, at most `max` bytes, and when the
    /// last of it came.
    fn parts(&self, id: ShellId, from: u64, max: u64) -> Result<(Vec<Part>, i64), LookupError> {
        let store = &self.0.context.store;
        let (mut parts, mut last_ms) = (Vec::new(), i64::MIN / 2);
        let (mut at, mut room) = (from, max);
        loop {
            let events = store.output_events(id, at, PAGE_EVENTS_MAX)?;
            let before = at;
            for event in events {
                last_ms = event.at_ms;
                match event.body {
                    EventBody::Output {
                        stream,
                        offset,
                        bytes,
                        position,
                    } => {
                        let skip = at.saturating_sub(position).min(bytes);
                        let take = (bytes - skip).min(room);
                        let wanted = (offset + skip, take);
                        let Ok(piece) = self.intact_piece(id, stream, wanted, position)? else {
                            parts.push(Part::dropped(position, bytes, skip));
                            at = position + bytes;
                            continue;
                        };
                        parts.push(Part::Written {
                            stream,
                            offset: offset + skip,
                            position: position + skip,
                            bytes: piece,
                        });
                        at = position + skip + take;
                        if take == room {
                            return Ok((parts, last_ms));
                        }
                        room -= take;
                    }
                    EventBody::Dropped { position, dropped } => {
                        let skip = at.saturating_sub(position).min(dropped.bytes);
                        parts.push(Part::dropped(position, dropped.bytes, skip));
                        at = position + dropped.bytes;
                    }
                    _ => {}
                }
            }
            if at == before {
                return Ok((parts, last_ms));
            }
        }
    }

    /// Puts into the page what can be shown of these parts.
    fn show_parts(
        &self,
        id: ShellId,
        veil: &Veil,
        parts: &[Part],
        writer: Writer,
        page: &mut OutputPage,
    ) -> Result<(), LookupError> {
        let mut excerpt = Excerpt::new(self, id, veil);
        for part in parts {
            if let Part::Written {
                stream,
                offset,
                bytes,
                ..
            } = part
            {
                excerpt.push(*stream, *offset, bytes)?;
            }
        }
        excerpt.conclude(writer)?;
        for part in parts {
            let (stream, mut offset, mut position, mut bytes) = match part {
                Part::Written {
                    stream,
                    offset,
                    position,
                    bytes,
                } => (*stream, *offset, *position, &bytes[..]),
                Part::Dropped { bytes, position } => {
                    page.dropped += bytes;
                    page.next_offset = position + bytes;
                    continue;
                }
            };
            let known = excerpt.till(stream).saturating_sub(offset);
            let known = usize::try_from(known)
                .unwrap_or(usize::MAX)
                .min(bytes.len());
            let is_held_back = known < bytes.len();
            bytes = &bytes[..known];
            while !bytes.is_empty() {
                if page.bytes.len() > SHOWN_BYTES_MAX {
                    page.next_offset = position;
                    return Ok(());
                }
                let mut step = bytes.len().min(STEP_BYTES);
                if step < bytes.len() {
                    step -= incomplete_suffix(&bytes[..step]);
                }
                let step = excerpt.alike(stream, offset, step);
                let before = page.bytes.len();
                excerpt.show(stream, offset, &bytes[..step], &mut page.bytes);
                let shown = &page.bytes[before..];
                if shown != &bytes[..step] {
                    page.names.push(Name {
                        offset: position,
                        bytes: step as u64,
                        shown: shown.len() as u64,
                    });
                }
                offset += step as u64;
                position += step as u64;
                bytes = &bytes[step..];
            }
            page.next_offset = position;
            if is_held_back {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// How many of the last bytes begin a character that is not complete, and where
/// all of them end.
fn held_at_end(parts: &[Part]) -> (usize, u64) {
    let mut tail = Vec::new();
    let mut end = 0;
    for part in parts {
        match part {
            Part::Written {
                bytes, position, ..
            } => {
                let from = bytes.len().saturating_sub(CHARACTER_BYTES_MAX as usize);
                tail.extend_from_slice(&bytes[from..]);
                end = position + bytes.len() as u64;
            }
            Part::Dropped { .. } => tail.clear(),
        }
    }
    (incomplete_suffix(&tail), end)
}

/// Takes the last bytes away.
fn hold_back(parts: &mut [Part], mut count: usize) {
    for part in parts.iter_mut().rev() {
        if let Part::Written { bytes, .. } = part {
            let taken = count.min(bytes.len());
            bytes.truncate(bytes.len() - taken);
            count -= taken;
        }
    }
}

impl Part {
    fn dropped(position: u64, bytes: u64, skip: u64) -> Part {
        Part::Dropped {
            bytes: bytes - skip,
            position: position + skip,
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Part::Written { bytes, .. } => bytes.is_empty(),
            Part::Dropped { .. } => false,
        }
    }
}
