//! What was typed and the daemon has not taken.

use super::message;
use super::terminal::Keys;
use glass_proto::shellglass::v1::attach_input::Input;
use glass_proto::shellglass::v1::{AttachInput, Resize};
use std::collections::VecDeque;
use tokio::sync::mpsc::Permit;

/// Bytes of keys that wait; who types more waits.
const KEYS_BYTES_MAX: usize = 64 * 1024;

/// Keys in their order, and the last size: those before it count no more.
#[derive(Default)]
pub(super) struct Unsent {
    keys: VecDeque<Vec<u8>>,
    bytes: usize,
    pub(super) resize: Option<Resize>,
}

impl Unsent {
    pub(super) fn push_keys(&mut self, keys: &[u8]) {
        self.bytes += keys.len();
        self.keys.push_back(keys.to_vec());
    }

    /// Whether more keys can wait.
    pub(super) fn keys(&self) -> Keys {
        match self.bytes < KEYS_BYTES_MAX {
            true => Keys::Wanted,
            false => Keys::Wait,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.resize.is_none()
    }

    /// Sends what is next.
    pub(super) fn send(&mut self, room: Permit<'_, AttachInput>) {
        if let Some(resize) = self.resize.take() {
            room.send(message(Input::Resize(resize)));
        } else if let Some(keys) = self.keys.pop_front() {
            self.bytes -= keys.len();
            room.send(message(Input::Data(keys.into())));
        }
    }
}
