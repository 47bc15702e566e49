//! The visible bytes that came last, whether or not they have left.

use crate::limits::HISTORY_BYTES;

/// The last visible bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    bytes: Vec<u8>,
}

impl History {
    /// One more byte.
    #[inline]
    pub(crate) fn push(&mut self, byte: u8) {
        if self.bytes.len() >= 4 * HISTORY_BYTES {
            self.bytes.drain(..3 * HISTORY_BYTES);
        }
        self.bytes.push(byte);
    }

    /// More bytes.
    #[inline]
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        if bytes.len() >= HISTORY_BYTES {
            self.bytes.clear();
            self.bytes
                .extend_from_slice(&bytes[bytes.len() - HISTORY_BYTES..]);
            return;
        }
        let len = self.bytes.len();
        if len + bytes.len() > 4 * HISTORY_BYTES {
            self.bytes.drain(..len - HISTORY_BYTES);
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Exactly as far back as rules look, however the bytes came.
    #[inline]
    pub(crate) fn tail(&self) -> &[u8] {
        &self.bytes[self.bytes.len().saturating_sub(HISTORY_BYTES)..]
    }

    /// The part of it that is on the current line.
    #[inline]
    pub(crate) fn line(&self) -> &[u8] {
        let tail = self.tail();
        let start = tail.iter().rposition(|byte| *byte == b'\n');
        &tail[start.map_or(0, |at| at + 1)..]
    }
}

#[cfg(test)]
mod tests {
    use super::History;
    use crate::limits::HISTORY_BYTES;

    #[test]
    fn the_tail_does_not_depend_on_how_bytes_came() {
        let bytes: Vec<u8> = (0..5000_u32).map(|n| (n % 251) as u8).collect();
        for step in [1, 7, 255, 256, 257, 1000, 5000] {
            let mut history = History::default();
            for chunk in bytes.chunks(step) {
                if chunk.len() == 1 {
                    history.push(chunk[0]);
                } else {
                    history.extend(chunk);
                }
            }
            assert_eq!(history.tail(), &bytes[5000 - HISTORY_BYTES..], "{step}");
        }
    }
}
