//! What was typed and the daemon has not taken.

use super::message;
use super::terminal::Keys;
use glass_proto::shellglass::v1::attach_input::Input;
use glass_proto::shellglass::v1::{AttachInput, Resize};
use std::collections::VecDeque;
use tokio::sync::mpsc::Permit;

/// Bytes of keys that wait; who types more waits. The key that leaves is only heard
/// among those that are read, so there is room for more than anybody types or pastes
/// at a daemon that takes nothing.
const KEYS_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Bytes of keys that are sent as one.
const PIECE_BYTES_MAX: usize = 16 * 1024;

/// Keys in their order, and the last size: those before it count no more.
#[derive(Default)]
pub(super) struct Unsent {
    pieces: VecDeque<Vec<u8>>,
    bytes: usize,
    pub(super) resize: Option<Resize>,
}

impl Unsent {
    pub(super) fn push_keys(&mut self, keys: &[u8]) {
        self.bytes += keys.len();
        match self.pieces.back_mut() {
            Some(last) if last.len() + keys.len() <= PIECE_BYTES_MAX => {
                last.extend_from_slice(keys);
            }
            _ => self.pieces.push_back(keys.to_vec()),
        }
    }

    /// Whether more keys can wait.
    pub(super) fn keys(&self) -> Keys {
        match self.bytes < KEYS_BYTES_MAX {
            true => Keys::Wanted,
            false => Keys::Wait,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.resize.is_none()
    }

    /// How many bytes of keys wait.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Sends what is next.
    pub(super) fn send(&mut self, room: Permit<'_, AttachInput>) {
        if let Some(resize) = self.resize.take() {
            room.send(message(Input::Resize(resize)));
        } else if let Some(keys) = self.pieces.pop_front() {
            self.bytes -= keys.len();
            room.send(message(Input::Data(keys.into())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KEYS_BYTES_MAX, PIECE_BYTES_MAX, Unsent};
    use crate::commands::attach::terminal::Keys;

    #[test]
    fn keys_wait_in_their_order_and_in_few_pieces() {
        let mut unsent = Unsent::default();
        for at in 0..3 * PIECE_BYTES_MAX {
            unsent.push_keys(&[b'a' + u8::try_from(at % 26).expect("a letter")]);
        }
        assert_eq!(unsent.bytes(), 3 * PIECE_BYTES_MAX);
        assert_eq!(unsent.pieces.len(), 3);
        let all: Vec<u8> = unsent.pieces.iter().flatten().copied().collect();
        assert!(all.starts_with(b"abc") && all[26..].starts_with(b"abc"));
        assert_eq!(unsent.keys(), Keys::Wanted);
        unsent.push_keys(&vec![b'x'; KEYS_BYTES_MAX]);
        assert_eq!(unsent.keys(), Keys::Wait);
    }
}
