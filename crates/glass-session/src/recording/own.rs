//! What a shell itself writes about a command.

use crate::pipes::Pair;
use crate::ready::ReadyFd;
use std::io;

/// The outputs that a shell was started with, for one that writes messages about
/// a command there and not where the command's output goes.
pub(crate) struct OwnOutputs(pub(super) [ReadyFd; 2]);

impl OwnOutputs {
    pub(crate) fn new(pair: Pair) -> io::Result<OwnOutputs> {
        Ok(OwnOutputs([
            ReadyFd::register(pair.0)?,
            ReadyFd::register(pair.1)?,
        ]))
    }

    /// Takes what belongs to no command: what start files printed, or what a
    /// shell said between two commands. At most `max` bytes are kept.
    pub(crate) fn take_stray(&self, max: usize) -> Vec<u8> {
        let mut text = Vec::new();
        let mut buffer = [0; 4096];
        for fd in &self.0 {
            while let Ok(count @ 1..) = rustix::io::read(fd, &mut buffer) {
                let room = max - text.len();
                text.extend_from_slice(&buffer[..count.min(room)]);
            }
        }
        text
    }
}
