//! Goes on after the daemon was lost: the same key asks for the same
//! execution, which is shown again from its beginning, and what was printed
//! already is passed over.

use crate::error::{Failure, Kind};
use glass_proto::shellglass::v1::{CancelRequest, ExecuteRequest};
use rustix::rand::{GetRandomFlags, getrandom};
use std::fmt::Write as _;
use tonic::{Code, Status};

/// Bytes of randomness in a key.
const KEY_BYTES: usize = 16;

/// A key that no other call has.
pub(in crate::commands) fn fresh_key() -> Result<String, Failure> {
    let mut random = [0; KEY_BYTES];
    let filled = getrandom(&mut random, GetRandomFlags::empty());
    if filled != Ok(KEY_BYTES) {
        return Err(Failure::new(
            Kind::Broken,
            "the kernel gives no random bytes",
        ));
    }
    let mut key = String::from("run-");
    for byte in random {
        let _ = write!(key, "{byte:02x}");
    }
    Ok(key)
}

/// How often a lost daemon is sought again before we give up.
pub(in crate::commands) const RECONNECTS_MAX: u32 = 20;

/// Whether a call failed because the daemon went away, while its execution has
/// not. A broken transport is `Unavailable` or, where a stream was cut off in
/// the middle, one of the others; a daemon's own error is final.
pub(in crate::commands) fn is_lost(status: &Status) -> bool {
    let is_transport = std::error::Error::source(status).is_some();
    match status.code() {
        Code::Unavailable => true,
        Code::Unknown | Code::Internal | Code::Cancelled => is_transport,
        _ => false,
    }
}

/// What names the execution of a request from its first moment on.
pub(super) fn cancel_request(request: &ExecuteRequest) -> CancelRequest {
    let args = request.args.as_ref();
    CancelRequest {
        tool_call_id: args
            .map(|args| args.tool_call_id.clone())
            .unwrap_or_default(),
        ..CancelRequest::default()
    }
}

/// How much of one stream has been printed, over all connections.
#[derive(Debug, Default)]
pub(super) struct Printed {
    total: u64,
    seen: u64,
}

impl Printed {
    /// A new connection begins at the stream's first byte.
    pub(super) fn rewind(&mut self) {
        self.seen = 0;
    }

    /// The part of these bytes that has not been printed yet.
    pub(super) fn fresh<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let known = self.total.saturating_sub(self.seen);
        self.seen += bytes.len() as u64;
        self.total = self.total.max(self.seen);
        let known = usize::try_from(known)
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        &bytes[known..]
    }
}

#[cfg(test)]
mod tests {
    use super::{Printed, fresh_key};

    #[test]
    fn nothing_is_printed_twice_however_it_is_cut() {
        let mut printed = Printed::default();
        let mut text = printed.fresh(b"hello ").to_vec();
        text.extend_from_slice(printed.fresh(b"wor"));
        printed.rewind();
        for chunk in [&b"he"[..], b"llo world", b"!"] {
            text.extend_from_slice(printed.fresh(chunk));
        }
        assert_eq!(text, b"hello world!");
    }

    #[test]
    fn keys_differ() {
        let key = fresh_key().expect("randomness");
        assert_eq!(key.len(), "run-".len() + 32);
        assert_ne!(key, fresh_key().expect("randomness"));
    }
}
