//! What a part of an execution's output shows.
//!
//! Whoever asks for a part gets what a reader of the whole would have got of it.
//! So each stream is read from a little before the part to a little behind it:
//! a secret that reaches into the part is recognised, whichever end of it is
//! elsewhere.

use super::Engine;
use crate::redaction::Veil;
use glass_model::{ShellId, Stream};
use glass_redact::{Cut, HELD_BYTES_MAX, Redactor};
use glass_store::ReadError;

/// How far before and behind a part its stream is read, in bytes: as much as a
/// redactor holds back, visible bytes and escape sequences.
pub(super) const LOOK_BYTES: u64 = 2 * HELD_BYTES_MAX as u64 + 4096;

/// Bytes read at once behind a part. Most often the first ones are enough.
const AHEAD_BYTES: u64 = 4096;

/// Whether more of a stream may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    /// It may, and something came just now.
    Busy,
    /// It may, and nothing came for a while.
    Quiet,
    /// It is over.
    Gone,
}

/// Judges the pieces of a part, in order, stream by stream.
pub(super) struct Excerpt<'a> {
    engine: &'a Engine,
    id: ShellId,
    veil: &'a Veil,
    streams: [Option<Judged>; 2],
    scratch: Vec<u8>,
}

/// One stream of the part.
struct Judged {
    redactor: Redactor,
    /// Where in the stream the redactor began.
    start: u64,
    /// Where the next piece begins, if nothing is missing.
    at: u64,
    /// Up to where it is known what is secret.
    till: u64,
    cuts: Vec<Cut>,
}

fn slot(stream: Stream) -> usize {
    match stream {
        Stream::Stdout => 0,
        Stream::Stderr => 1,
    }
}

impl<'a> Excerpt<'a> {
    pub(super) fn new(engine: &'a Engine, id: ShellId, veil: &'a Veil) -> Excerpt<'a> {
        Excerpt {
            engine,
            id,
            veil,
            streams: [None, None],
            scratch: Vec::new(),
        }
    }

    /// The next piece.
    pub(super) fn push(
        &mut self,
        stream: Stream,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), ReadError> {
        let Some(detector) = &self.veil.0 else {
            return Ok(());
        };
        let slot = &mut self.streams[slot(stream)];
        let before = slot.take();
        let mut judged = match before {
            Some(judged) if judged.at == offset => judged,
            before => {
                // Something is missing in between, or nothing came before.
                let cuts = before.map(|mut before| before.close(&mut self.scratch));
                let start = offset.saturating_sub(LOOK_BYTES);
                let mut judged = Judged {
                    redactor: Redactor::noting(detector.clone()),
                    start,
                    at: offset,
                    till: offset,
                    cuts: cuts.unwrap_or_default(),
                };
                let behind = self.engine.piece(self.id, stream, start, offset - start)?;
                judged.redactor.push(&behind, &mut self.scratch);
                judged
            }
        };
        judged.redactor.push(bytes, &mut self.scratch);
        self.scratch.clear();
        judged.at += bytes.len() as u64;
        judged.note();
        *slot = Some(judged);
        Ok(())
    }

    /// The part has no more pieces. Looks a little further where the last one
    /// may end within a secret.
    pub(super) fn conclude(&mut self, writer: Writer) -> Result<(), ReadError> {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let Some(judged) = &mut self.streams[slot(stream)] else {
                continue;
            };
            let end = judged.at;
            while judged.till < end && judged.at < end + LOOK_BYTES {
                let ahead = self.engine.piece(self.id, stream, judged.at, AHEAD_BYTES)?;
                if ahead.is_empty() {
                    break;
                }
                judged.redactor.push(&ahead, &mut self.scratch);
                self.scratch.clear();
                judged.at += ahead.len() as u64;
                judged.note();
            }
            if judged.till < end {
                match writer {
                    Writer::Busy => {}
                    Writer::Quiet => judged.redactor.pause(&mut self.scratch),
                    Writer::Gone => {
                        judged.cuts = judged.close(&mut self.scratch);
                        judged.till = judged.at;
                        continue;
                    }
                }
                judged.note();
            }
        }
        Ok(())
    }

    /// Up to where of this stream it is known what is secret.
    pub(super) fn till(&self, stream: Stream) -> u64 {
        let judged = &self.streams[slot(stream)];
        judged.as_ref().map_or(u64::MAX, |judged| judged.till)
    }

    /// How many of the next bytes of a stream, at most, are all shown or all not.
    pub(super) fn alike(&self, stream: Stream, offset: u64, most: usize) -> usize {
        let Some(judged) = &self.streams[slot(stream)] else {
            return most;
        };
        let first = judged.cuts.partition_point(|cut| cut.to <= offset);
        let edge = judged.cuts.get(first).map(|cut| match cut.from > offset {
            true => cut.from,
            false => cut.to,
        });
        let bytes = edge.and_then(|edge| usize::try_from(edge - offset).ok());
        bytes.map_or(most, |bytes| bytes.min(most))
    }

    /// Appends what a piece shows.
    pub(super) fn show(&self, stream: Stream, offset: u64, bytes: &[u8], out: &mut Vec<u8>) {
        match (&self.veil.0, &self.streams[slot(stream)]) {
            (Some(detector), Some(judged)) => detector.show(&judged.cuts, offset, bytes, out),
            _ => out.extend_from_slice(bytes),
        }
    }
}

impl Judged {
    /// Notes what the redactor knows by now.
    fn note(&mut self) {
        self.till = self.start + self.redactor.judged_bytes();
        let start = self.start;
        self.cuts
            .extend(self.redactor.take_cuts().into_iter().map(|cut| Cut {
                from: cut.from + start,
                to: cut.to + start,
                ..cut
            }));
    }

    /// The stream goes on elsewhere, or is over.
    fn close(&mut self, scratch: &mut Vec<u8>) -> Vec<Cut> {
        self.redactor.finish(scratch);
        scratch.clear();
        self.note();
        std::mem::take(&mut self.cuts)
    }
}
