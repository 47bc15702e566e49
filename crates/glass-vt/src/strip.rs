//! Leaves out of a stream what a terminal would answer or obey, so that it can
//! be shown again or to somebody else.
//!
//! A terminal that is asked for its cursor, colours or name answers into its
//! input; whoever only watches must not. Sequences are left out whole, those
//! that another one interrupts too: else what is left around a gap could become
//! a sequence that nobody wrote. Controls in the middle of one, which terminals
//! obey or ignore, come before it or are left out. All other bytes pass unchanged
//! and in order. What is held back is one unfinished sequence of at most [`HELD_BYTES_MAX`].

mod questions;
#[cfg(test)]
mod tests;

use crate::control::{BEL, CAN, ENQ, ESC, SUB};
use questions::{control_asks, device_asks, os_may_ask};

/// Longest sequence that is looked at as a whole, in bytes. A longer one is
/// left out, if it could be a question.
pub const HELD_BYTES_MAX: usize = 1024;

/// The first byte of U+0080 to U+00BF.
const C2: u8 = 0xc2;

/// What is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stripped {
    /// Questions to the terminal.
    Queries,
    /// Those, and shell markers.
    MarkersAndQueries,
    /// Questions, and what a terminal would put on the clipboard or into a file.
    /// For who only watches.
    ClipboardAndQueries,
    /// Questions, and what has an effect beyond the screen: the clipboard,
    /// notifications, the bell. For what is shown again.
    EffectsAndQueries,
}

/// What ends a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    /// BEL or `ESC \`.
    Bell,
    /// `ESC \` alone.
    Terminator,
}

/// Where in a sequence we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In none.
    Ground,
    /// After ESC.
    Escape,
    /// In a control sequence.
    Control,
    /// In one that is too long and left out.
    LongControl,
    /// Before the final byte of a device control string.
    Device,
    /// In the number of an operating system command, which begins at this byte of
    /// what is held.
    OsNumber(usize),
    /// In the payload of one that is not judged yet.
    Os(usize),
    /// After an ESC in it.
    OsEscape(usize),
    /// In a string that passes.
    Passing(Ends),
    /// In a string that is left out.
    Dropping(Ends),
    /// After an ESC in it.
    DroppingEscape,
}

/// A stream that is being filtered.
#[derive(Debug)]
pub struct Strip {
    stripped: Stripped,
    state: State,
    held: Vec<u8>,
    /// A string passed that nothing has ended yet.
    open: bool,
    /// The last byte was the first of two that may be a control.
    after_c2: bool,
}

impl Strip {
    /// A filter at the beginning of a stream.
    pub fn new(stripped: Stripped) -> Strip {
        Strip {
            stripped,
            state: State::Ground,
            held: Vec::new(),
            open: false,
            after_c2: false,
        }
    }

    /// Filters the next piece; `pass` gets what stays, in order.
    ///
    /// Controls of the upper half (U+0080 to U+009F) are left out first: some
    /// terminals take them for the beginning or the end of a sequence. Half of
    /// one becomes U+FFFD, as a terminal would show it.
    pub fn push(&mut self, bytes: &[u8], mut pass: impl FnMut(&[u8])) {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.after_c2 {
                self.after_c2 = false;
                match rest[0] {
                    0x80..=0x9f => rest = &rest[1..],
                    0xa0..=0xbf => self.run(&[C2], &mut pass),
                    // Half a character, which a gap could complete.
                    _ => self.run("\u{fffd}".as_bytes(), &mut pass),
                }
                continue;
            }
            let found = memchr::memchr(C2, rest);
            self.run(&rest[..found.unwrap_or(rest.len())], &mut pass);
            self.after_c2 = found.is_some();
            rest = found.map_or(&[], |at| &rest[at + 1..]);
        }
    }

    /// Bytes held back: at most [`HELD_BYTES_MAX`].
    pub fn pending_bytes(&self) -> usize {
        self.held.len()
    }

    /// Whether something that has begun is not passed on as it comes: it will
    /// pass whole, or not at all.
    pub fn holds_back(&self) -> bool {
        let passes = matches!(self.state, State::Ground | State::Passing(_));
        !passes || self.after_c2
    }

    fn run(&mut self, bytes: &[u8], pass: &mut impl FnMut(&[u8])) {
        let mut at = 0;
        while at < bytes.len() {
            let plain = bytes[at..].iter().take_while(|byte| self.is_plain(**byte));
            let plain = plain.count();
            if plain > 0 {
                pass(&bytes[at..at + plain]);
                at += plain;
            } else {
                self.step(bytes[at], pass);
                at += 1;
            }
        }
    }

    /// Whether a byte passes without a second look.
    fn is_plain(&self, byte: u8) -> bool {
        match self.state {
            State::Ground => byte >= 0x20 || !matches!(byte, ESC | ENQ | BEL),
            State::Passing(_) => !matches!(byte, ESC | BEL | CAN | SUB),
            _ => false,
        }
    }

    fn step(&mut self, byte: u8, pass: &mut impl FnMut(&[u8])) {
        match (self.state, byte) {
            (State::OsEscape(start), b'\\') => {
                self.held.push(ESC);
                self.held.push(byte);
                self.judge_os(start, self.held.len() - 2, pass);
            }
            (State::DroppingEscape, b'\\') => self.state = State::Ground,
            (State::OsEscape(_) | State::DroppingEscape, _) => {
                self.begin();
                self.step(byte, pass);
            }
            (State::Dropping(_), ESC) => self.state = State::DroppingEscape,
            (State::OsNumber(start) | State::Os(start), ESC) => {
                self.state = State::OsEscape(start);
            }
            (_, ESC) => {
                self.open |= matches!(self.state, State::Passing(_));
                self.begin();
            }
            (State::Dropping(_) | State::LongControl, CAN | SUB) => self.state = State::Ground,
            (State::Dropping(Ends::Bell), BEL) => self.state = State::Ground,
            (State::Dropping(_), _) => {}
            (State::LongControl, 0x40..=0x7e) => self.state = State::Ground,
            (State::LongControl, _) => {}
            (State::Ground, BEL) if self.stripped != Stripped::EffectsAndQueries => pass(&[byte]),
            (State::Ground, _) => {}
            (State::Passing(ends), _) => {
                pass(&[byte]);
                if byte != BEL || ends == Ends::Bell {
                    self.state = State::Ground;
                }
            }
            _ => self.hold(byte, pass),
        }
    }

    /// Adds a byte to the sequence that is held.
    fn hold(&mut self, byte: u8, pass: &mut impl FnMut(&[u8])) {
        if byte == ENQ || self.passes_by(byte, pass) {
            return;
        }
        self.held.push(byte);
        match (self.state, byte) {
            (_, CAN | SUB) => self.pass_held(State::Ground, pass),
            (State::Escape, _) => self.after_escape(byte, pass),
            (State::Control, 0x40..=0x7e) => match control_asks(&self.held) {
                true => self.drop_held(State::Ground, pass),
                false => self.pass_held(State::Ground, pass),
            },
            (State::Device, 0x40..=0x7e) => match device_asks(&self.held) {
                true => self.drop_held(State::Dropping(Ends::Terminator), pass),
                false => self.pass_held(State::Passing(Ends::Terminator), pass),
            },
            (State::OsNumber(start) | State::Os(start), BEL) => {
                self.judge_os(start, self.held.len() - 1, pass);
            }
            (State::OsNumber(start), _) if !byte.is_ascii_digit() => {
                self.judge_os_early(start, pass);
            }
            _ => {}
        }
        if self.held.len() >= HELD_BYTES_MAX {
            let next = match self.state {
                State::OsNumber(_) | State::Os(_) => State::Dropping(Ends::Bell),
                State::Device => State::Dropping(Ends::Terminator),
                _ => State::LongControl,
            };
            self.drop_held(next, pass);
        }
    }

    /// Takes controls out of the middle of a sequence, where terminals obey or
    /// ignore them and go on: else one of them would hide from us what the sequence
    /// is. What is obeyed comes before the sequence, as it does in a terminal.
    fn passes_by(&mut self, byte: u8, pass: &mut impl FnMut(&[u8])) -> bool {
        let is_control = matches!(byte, 0x00..=0x1f | 0x7f) && !matches!(byte, CAN | SUB | ESC);
        let is_obeyed = match self.state {
            State::Escape | State::Control => true,
            State::Device => false,
            State::OsNumber(_) => return is_control && byte != BEL,
            _ => return false,
        };
        let rings = byte == BEL && self.stripped == Stripped::EffectsAndQueries;
        if is_control && is_obeyed && !rings && !matches!(byte, 0x00 | 0x7f) {
            self.close_open(pass);
            pass(&[byte]);
        }
        is_control
    }

    fn after_escape(&mut self, byte: u8, pass: &mut impl FnMut(&[u8])) {
        match byte {
            b'[' => self.state = State::Control,
            b']' => self.state = State::OsNumber(self.held.len()),
            b'P' => self.state = State::Device,
            // Nothing of these is ever shown.
            b'X' | b'^' | b'_' => self.drop_held(State::Dropping(Ends::Terminator), pass),
            // DECID asks what DA1 asks.
            b'Z' => self.drop_held(State::Ground, pass),
            _ => self.pass_held(State::Ground, pass),
        }
    }

    /// Judges an operating system command as soon as its number is known.
    fn judge_os_early(&mut self, start: usize, pass: &mut impl FnMut(&[u8])) {
        self.state = State::Os(start);
        let number = number(&self.held[start..]);
        if self.is_stripped_number(number) {
            self.drop_held(State::Dropping(Ends::Bell), pass);
        } else if !os_may_ask(number) {
            self.pass_held(State::Passing(Ends::Bell), pass);
        }
    }

    /// Judges a complete one, whose payload ends before `end`.
    fn judge_os(&mut self, start: usize, end: usize, pass: &mut impl FnMut(&[u8])) {
        let payload = &self.held[start..end];
        let number = number(payload);
        let asks = os_may_ask(number) && payload.contains(&b'?');
        match asks || self.is_stripped_number(number) {
            true => self.drop_held(State::Ground, pass),
            false => self.pass_held(State::Ground, pass),
        }
    }

    fn is_stripped_number(&self, number: &[u8]) -> bool {
        match self.stripped {
            Stripped::Queries => false,
            Stripped::MarkersAndQueries => matches!(number, b"133" | b"633"),
            Stripped::ClipboardAndQueries => reaches_clipboard(number),
            Stripped::EffectsAndQueries => {
                reaches_clipboard(number) || matches!(number, b"9" | b"99" | b"777")
            }
        }
    }

    fn begin(&mut self) {
        self.state = State::Escape;
        self.held.clear();
        self.held.push(ESC);
    }

    fn pass_held(&mut self, next: State, pass: &mut impl FnMut(&[u8])) {
        pass(&self.held);
        self.held.clear();
        self.open = false;
        self.state = next;
    }

    fn drop_held(&mut self, next: State, pass: &mut impl FnMut(&[u8])) {
        self.held.clear();
        self.state = next;
        self.close_open(pass);
    }

    /// What follows must not become a part of a string that passed.
    fn close_open(&mut self, pass: &mut impl FnMut(&[u8])) {
        if std::mem::take(&mut self.open) {
            pass(b"\x1b\\");
        }
    }
}

/// Whether a command of this number hands something to a clipboard or a file.
fn reaches_clipboard(number: &[u8]) -> bool {
    matches!(number, b"52" | b"1337" | b"5113" | b"5522")
}

/// The digits that a payload begins with, without zeros that say nothing.
fn number(payload: &[u8]) -> &[u8] {
    let digits = payload
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let zeros = payload.iter().take_while(|byte| **byte == b'0').count();
    &payload[zeros.min(digits.saturating_sub(1))..digits]
}
