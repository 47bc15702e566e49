//! Drops the middle of an execution's output.
//!
//! Invariant: the journal says that bytes are gone before they go. In between
//! a crash costs room on the disk and nothing else, and the next trim makes up
//! for it.

use glass_model::{ShellId, Stream};
use rusqlite::params;

use crate::Store;
use crate::error::{ReadError, WriteError};
use crate::read;
use crate::row::{self, natural};

/// Rows changed in one transaction, so that commits of others can come between.
const ROWS_PER_TRANSACTION: usize = 256;

/// The event of a piece of output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    session: i64,
    idx: i64,
    kept: bool,
    offset: u64,
    bytes: u64,
}

impl Store {
    /// Drops output from the middle of one stream of an execution, so that at
    /// most `keep` bytes of it stay: about half of them from its beginning and
    /// the rest from its end, in whole events. Each event that goes becomes a
    /// `Dropped` in its place, and the room is given back to the disk. Returns
    /// how many bytes went.
    pub fn trim_execution(
        &self,
        shell: ShellId,
        stream: Stream,
        keep: u64,
        reason: &str,
    ) -> Result<u64, WriteError> {
        let pieces = self.pieces(shell, stream)?;
        let middle = &pieces[middle(&pieces, keep)];
        let dropped = self.drop_pieces(shell, middle, reason)?;
        if dropped > 0 {
            self.punch(shell, stream, &holes(middle))?;
        }
        Ok(dropped)
    }

    /// The recorded pieces of a stream, in order, with those that went.
    pub(crate) fn pieces(&self, shell: ShellId, stream: Stream) -> Result<Vec<Piece>, ReadError> {
        // What was never recorded has no stream, and so is not found here.
        let sql = "SELECT session, idx, kind, offset, bytes FROM events \
             WHERE shell_id = ?1 AND kind < 2 AND stream = ?2 ORDER BY position, idx";
        let params = params![shell.0, row::event::stream_column(stream)];
        read::list(&self.reader(), sql, params, |row| {
            Ok(Piece {
                session: row.get(0)?,
                idx: row.get(1)?,
                kept: row.get::<_, i64>(2)? == 0,
                offset: natural(row.get(3)?, "an offset")?,
                bytes: natural(row.get(4)?, "a length")?,
            })
        })
    }

    /// Turns kept pieces into dropped ones, in place; returns their bytes.
    pub(crate) fn drop_pieces(
        &self,
        shell: ShellId,
        pieces: &[Piece],
        reason: &str,
    ) -> Result<u64, WriteError> {
        let kept: Vec<Piece> = pieces.iter().copied().filter(|piece| piece.kept).collect();
        let payload = row::event::dropped_payload(1, reason);
        let mut dropped = 0;
        for chunk in kept.chunks(ROWS_PER_TRANSACTION) {
            dropped += self.transact(&|txn| {
                let mut bytes = 0;
                for piece in chunk {
                    let changed = txn
                        .conn
                        .prepare_cached(
                            "UPDATE events SET kind = 1, payload = ?3 \
                             WHERE session = ?1 AND idx = ?2 AND kind = 0",
                        )?
                        .execute(params![piece.session, piece.idx, payload])?;
                    if changed > 0 {
                        bytes += piece.bytes;
                    }
                }
                if let Some(piece) = chunk.first().filter(|_| bytes > 0) {
                    txn.uncount_output(shell, piece.session, bytes)?;
                }
                Ok(bytes)
            })?;
        }
        Ok(dropped)
    }

    pub(crate) fn punch(
        &self,
        shell: ShellId,
        stream: Stream,
        holes: &[(u64, u64)],
    ) -> Result<(), WriteError> {
        self.files()
            .punch(shell, stream, holes)
            .map_err(|source| WriteError::Io {
                path: self.output_path(shell, stream),
                source,
            })
    }
}

/// Which pieces have to go so that at most `keep` bytes stay.
fn middle(pieces: &[Piece], keep: u64) -> std::ops::Range<usize> {
    let bytes = |piece: &Piece| if piece.kept { piece.bytes } else { 0 };
    let total: u64 = pieces.iter().map(bytes).sum();
    if total <= keep {
        return 0..0;
    }
    let mut room = keep / 2;
    let mut head = 0;
    // The head ends at the first hole: a later piece would be an island.
    while head < pieces.len() && pieces[head].kept && pieces[head].bytes <= room {
        room -= pieces[head].bytes;
        head += 1;
    }
    let mut room = room + keep.div_ceil(2);
    let mut tail = pieces.len();
    while tail > head && bytes(&pieces[tail - 1]) <= room {
        room -= bytes(&pieces[tail - 1]);
        tail -= 1;
    }
    head..tail
}

/// The stretches of a file that some pieces cover, neighbours joined. Pieces
/// that went before are among them, in case a crash kept their room.
pub(crate) fn holes(pieces: &[Piece]) -> Vec<(u64, u64)> {
    let mut holes: Vec<(u64, u64)> = Vec::new();
    for piece in pieces {
        match holes.last_mut() {
            Some((offset, bytes)) if *offset + *bytes == piece.offset => *bytes += piece.bytes,
            _ => holes.push((piece.offset, piece.bytes)),
        }
    }
    holes
}

#[cfg(test)]
mod tests {
    use super::{Piece, holes, middle};

    fn pieces(sizes: &[(bool, u64)]) -> Vec<Piece> {
        let mut offset = 0;
        sizes
            .iter()
            .map(|&(kept, bytes)| {
                offset += bytes;
                Piece {
                    session: 1,
                    idx: 0,
                    kept,
                    offset: offset - bytes,
                    bytes,
                }
            })
            .collect()
    }

    #[test]
    fn nothing_goes_while_it_fits() {
        assert_eq!(middle(&pieces(&[(true, 10), (true, 10)]), 20), 0..0);
        assert_eq!(middle(&[], 0), 0..0);
    }

    #[test]
    fn the_middle_goes_and_room_left_by_the_head_serves_the_tail() {
        let given = pieces(&[(true, 10), (true, 10), (true, 10), (true, 10)]);
        assert_eq!(middle(&given, 20), 1..3);
        assert_eq!(middle(&given, 30), 1..2);
        assert_eq!(middle(&given, 0), 0..4);
    }

    #[test]
    fn the_head_does_not_grow_beyond_an_older_hole() {
        let given = pieces(&[(true, 10), (false, 90), (true, 5), (true, 50)]);
        assert_eq!(middle(&given, 60), 1..3);
        assert_eq!(holes(&given[1..3]), vec![(10, 95)]);
    }
}
