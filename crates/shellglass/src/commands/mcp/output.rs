//! Stored output, a piece at a time, with the exact place of every byte.

use super::state::State;
use crate::client::Client;
use glass_proto::shellglass::v1::{ReadOutputRequest, ReadOutputResponse, SecretName};
use tonic::Status;

/// Bytes asked for at once.
pub(super) const PIECE_BYTES_MAX: u64 = 1 << 20;

/// More than any output has, in bytes.
const BEYOND: u64 = 1 << 48;

/// More than is usually held back, in bytes. Where it is not, the end is found too
/// early, and what is in between is read again.
const HELD_BACK_BYTES: u64 = 64 << 10;

/// Adjacent output, and how the command stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Piece {
    /// Where its first byte stands. That is after what was asked for where a
    /// quota removed something there.
    pub at: u64,
    pub bytes: Vec<u8>,
    /// Where names stand for secrets of other lengths.
    pub names: Vec<SecretName>,
    /// The byte after its last one.
    pub next: u64,
    pub running: bool,
    pub exit_code: Option<i32>,
    /// How much was written so far; known where there was nothing to read.
    pub end: Option<u64>,
}

/// A stretch of a piece: bytes, and how many of what was written they stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stretch<'a> {
    /// They are what was written.
    Written(&'a [u8]),
    /// They are the name of a secret of so many bytes.
    Named(&'a [u8], u64),
}

impl Piece {
    /// Its stretches, in order.
    pub(super) fn stretches(&self) -> Vec<Stretch<'_>> {
        let mut stretches = Vec::new();
        let (mut rest, mut at) = (&self.bytes[..], self.at);
        let count = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        for name in &self.names {
            let before = count(name.offset.saturating_sub(at)).min(rest.len());
            let (written, after) = rest.split_at(before);
            let (named, after) = after.split_at(count(name.shown).min(after.len()));
            if !written.is_empty() {
                stretches.push(Stretch::Written(written));
            }
            stretches.push(Stretch::Named(named, name.length));
            (rest, at) = (after, name.offset.saturating_add(name.length));
        }
        if !rest.is_empty() {
            stretches.push(Stretch::Written(rest));
        }
        stretches
    }

    /// Where in what was written so many of its bytes end.
    pub(super) fn place(&self, mut bytes: usize) -> u64 {
        let mut at = self.at;
        for stretch in self.stretches() {
            match stretch {
                Stretch::Written(written) if bytes <= written.len() => {
                    return at + bytes as u64;
                }
                Stretch::Written(written) => {
                    bytes -= written.len();
                    at += written.len() as u64;
                }
                // Whoever goes on within a name sees it again, and not a part.
                Stretch::Named(name, _) if bytes < name.len() => return at,
                Stretch::Named(name, length) => {
                    bytes -= name.len();
                    at += length;
                }
            }
        }
        self.next
    }
}

impl State {
    async fn read_once(
        &self,
        shell_id: u32,
        offset: u64,
        max_bytes: u64,
        wait_ms: u32,
    ) -> Result<ReadOutputResponse, Status> {
        let request = ReadOutputRequest {
            shell_id,
            offset: Some(offset),
            max_bytes,
            wait_ms,
        };
        let read = |mut client: Client, request| async move { client.read_output(request).await };
        self.daemon.call(request, read).await
    }

    /// What stands at an offset: up to so many adjacent bytes. Waits up to
    /// `wait_ms` for something where there is nothing yet.
    pub(super) async fn piece(
        &self,
        shell_id: u32,
        offset: u64,
        max_bytes: u64,
        wait_ms: u32,
    ) -> Result<Piece, Status> {
        let answer = self.read_once(shell_id, offset, max_bytes, wait_ms).await?;
        if answer.dropped_bytes == 0 || bytes_of(&answer).is_empty() {
            return Ok(piece_of(answer, offset));
        }
        // Something is missing before, between or after these bytes. The daemon
        // stops where it was told, so the longest answer without a loss ends
        // where the loss begins.
        let written = answer.next_offset.saturating_sub(offset);
        let (mut whole, mut most) = (0, written.saturating_sub(answer.dropped_bytes));
        while whole < most {
            let middle = whole + (most - whole).div_ceil(2);
            let part = self.read_once(shell_id, offset, middle, 0).await?;
            if part.dropped_bytes == 0 {
                whole = middle;
            } else {
                most = middle - 1;
            }
        }
        if whole == 0 {
            return Ok(piece_of(answer, offset));
        }
        let answer = self.read_once(shell_id, offset, whole, 0).await?;
        Ok(piece_of(answer, offset))
    }

    /// How many bytes of output there are to read.
    pub(super) async fn end(&self, shell_id: u32) -> Result<u64, Status> {
        let beyond = self.read_once(shell_id, BEYOND, 1, 0).await?;
        let written = beyond.end_offset.unwrap_or(0);
        // The last of what was written may be held back until more is known of it.
        let from = written.saturating_sub(HELD_BACK_BYTES);
        let last = self.read_once(shell_id, from, PIECE_BYTES_MAX, 0).await?;
        Ok(last.next_offset)
    }
}

fn bytes_of(answer: &ReadOutputResponse) -> &[u8] {
    answer.raw.as_deref().unwrap_or(answer.output.as_bytes())
}

/// What came from an offset on. Secrets have names of other lengths, so where it
/// begins does not follow from how long it is.
fn piece_of(answer: ReadOutputResponse, offset: u64) -> Piece {
    let bytes = match answer.raw {
        Some(raw) => raw.to_vec(),
        None => answer.output.into_bytes(),
    };
    Piece {
        at: offset + answer.dropped_bytes,
        names: answer.names,
        next: answer.next_offset,
        running: answer.running,
        exit_code: answer.exit_code,
        end: answer.end_offset,
        bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_counted_in_what_was_written() {
        let name = |offset, length, shown| SecretName {
            offset,
            length,
            shown,
        };
        let piece = Piece {
            at: 10,
            bytes: b"ab[X]cd[YY]".to_vec(),
            names: vec![name(12, 40, 3), name(54, 1, 4)],
            next: 55,
            ..Piece::default()
        };
        assert_eq!(
            piece.stretches(),
            [
                Stretch::Written(b"ab"),
                Stretch::Named(b"[X]", 40),
                Stretch::Written(b"cd"),
                Stretch::Named(b"[YY]", 1),
            ]
        );
        let places: Vec<u64> = (0..12).map(|bytes| piece.place(bytes)).collect();
        assert_eq!(places, [10, 11, 12, 12, 12, 52, 53, 54, 54, 54, 54, 55]);
    }
}
