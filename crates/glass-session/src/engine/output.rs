//! Reading what commands wrote.

use super::Engine;
use super::excerpt::{Excerpt, Writer};
use super::intact::is_surely_intact;
use crate::actor::OutputEnd;
use crate::errors::LookupError;
use crate::redaction::{Secrets, Veil};
use crate::text::incomplete_suffix;
use glass_model::{EventBody, Execution, SessionId, ShellId, Stream};
use glass_store::ReadError;
use std::path::PathBuf;

/// Events looked at in one go.
pub(super) const PAGE_EVENTS_MAX: usize = 512;

/// Bytes of one answer, so that it fits a message of the usual limit.
pub(super) const PAGE_BYTES_MAX: u64 = 2 << 20;

/// The whole output of one execution, cut where it is too long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// Both, in the order in which they arrived.
    pub interleaved: Vec<u8>,
    /// Where the whole is, when something was cut.
    pub file: Option<OutputFile>,
}

/// A file with an execution's whole output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// Where.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// Its lines.
    pub lines: u64,
}

impl Engine {
    pub(super) fn piece(
        &self,
        id: ShellId,
        stream: Stream,
        from: u64,
        len: u64,
    ) -> Result<Vec<u8>, ReadError> {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        self.0.context.store.read_output(id, stream, from, len)
    }

    /// What is taken out of an execution's output.
    pub fn veil(&self, id: ShellId) -> Result<Veil, LookupError> {
        let execution = self.0.context.store.execution(id)?;
        self.veil_of(&execution.ok_or(LookupError::UnknownExecution(id))?)
    }

    pub(super) fn veil_of(&self, execution: &Execution) -> Result<Veil, LookupError> {
        let secrets = self.secrets(&execution.session)?;
        Ok(self.veil_with(&secrets, &execution.env))
    }

    /// What is taken out of the output of an execution with these variables, in
    /// a session with these secrets.
    pub fn veil_with(&self, secrets: &Secrets, env: &[(String, String)]) -> Veil {
        self.0.context.detectors.veil_of(secrets, env)
    }

    /// What is taken out of what a session itself has to say.
    pub(super) fn session_veil(&self, id: &SessionId) -> Result<Veil, LookupError> {
        Ok(self.veil_with(&self.secrets(id)?, &[]))
    }

    /// The secrets that a session knows.
    pub(super) fn secrets(&self, id: &SessionId) -> Result<Secrets, LookupError> {
        if let Some(handle) = self.live(id) {
            return Ok(crate::actor::lock(&handle.live).secrets.clone());
        }
        let session = self.0.context.store.session(id)?;
        let env = session.map(|session| session.env).unwrap_or_default();
        Ok(self.0.context.detectors.secrets(&env))
    }

    /// Everything that an execution wrote, without its secrets; beyond
    /// `threshold` bytes the middle is cut and the whole is in a file.
    pub fn gather(
        &self,
        id: ShellId,
        veil: &Veil,
        end: Option<OutputEnd>,
        threshold: Option<u64>,
    ) -> Result<Gathered, LookupError> {
        let threshold = self.threshold(threshold);
        let end = match end {
            Some(end) => end,
            None => {
                let recorded = self.0.context.store.recorded(id)?;
                OutputEnd {
                    stdout: recorded.stdout,
                    stderr: recorded.stderr,
                    position: recorded.position,
                }
            }
        };
        if end.position == end.stdout + end.stderr && end.position <= threshold {
            match (end.stdout, end.stderr) {
                (0, 0) => return Ok(Gathered::default()),
                (_, 0) => {
                    let stdout = self.piece(id, Stream::Stdout, 0, end.stdout)?;
                    if is_surely_intact(&stdout, end.stdout) {
                        let stdout = fit(veil.redact(stdout));
                        return Ok(Gathered {
                            interleaved: stdout.clone(),
                            stdout,
                            ..Gathered::default()
                        });
                    }
                }
                (0, _) => {
                    let stderr = self.piece(id, Stream::Stderr, 0, end.stderr)?;
                    if is_surely_intact(&stderr, end.stderr) {
                        let stderr = fit(veil.redact(stderr));
                        return Ok(Gathered {
                            interleaved: stderr.clone(),
                            stderr,
                            ..Gathered::default()
                        });
                    }
                }
                _ => {}
            }
        }
        self.gather_intact(id, veil, end, threshold)
    }

    /// Bytes above which an answer is cut.
    pub fn threshold(&self, asked: Option<u64>) -> u64 {
        let limits = &self.0.context.settings.limits;
        asked
            .unwrap_or(limits.file_output_threshold_bytes)
            .min(PAGE_BYTES_MAX)
    }

    /// Gathers until nothing was removed meanwhile. Whatever removes output does
    /// so once for each piece, so this comes to an end.
    fn gather_intact(
        &self,
        id: ShellId,
        veil: &Veil,
        end: OutputEnd,
        threshold: u64,
    ) -> Result<Gathered, LookupError> {
        loop {
            let pieces = self.pieces(id, end.position)?;
            let gathered = self.gather_pieces(id, veil, &pieces, threshold)?;
            let has_zeros = gathered.interleaved.contains(&0)
                || gathered.stdout.contains(&0)
                || gathered.stderr.contains(&0);
            if !has_zeros || self.pieces(id, end.position)? == pieces {
                return Ok(gathered);
            }
        }
    }

    fn gather_pieces(
        &self,
        id: ShellId,
        veil: &Veil,
        pieces: &[Piece],
        threshold: u64,
    ) -> Result<Gathered, LookupError> {
        let total = |only: Option<Stream>| -> u64 {
            pieces
                .iter()
                .filter(|piece| piece.is(only))
                .map(|piece| piece.bytes)
                .sum()
        };
        let (out, err) = (total(Some(Stream::Stdout)), total(Some(Stream::Stderr)));
        // The smaller stream is cut only when both are large.
        let half = threshold / 2;
        let stderr_max = if out <= half {
            threshold - out
        } else {
            half.max(threshold.saturating_sub(out))
        };
        let stdout_max = if err <= half { threshold - err } else { half };
        let file = if total(None) > threshold {
            Some(self.whole_file(id, veil, pieces)?)
        } else {
            None
        };
        let stdout = self.cut(id, veil, pieces, Some(Stream::Stdout), stdout_max)?;
        let stderr = self.cut(id, veil, pieces, Some(Stream::Stderr), stderr_max)?;
        let interleaved = match (out, err) {
            (_, 0) => stdout.clone(),
            (0, _) => stderr.clone(),
            _ => self.cut(id, veil, pieces, None, threshold)?,
        };
        Ok(Gathered {
            stdout,
            stderr,
            interleaved,
            file,
        })
    }

    /// What the execution wrote up to `end`, as pieces in order.
    fn pieces(&self, id: ShellId, end: u64) -> Result<Vec<Piece>, LookupError> {
        let mut pieces = Vec::new();
        let mut at = 0;
        loop {
            let events = self
                .0
                .context
                .store
                .output_events(id, at, PAGE_EVENTS_MAX)?;
            let before = at;
            for event in events {
                let (piece, next) = match event.body {
                    EventBody::Output {
                        stream,
                        offset,
                        bytes,
                        position,
                    } => (
                        Some(Piece {
                            stream,
                            offset,
                            bytes,
                        }),
                        position + bytes,
                    ),
                    EventBody::Dropped { position, dropped } => (None, position + dropped.bytes),
                    _ => continue,
                };
                if next > end {
                    return Ok(pieces);
                }
                pieces.extend(piece);
                at = next;
            }
            if at == before || at >= end {
                return Ok(pieces);
            }
        }
    }

    /// What some pieces show, at most `max` bytes of them: the head and the tail,
    /// with a line between them that counts what is missing.
    fn cut(
        &self,
        id: ShellId,
        veil: &Veil,
        pieces: &[Piece],
        only: Option<Stream>,
        max: u64,
    ) -> Result<Vec<u8>, LookupError> {
        let chosen: Vec<&Piece> = pieces.iter().filter(|piece| piece.is(only)).collect();
        let total: u64 = chosen.iter().map(|piece| piece.bytes).sum();
        if total <= max {
            return Ok(fit(self.shown(id, veil, &chosen, 0, total)?));
        }
        let (mut head, mut tail) = (max / 2, total - max / 2);
        // Both end between two characters.
        let end = self.read_pieces(id, &chosen, head.saturating_sub(4), head)?;
        head -= incomplete_suffix(&end) as u64;
        let start = self.read_pieces(id, &chosen, tail, total.min(tail + 3))?;
        let is_within = |byte: &&u8| (0x80..0xC0).contains(*byte);
        tail += start.iter().take_while(is_within).count() as u64;
        let mut text = fit(self.shown(id, veil, &chosen, 0, head)?);
        text.extend_from_slice(format!("\n[{} bytes cut]\n", tail - head).as_bytes());
        text.extend_from_slice(&fit(self.shown(id, veil, &chosen, tail, total)?));
        Ok(text)
    }

    /// What some pieces show of a part of them.
    fn shown(
        &self,
        id: ShellId,
        veil: &Veil,
        pieces: &[&Piece],
        from: u64,
        to: u64,
    ) -> Result<Vec<u8>, ReadError> {
        let bytes = self.read_pieces(id, pieces, from, to)?;
        let mut excerpt = Excerpt::new(self, id, veil);
        let mut rest = &bytes[..];
        let mut parts = Vec::new();
        for (piece, first, last) in overlaps(pieces, from, to) {
            // A file that was shortened by somebody else has less.
            let count = usize::try_from(last - first).unwrap_or(0).min(rest.len());
            let (part, behind) = rest.split_at(count);
            rest = behind;
            excerpt.push(piece.stream, first, part)?;
            parts.push((piece.stream, first, part));
        }
        excerpt.conclude(Writer::Gone)?;
        let mut shown = Vec::with_capacity(bytes.len());
        for (stream, offset, part) in parts {
            excerpt.show(stream, offset, part, &mut shown);
        }
        Ok(shown)
    }

    fn read_pieces(
        &self,
        id: ShellId,
        pieces: &[&Piece],
        from: u64,
        to: u64,
    ) -> Result<Vec<u8>, ReadError> {
        let mut bytes = Vec::with_capacity(usize::try_from(to - from).unwrap_or(0));
        for (piece, first, last) in overlaps(pieces, from, to) {
            bytes.extend(self.piece(id, piece.stream, first, last - first)?);
        }
        Ok(bytes)
    }
}

/// The pieces that a part of all of them has something of, and where that
/// begins and ends in its stream.
fn overlaps<'a>(
    pieces: &'a [&'a Piece],
    from: u64,
    to: u64,
) -> impl Iterator<Item = (&'a Piece, u64, u64)> {
    let mut at = 0;
    pieces.iter().filter_map(move |piece| {
        let (start, end) = (at, at + piece.bytes);
        at = end;
        let (first, last) = (start.max(from), end.min(to));
        let in_stream = |place: u64| piece.offset + (place - start);
        (first < last).then(|| (*piece, in_stream(first), in_stream(last)))
    })
}

/// A text that fits an answer although the names of its secrets may be longer
/// than they are.
fn fit(text: Vec<u8>) -> Vec<u8> {
    let max = PAGE_BYTES_MAX as usize;
    if text.len() <= max {
        return text;
    }
    let head = max / 2 - incomplete_suffix(&text[..max / 2]);
    let tail = text.len() - max / 2;
    let mut shorter = text[..head].to_vec();
    shorter.extend_from_slice(format!("\n[{} bytes cut]\n", tail - head).as_bytes());
    shorter.extend_from_slice(&text[tail..]);
    shorter
}

/// Some bytes of one stream.
#[derive(PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) stream: Stream,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

impl Piece {
    fn is(&self, only: Option<Stream>) -> bool {
        only.is_none_or(|stream| stream == self.stream)
    }
}
