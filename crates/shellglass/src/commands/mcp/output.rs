//! Stored output, a piece at a time, with the exact place of every byte.

use super::state::State;
use crate::client::Client;
use glass_proto::shellglass::v1::{ReadOutputRequest, ReadOutputResponse};
use tonic::Status;

/// Bytes asked for at once.
pub(super) const PIECE_BYTES_MAX: u64 = 1 << 20;

/// Adjacent output, and how the command stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Piece {
    /// Where its first byte stands. That is after what was asked for where a
    /// quota removed something there.
    pub at: u64,
    pub bytes: Vec<u8>,
    /// The byte after its last one.
    pub next: u64,
    pub running: bool,
    pub exit_code: Option<i32>,
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

    /// How many bytes of output there are, found by looking where there are
    /// none. `beyond` is an offset that has nothing.
    pub(super) async fn end_before(&self, shell_id: u32, beyond: u64) -> Result<u64, Status> {
        let (mut low, mut high) = (0, beyond);
        while low < high {
            let middle = low + (high - low) / 2;
            let answer = self.read_once(shell_id, middle, 1, 0).await?;
            if answer.next_offset > middle {
                low = answer.next_offset;
            } else {
                high = middle;
            }
        }
        Ok(low)
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
        next: answer.next_offset,
        running: answer.running,
        exit_code: answer.exit_code,
        bytes,
    }
}
