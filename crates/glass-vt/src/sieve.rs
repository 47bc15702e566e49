//! Takes our own shell's markers out of a terminal's output.
//!
//! A marker that carries the session's nonce is for us alone: it is told, and
//! whoever shows or keeps the bytes never has it, so that nobody can learn the
//! nonce from them. Every other byte passes unchanged and in order, somebody
//! else's markers too. What is held back is one unfinished sequence that may
//! still become a marker, at most [`crate::marker::OSC_PAYLOAD_BYTES_MAX`] and
//! its frame.

#[cfg(test)]
mod tests;

use crate::control::{BEL, CAN, ESC, SUB};
use crate::marker::{Marker, MarkerScanner, Nonce, OSC_PAYLOAD_BYTES_MAX, Trust};
use std::ops::Range;

/// How every marker that we write begins.
const BEGIN: &[u8] = b"\x1b]633;";

/// Bytes that are held back at most.
const HELD_BYTES_MAX: usize = BEGIN.len() + OSC_PAYLOAD_BYTES_MAX;

/// A part of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sifted {
    /// These bytes of the piece that was pushed.
    Piece(Range<usize>),
    /// Bytes that were held back before, or that stand for something left out.
    Bytes(Vec<u8>),
    /// A marker of our own, which is no longer part of the stream.
    Marker(Marker),
}

/// A stream that is being sifted.
#[derive(Clone, Debug)]
pub struct Sieve {
    nonce: Nonce,
    /// What may become a marker; begins with ESC unless it is empty.
    held: Vec<u8>,
    /// Where in the current piece that begins; none where it began before.
    begun: Option<usize>,
    /// Whether a string of somebody else's has begun and not ended.
    open: bool,
}

impl Sieve {
    /// A sieve at the beginning of a stream.
    pub fn new(nonce: Nonce) -> Sieve {
        Sieve {
            nonce,
            held: Vec::new(),
            begun: None,
            open: false,
        }
    }

    /// Bytes held back: never more than a marker can have.
    pub fn pending_bytes(&self) -> usize {
        self.held.len()
    }

    /// Gives up on what is held back: no more will come.
    pub fn finish(&mut self) -> Vec<u8> {
        self.open = false;
        std::mem::take(&mut self.held)
    }

    /// The same where more comes, for somebody else: what may be the beginning of
    /// one of our markers, and hold the nonce, is left out.
    pub fn leave(&mut self) -> Vec<u8> {
        let mut rest = self.finish();
        if rest.starts_with(BEGIN) {
            rest.clear();
        }
        rest
    }

    /// Takes the next piece apart.
    pub fn push(&mut self, piece: &[u8]) -> Vec<Sifted> {
        let mut sifted = Vec::new();
        let mut at = 0;
        self.begun = None;
        while at < piece.len() {
            if self.held.is_empty() {
                let found = memchr::memchr(ESC, &piece[at..]);
                let end = found.map_or(piece.len(), |found| at + found);
                self.pass_piece(piece, at..end, &mut sifted);
                if end < piece.len() {
                    self.begin(end);
                }
                at = end + 1;
            } else {
                at = self.hold(piece, at, &mut sifted);
            }
        }
        sifted
    }

    /// Goes on with what is held; says where to go on.
    fn hold(&mut self, piece: &[u8], at: usize, sifted: &mut Vec<Sifted>) -> usize {
        let byte = piece[at];
        let length = self.held.len();
        if length < BEGIN.len() {
            if byte == BEGIN[length] {
                self.held.push(byte);
                return at + 1;
            }
            return self.release(byte, at, sifted);
        }
        if self.held.ends_with(&[ESC]) {
            if byte == b'\\' {
                self.held.push(byte);
                self.judge(sifted);
                return at + 1;
            }
            // The ESC began something else.
            self.held.pop();
            self.release_held(sifted);
            match at.checked_sub(1) {
                Some(esc) => self.begin(esc),
                // It was the last byte of the piece before.
                None => self.held.push(ESC),
            }
            return at;
        }
        let rest = &piece[at..];
        let stop = rest
            .iter()
            .position(|byte| matches!(*byte, BEL | CAN | SUB | ESC))
            .unwrap_or(rest.len());
        if length + stop >= HELD_BYTES_MAX {
            self.release_held(sifted);
            return at;
        }
        self.held.extend_from_slice(&rest[..stop]);
        match rest.get(stop).copied() {
            None => return piece.len(),
            Some(BEL) => {
                self.held.push(BEL);
                self.judge(sifted);
            }
            Some(ESC) => self.held.push(ESC),
            Some(other) => {
                self.held.push(other);
                self.release_held(sifted);
            }
        }
        at + stop + 1
    }

    fn begin(&mut self, at: usize) {
        self.held.push(ESC);
        self.begun = Some(at);
    }

    /// What is held is no marker; `byte` is what made that clear.
    fn release(&mut self, byte: u8, at: usize, sifted: &mut Vec<Sifted>) -> usize {
        if byte == ESC {
            self.release_held(sifted);
            self.begin(at);
            return at + 1;
        }
        // An ESC and what follows it pass together, so that each piece that
        // passes says by itself whether it opens a string.
        self.held.push(byte);
        self.release_held(sifted);
        at + 1
    }

    /// Decides about a complete sequence.
    fn judge(&mut self, sifted: &mut Vec<Sifted>) {
        let mut found = None;
        let mut scanner = MarkerScanner::new(Some(self.nonce.clone()));
        scanner.scan(&self.held, |marker| found = Some(marker));
        match found {
            Some(marker) if marker.trust == Trust::Trusted => {
                self.held.clear();
                // What follows must not become part of a string that some
                // program left unfinished.
                if std::mem::take(&mut self.open) {
                    sifted.push(Sifted::Bytes(b"\x1b\\".to_vec()));
                }
                sifted.push(Sifted::Marker(marker));
            }
            _ => self.release_held(sifted),
        }
    }

    fn release_held(&mut self, sifted: &mut Vec<Sifted>) {
        if self.held.is_empty() {
            return;
        }
        self.open = opens(&self.held, self.open);
        match self.begun.take() {
            Some(begin) => {
                extend(sifted, begin..begin + self.held.len());
                self.held.clear();
            }
            None => sifted.push(Sifted::Bytes(std::mem::take(&mut self.held))),
        }
    }

    fn pass_piece(&mut self, piece: &[u8], range: Range<usize>, sifted: &mut Vec<Sifted>) {
        if !range.is_empty() {
            if self.open {
                self.open = opens(&piece[range.clone()], true);
            }
            extend(sifted, range);
        }
    }
}

/// Adds a range to those that pass; one that goes on where the last ended becomes
/// part of it, so that coloured output stays in one piece.
fn extend(sifted: &mut Vec<Sifted>, range: Range<usize>) {
    match sifted.last_mut() {
        Some(Sifted::Piece(last)) if last.end == range.start => last.end = range.end,
        _ => sifted.push(Sifted::Piece(range)),
    }
}

/// Whether a string is unfinished after these bytes, which hold an ESC at their
/// beginning only.
fn opens(bytes: &[u8], was_open: bool) -> bool {
    let (is_open, rest) = match bytes {
        [ESC, b']' | b'P' | b'X' | b'^' | b'_', rest @ ..] => (true, rest),
        [ESC, ..] => return false,
        rest => (was_open, rest),
    };
    is_open && !rest.iter().any(|byte| matches!(*byte, BEL | CAN | SUB))
}
