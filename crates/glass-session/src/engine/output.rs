//! Reading what commands wrote.

use super::intact::is_surely_intact;
use super::{Caller, Engine};
use crate::actor::OutputEnd;
use crate::errors::LookupError;
use crate::text::incomplete_suffix;
use glass_model::{EventBody, EventIndex, Phase, ShellId, Stream};
use glass_store::ReadError;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Duration;

/// Events looked at in one go.
const PAGE_EVENTS_MAX: usize = 512;

/// Bytes of one answer, so that it fits a message of the usual limit.
const PAGE_BYTES_MAX: u64 = 2 << 20;

/// Bytes of the longest character: a page that cannot hold one is made larger.
const CHARACTER_BYTES_MAX: u64 = 4;

/// Readers without an offset whose place is remembered; the oldest execution's
/// is forgotten first.
const CURSORS_MAX: usize = 4096;

/// A command is *hot* for this long after it has written something.
const HOT_MS: i64 = 2_000;

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

    /// Everything that an execution wrote; beyond `threshold` bytes the middle
    /// is cut and the whole is in a file.
    pub fn gather(
        &self,
        id: ShellId,
        end: Option<OutputEnd>,
        threshold: Option<u64>,
    ) -> Result<Gathered, LookupError> {
        let limits = &self.0.context.settings.limits;
        let threshold = threshold
            .unwrap_or(limits.file_output_threshold_bytes)
            .min(PAGE_BYTES_MAX);
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
        self.gather_intact(id, end, threshold)
    }

    /// Gathers until nothing was removed meanwhile. Whatever removes output does
    /// so once for each piece, so this comes to an end.
    fn gather_intact(
        &self,
        id: ShellId,
        end: OutputEnd,
        threshold: u64,
    ) -> Result<Gathered, LookupError> {
        loop {
            let pieces = self.pieces(id, end.position)?;
            let gathered = self.gather_pieces(id, &pieces, threshold)?;
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
        let cut = total(None) > threshold;
        let file = if cut {
            Some(self.whole_file(id, pieces, out, err)?)
        } else {
            None
        };
        Ok(Gathered {
            stdout: self.cut(id, pieces, Some(Stream::Stdout), stdout_max)?,
            stderr: self.cut(id, pieces, Some(Stream::Stderr), stderr_max)?,
            interleaved: self.cut(id, pieces, None, threshold)?,
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

    /// The bytes of some pieces, at most `max` of them: the head and the tail,
    /// with a line between them that counts what is missing.
    fn cut(
        &self,
        id: ShellId,
        pieces: &[Piece],
        only: Option<Stream>,
        max: u64,
    ) -> Result<Vec<u8>, LookupError> {
        let chosen: Vec<&Piece> = pieces.iter().filter(|piece| piece.is(only)).collect();
        let total: u64 = chosen.iter().map(|piece| piece.bytes).sum();
        let read = |from: u64, to: u64| self.read_pieces(id, &chosen, from, to);
        if total <= max {
            return Ok(read(0, total)?);
        }
        let mut text = read(0, max / 2)?;
        let held = incomplete_suffix(&text);
        text.truncate(text.len() - held);
        let tail = read(total - max / 2, total)?;
        let skip = tail
            .iter()
            .take(3)
            .take_while(|byte| (0x80..0xC0).contains(*byte))
            .count();
        let missing = total - text.len() as u64 - (tail.len() - skip) as u64;
        text.extend_from_slice(format!("\n[{missing} bytes cut]\n").as_bytes());
        text.extend_from_slice(&tail[skip..]);
        Ok(text)
    }

    fn read_pieces(
        &self,
        id: ShellId,
        pieces: &[&Piece],
        from: u64,
        to: u64,
    ) -> Result<Vec<u8>, ReadError> {
        let mut bytes = Vec::with_capacity(usize::try_from(to - from).unwrap_or(0));
        let mut at = 0;
        for piece in pieces {
            let (start, end) = (at, at + piece.bytes);
            at = end;
            let (first, last) = (start.max(from), end.min(to));
            if first < last {
                let offset = piece.offset + (first - start);
                bytes.extend(self.piece(id, piece.stream, offset, last - first)?);
            }
        }
        Ok(bytes)
    }

    /// A file with the whole output: the stream's own, where there is only one.
    fn whole_file(
        &self,
        id: ShellId,
        pieces: &[Piece],
        out: u64,
        err: u64,
    ) -> Result<OutputFile, LookupError> {
        let store = &self.0.context.store;
        let lines = self.count_lines(id, pieces)?;
        let single = match (out, err) {
            (_, 0) => Some(Stream::Stdout),
            (0, _) => Some(Stream::Stderr),
            _ => None,
        };
        if let Some(stream) = single {
            let path = store.output_path(id, stream);
            return Ok(OutputFile {
                path,
                bytes: out + err,
                lines,
            });
        }
        let path = store.output_path(id, Stream::Stdout).with_extension("all");
        let written = self.write_interleaved(id, pieces, &path);
        written.map_err(|source| ReadError::Io {
            path: path.clone(),
            source,
        })?;
        Ok(OutputFile {
            path,
            bytes: out + err,
            lines,
        })
    }

    fn write_interleaved(&self, id: ShellId, pieces: &[Piece], path: &PathBuf) -> io::Result<()> {
        let mut file = io::BufWriter::new(std::fs::File::create(path)?);
        for piece in pieces {
            let bytes = self.piece(id, piece.stream, piece.offset, piece.bytes);
            file.write_all(&bytes.map_err(io::Error::other)?)?;
        }
        file.flush()
    }

    fn count_lines(&self, id: ShellId, pieces: &[Piece]) -> Result<u64, ReadError> {
        let mut lines = 0;
        let mut last = b'\n';
        for piece in pieces {
            let bytes = self.piece(id, piece.stream, piece.offset, piece.bytes)?;
            lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
            last = *bytes.last().unwrap_or(&last);
        }
        Ok(lines + u64::from(last != b'\n'))
    }

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
        let mut page = self.page(id, from, max_bytes)?;
        if page.next_offset == from && page.running && !wait.is_zero() {
            let mut follower = self.follower(execution.session, self.tail_of(id)?);
            let news = async {
                while let Ok(Some(events)) = follower.next().await {
                    if events.iter().any(|event| event.shell_id == Some(id)) {
                        break;
                    }
                }
            };
            // No news in time is an answer, too.
            drop(tokio::time::timeout(wait, news).await);
            page = self.page(id, from, max_bytes)?;
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
    fn tail_of(&self, id: ShellId) -> Result<EventIndex, LookupError> {
        let execution = self.0.context.store.execution(id)?;
        let execution = execution.ok_or(LookupError::UnknownExecution(id))?;
        Ok(self.0.context.store.cursor(&execution.session)?.next)
    }

    fn page(&self, id: ShellId, from: u64, max_bytes: u64) -> Result<OutputPage, LookupError> {
        let store = &self.0.context.store;
        let execution = store
            .execution(id)?
            .ok_or(LookupError::UnknownExecution(id))?;
        let max = if max_bytes == 0 {
            PAGE_BYTES_MAX
        } else {
            max_bytes.min(PAGE_BYTES_MAX)
        };
        let mut page = OutputPage {
            next_offset: from,
            running: execution.phase != Phase::Ended,
            code: execution.outcome.code,
            ..OutputPage::default()
        };
        let now = crate::context::now_ms();
        'pages: loop {
            let events = store.output_events(id, page.next_offset, PAGE_EVENTS_MAX)?;
            let before = page.next_offset;
            for event in events {
                page.hot = page.running && now - event.at_ms < HOT_MS;
                match event.body {
                    EventBody::Output {
                        stream,
                        offset,
                        bytes,
                        position,
                    } => {
                        let skip = page.next_offset.saturating_sub(position).min(bytes);
                        let room = max - page.bytes.len() as u64;
                        let take = (bytes - skip).min(room);
                        let wanted = (offset + skip, take);
                        let Ok(piece) = self.intact_piece(id, stream, wanted, position)? else {
                            page.dropped += bytes - skip;
                            page.next_offset = position + bytes;
                            continue;
                        };
                        page.bytes.extend(piece);
                        page.next_offset = position + skip + take;
                        if take == room {
                            break 'pages;
                        }
                    }
                    EventBody::Dropped { position, dropped } => {
                        let skip = page.next_offset.saturating_sub(position).min(dropped.bytes);
                        page.dropped += dropped.bytes - skip;
                        page.next_offset = position + dropped.bytes;
                    }
                    _ => {}
                }
            }
            if page.next_offset == before {
                break;
            }
        }
        // A page ends between two characters, where the rest of one can follow.
        let held = incomplete_suffix(&page.bytes);
        if held > 0 && (page.running || store.recorded(id)?.position > page.next_offset) {
            if held == page.bytes.len() && max < CHARACTER_BYTES_MAX {
                return self.page(id, from, CHARACTER_BYTES_MAX);
            }
            page.bytes.truncate(page.bytes.len() - held);
            page.next_offset -= held as u64;
        }
        Ok(page)
    }
}

/// Some bytes of one stream.
#[derive(PartialEq, Eq)]
struct Piece {
    stream: Stream,
    offset: u64,
    bytes: u64,
}

impl Piece {
    fn is(&self, only: Option<Stream>) -> bool {
        only.is_none_or(|stream| stream == self.stream)
    }
}
