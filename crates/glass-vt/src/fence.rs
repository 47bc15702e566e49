//! Keeps what programs write out of the last row of a terminal.
//!
//! The bytes go to the terminal as they are, so that its own history, links and
//! clipboard work as ever. Only the rows above scroll, which is said with margins,
//! and the few sequences that reach beyond or undo that are replaced: by where a
//! screen of our own, which is shown the same, has the cursor then.
//!
//! Invariant: whatever is cut where, the terminal gets every sequence whole, and
//! the row is only painted between two of them.

mod control;
#[cfg(test)]
mod tests;

use crate::control::{BEL, CAN, ESC, SUB};
use crate::screen::{Screen, ScreenSize};
use control::{Effect, effect};
use unicode_width::UnicodeWidthChar as _;

/// Most bytes of a control sequence that are looked at; a longer one passes.
const CONTROL_BYTES_MAX: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ground,
    Escape,
    Control,
    String,
}

/// A terminal with a row that is not for programs.
pub struct Fence {
    /// What the programs have written, on the rows that they have.
    screen: Screen,
    size: ScreenSize,
    state: State,
    /// The sequence that is not finished, from its ESC on.
    held: Vec<u8>,
    /// Whether the terminal shows nothing until an update is finished.
    is_updating: bool,
    is_worn: bool,
}

impl Fence {
    /// A fence below this many rows.
    pub fn new(size: ScreenSize) -> Fence {
        let size = size.clamped();
        Fence {
            screen: Screen::new(size),
            size,
            state: State::Ground,
            held: Vec::new(),
            is_updating: false,
            is_worn: true,
        }
    }

    /// Puts it up, or up again in another place: the terminal gets its margins
    /// and the cursor stays.
    pub fn put_up(&mut self, size: ScreenSize, out: &mut Vec<u8>) {
        self.size = size.clamped();
        self.screen.resize(self.size);
        self.is_worn = true;
        if self.is_between() {
            self.screen.resume(out);
        }
    }

    /// The rows above it.
    pub fn size(&self) -> ScreenSize {
        self.size
    }

    /// Takes what programs wrote; appends what the terminal is to be sent.
    pub fn show(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut at = 0;
        while at < bytes.len() {
            at += match self.state {
                State::Ground => self.text(&bytes[at..], out),
                State::String => self.string(&bytes[at..], out),
                State::Escape | State::Control => {
                    self.step(bytes[at], out);
                    1
                }
            };
        }
        if self.screen.scrolled().end < usize::from(self.size.rows) && self.is_between() {
            // Below the margins of a program, a new line could have gone on to
            // our row.
            self.screen.resume(out);
            self.is_worn = true;
        }
    }

    /// Whether the row may have been written over.
    pub fn is_worn(&self) -> bool {
        self.is_worn
    }

    /// Paints the row, which is this one of the terminal, from 1 on. Not possible
    /// in the middle of a sequence; whether it was done.
    pub fn paint(&mut self, row: u16, text: &str, out: &mut Vec<u8>) -> bool {
        if !self.is_between() {
            return false;
        }
        let columns = usize::from(self.size.columns);
        Screen::step_aside(out);
        out.extend_from_slice(format!("\x1b[{row};1H\x1b[7m{}", fitted(text, columns)).as_bytes());
        self.screen.resume(out);
        self.is_worn = false;
        true
    }

    /// Whether an update has begun and not ended.
    pub fn is_updating(&self) -> bool {
        self.is_updating
    }

    /// Takes an update for ended whose program may have died: terminals wait no
    /// longer, either.
    pub fn end_update(&mut self) {
        self.is_updating = false;
    }

    /// Whether something else may be written now.
    pub fn is_between(&self) -> bool {
        self.is_whole() && !self.is_updating
    }

    /// Whether neither a sequence nor a character is unfinished, be it in an update.
    pub fn is_whole(&self) -> bool {
        // The screen has not seen what is held.
        self.state == State::Ground && self.screen.is_between()
    }

    /// Passes text; how many bytes of these it was, the ESC after it included.
    fn text(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        let escape = memchr::memchr(ESC, bytes);
        let text = &bytes[..escape.unwrap_or(bytes.len())];
        self.pass_lines(text, out);
        if escape.is_none() {
            return bytes.len();
        }
        self.begin();
        text.len() + 1
    }

    /// Passes text. A new line in the last row, below the margins of a program,
    /// does nothing there, and would go on to our row here.
    fn pass_lines(&mut self, text: &[u8], out: &mut Vec<u8>) {
        let rows = usize::from(self.size.rows);
        if self.screen.scrolled().end == rows {
            return self.pass(text, out);
        }
        for line in text.split_inclusive(|byte| is_new_line(*byte)) {
            let end = line.len() - usize::from(line.last().is_some_and(|byte| is_new_line(*byte)));
            self.pass(&line[..end], out);
            let before = self.screen.cursor().0;
            self.screen.feed(&line[end..]);
            let is_last = before + 1 == rows;
            if !is_last {
                out.extend_from_slice(&line[end..]);
            }
        }
    }

    /// Passes what is in a string; how many bytes of these it was.
    fn string(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        let end = bytes
            .iter()
            .position(|byte| matches!(*byte, BEL | CAN | SUB | ESC));
        let Some(end) = end else {
            self.pass(bytes, out);
            return bytes.len();
        };
        if bytes[end] == ESC {
            self.pass(&bytes[..end], out);
            self.begin();
        } else {
            self.pass(&bytes[..=end], out);
            if self.screen.is_between() {
                self.state = State::Ground;
            }
        }
        end + 1
    }

    fn begin(&mut self) {
        self.state = State::Escape;
        self.held.clear();
        self.held.push(ESC);
    }

    fn step(&mut self, byte: u8, out: &mut Vec<u8>) {
        if byte == ESC {
            let before = std::mem::take(&mut self.held);
            self.pass(&before, out);
            return self.begin();
        }
        self.held.push(byte);
        let is_long = self.held.len() > CONTROL_BYTES_MAX;
        self.state = match (self.state, byte) {
            (_, CAN | SUB) => State::Ground,
            _ if is_long => State::Ground,
            (State::Escape, b'[') => State::Control,
            (State::Escape, b']' | b'P' | b'X' | b'^' | b'_') => State::String,
            (State::Control, 0x40..=0x7e) | (State::Escape, 0x30..=0x7e) => State::Ground,
            (state, _) => state,
        };
        let held = match self.state {
            State::Ground | State::String => std::mem::take(&mut self.held),
            State::Escape | State::Control => return,
        };
        match effect(&held, self.size.rows, self.screen.cursor().0) {
            Effect::None => self.pass(&held, out),
            Effect::Update(is_updating) => {
                // Our own screen is to be up to date at any moment.
                self.is_updating = is_updating;
                out.extend_from_slice(&held);
            }
            Effect::Wears => {
                self.pass(&held, out);
                self.is_worn = true;
            }
            Effect::Undoes => {
                // A terminal that is reset shows everything.
                self.is_updating &= held != b"\x1bc";
                self.pass(&held, out);
                self.screen.resume(out);
                self.is_worn = true;
            }
            Effect::Leaves => {
                self.screen.feed(&held);
                self.screen.resume(out);
            }
        }
    }

    fn pass(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(bytes);
        self.screen.feed(bytes);
        // The daemon answers what programs ask.
        drop(self.screen.take_replies());
    }
}

fn is_new_line(byte: u8) -> bool {
    matches!(byte, b'\n' | 0x0b | 0x0c)
}

/// Text that fills exactly this many columns, without anything that is not seen.
fn fitted(text: &str, columns: usize) -> String {
    let mut fitted = String::new();
    let mut used = 0;
    for character in text.chars() {
        let width = character.width().unwrap_or(0);
        if width == 0 {
            continue;
        }
        if used + width > columns {
            break;
        }
        used += width;
        fitted.push(character);
    }
    fitted.extend(std::iter::repeat_n(' ', columns - used));
    fitted
}
