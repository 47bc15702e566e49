//! Finds operating system commands in a stream of bytes.
//!
//! BEL or `ESC \` ends one; CAN, SUB, or an ESC that begins anything else
//! aborts it, so that half a marker never hides the next one. 0x9C does not
//! end it: that byte is a part of `Ü`. Nothing is held back from whoever passes
//! the bytes on: the scanner only looks.

use super::{Marker, Nonce, parse};
use crate::control::{BEL, CAN, ESC, SUB};

/// Longest payload kept, in bytes. A longer one is dropped whole, so that
/// output cannot make us grow.
pub const OSC_PAYLOAD_BYTES_MAX: usize = 64 * 1024;

/// Buffer that a quiet scanner may keep, in bytes.
const BUFFER_KEPT_BYTES_MAX: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Between sequences, or in one that is none of ours.
    Ground,
    /// After ESC.
    Escape,
    /// In the payload of an operating system command.
    Payload,
    /// After an ESC in it, which ends it if `\` follows.
    PayloadEscape,
}

/// Reads a stream in pieces and reports its markers.
#[derive(Clone, Debug)]
pub struct MarkerScanner {
    nonce: Option<Nonce>,
    state: State,
    /// Bytes of the stream before the current piece.
    consumed: u64,
    /// Where the current sequence began.
    start: u64,
    /// The payload so far, where it began in an earlier piece.
    buffer: Vec<u8>,
    /// The payload is too long or cannot be a marker's.
    dropped: bool,
}

impl MarkerScanner {
    /// A scanner at the beginning of a stream. Without a nonce it trusts
    /// nothing.
    pub fn new(nonce: Option<Nonce>) -> MarkerScanner {
        MarkerScanner {
            nonce,
            state: State::Ground,
            consumed: 0,
            start: 0,
            buffer: Vec::new(),
            dropped: false,
        }
    }

    /// Reads the next piece and reports every marker that ends in it, in order.
    pub fn scan(&mut self, bytes: &[u8], mut found: impl FnMut(Marker)) {
        let mut at = 0;
        while at < bytes.len() {
            at = match self.state {
                State::Ground => self.ground(bytes, at),
                State::Escape => self.escape(bytes, at),
                State::Payload => self.payload(bytes, at, &mut found),
                State::PayloadEscape => self.payload_escape(bytes, at, &mut found),
            };
        }
        self.consumed += bytes.len() as u64;
    }

    /// Bytes held between two pieces: at most [`OSC_PAYLOAD_BYTES_MAX`].
    pub fn pending_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Bytes of the stream read so far.
    pub fn position(&self) -> u64 {
        self.consumed
    }

    fn ground(&mut self, bytes: &[u8], at: usize) -> usize {
        // Most escapes are none of ours. Staying in this loop for them is what
        // makes coloured output cheap.
        for esc in memchr::memchr_iter(ESC, &bytes[at..]) {
            let esc = at + esc;
            match bytes.get(esc + 1) {
                Some(b']') => {
                    self.begin(esc);
                    return esc + 2;
                }
                Some(0x20..=0x7e) => {}
                // Controls do not end an escape sequence, and the piece may.
                _ => {
                    self.start = self.consumed + esc as u64;
                    self.state = State::Escape;
                    return esc + 1;
                }
            }
        }
        bytes.len()
    }

    fn escape(&mut self, bytes: &[u8], at: usize) -> usize {
        match bytes[at] {
            b']' => {
                let start = self.start;
                self.begin(at);
                self.start = start;
            }
            ESC => self.start = self.consumed + at as u64,
            CAN | SUB | 0x20..=0x7e => self.state = State::Ground,
            // A terminal executes a control in the middle of a sequence and
            // goes on with the sequence.
            _ => {}
        }
        at + 1
    }

    fn begin(&mut self, at: usize) {
        self.start = self.consumed + at as u64;
        self.state = State::Payload;
        self.buffer.clear();
        self.dropped = false;
    }

    fn payload(&mut self, bytes: &[u8], at: usize, found: &mut impl FnMut(Marker)) -> usize {
        let rest = &bytes[at..];
        let end = rest
            .iter()
            .position(|byte| matches!(*byte, BEL | CAN | SUB | ESC));
        let Some(end) = end else {
            self.keep(rest);
            return bytes.len();
        };
        match rest[end] {
            BEL => self.finish(&rest[..end], at + end + 1, found),
            ESC if rest.get(end + 1) == Some(&b'\\') => {
                self.finish(&rest[..end], at + end + 2, found);
                return at + end + 2;
            }
            ESC => {
                self.keep(&rest[..end]);
                self.state = State::PayloadEscape;
            }
            _ => self.abort(),
        }
        at + end + 1
    }

    fn payload_escape(&mut self, bytes: &[u8], at: usize, found: &mut impl FnMut(Marker)) -> usize {
        if bytes[at] == b'\\' {
            self.finish(&[], at + 1, found);
            return at + 1;
        }
        // The ESC began something else, and stood right before this byte.
        self.abort();
        self.start = self.consumed + at as u64 - 1;
        self.state = State::Escape;
        at
    }

    /// Keeps a part of the payload for the next piece, while it is of use.
    fn keep(&mut self, part: &[u8]) {
        if self.dropped {
            return;
        }
        if self.buffer.len() + part.len() > OSC_PAYLOAD_BYTES_MAX {
            self.drop_payload();
            return;
        }
        self.buffer.extend_from_slice(part);
        if !parse::may_begin_marker(&self.buffer) {
            self.drop_payload();
        }
    }

    fn drop_payload(&mut self) {
        self.dropped = true;
        self.buffer = Vec::new();
    }

    /// The payload is complete with `last`; its terminator ends before `end`.
    fn finish(&mut self, last: &[u8], end: usize, found: &mut impl FnMut(Marker)) {
        let end = self.consumed + end as u64;
        let place = parse::Place {
            offset: self.start,
            bytes: end - self.start,
        };
        let fits = self.buffer.len() + last.len() <= OSC_PAYLOAD_BYTES_MAX;
        if !self.dropped && fits {
            let nonce = self.nonce.as_ref();
            let marker = if self.buffer.is_empty() {
                parse::marker(last, place, nonce)
            } else {
                self.buffer.extend_from_slice(last);
                parse::marker(&self.buffer, place, nonce)
            };
            if let Some(marker) = marker {
                found(marker);
            }
        }
        self.abort();
    }

    fn abort(&mut self) {
        self.state = State::Ground;
        self.dropped = false;
        self.buffer.clear();
        if self.buffer.capacity() > BUFFER_KEPT_BYTES_MAX {
            self.buffer = Vec::new();
        }
    }
}
