//! One line of a terminal: cells, a cursor, and the controls that move it.
//!
//! Only what rewrites a single line is done: carriage return, backspace, tab,
//! and the sequences that move or erase within a line. Colours, titles and
//! everything else that has no text are left out. A line feed ends whatever
//! sequence is unfinished: a terminal would swallow the lines that follow, and
//! a reader must not lose them.

mod append;
mod cells;
mod sequence;

pub(super) use append::append;
use cells::Cells;
use sequence::{Edit, Sequence, Step};
use std::str;
use unicode_width::UnicodeWidthChar as _;

/// Most bytes of a character in UTF-8.
const CHARACTER_BYTES_MAX: usize = 4;

/// A line that is being written.
#[derive(Debug)]
pub(super) struct Line {
    cells: Cells,
    sequence: Sequence,
    /// The beginning of a character whose other bytes have not come.
    partial: [u8; CHARACTER_BYTES_MAX],
    partial_bytes: usize,
    /// The line has gone on in another row.
    has_wrapped: bool,
    scratch: String,
}

impl Line {
    pub(super) fn new(columns: usize) -> Line {
        Line {
            cells: Cells::new(columns),
            sequence: Sequence::default(),
            partial: [0; CHARACTER_BYTES_MAX],
            partial_bytes: 0,
            has_wrapped: false,
            scratch: String::new(),
        }
    }

    /// Writes bytes without a line feed; the first stands at `offset`. When a
    /// character does not fit into the row, `wrapped` gets the row's text and
    /// the offset of that character, with which the next row begins.
    pub(super) fn feed(&mut self, bytes: &[u8], offset: u64, mut wrapped: impl FnMut(&str, u64)) {
        let mut at = 0;
        while at < bytes.len() {
            let here = offset + at as u64;
            if !self.sequence.is_ground() {
                match self.sequence.step(bytes[at]) {
                    Step::Edit(edit) => self.cells.edit(edit),
                    Step::NotMine => continue,
                    Step::None => {}
                }
                at += 1;
                continue;
            }
            let run = bytes[at..]
                .iter()
                .take_while(|byte| is_text(**byte))
                .count();
            if run > 0 {
                self.write(&bytes[at..at + run], here, &mut wrapped);
                at += run;
                continue;
            }
            self.end_partial(here, &mut wrapped);
            self.control(bytes[at], here, &mut wrapped);
            at += 1;
        }
    }

    /// The text of the last row of the line, which is then empty again.
    /// `offset` is where the line ends.
    pub(super) fn end(&mut self, offset: u64, mut wrapped: impl FnMut(&str, u64)) -> &str {
        self.end_partial(offset, &mut wrapped);
        self.sequence = Sequence::default();
        match std::mem::take(&mut self.has_wrapped) {
            true => self.cells.take_last(&mut self.scratch),
            false => self.cells.take_trimmed(&mut self.scratch),
        }
        &self.scratch
    }

    fn control(&mut self, byte: u8, offset: u64, wrapped: &mut impl FnMut(&str, u64)) {
        match byte {
            b'\r' => self.cells.edit(Edit::To(0)),
            0x08 => self.cells.edit(Edit::Left(1)),
            b'\t' => {
                if self.cells.is_at_end() {
                    self.make_room(1, offset, wrapped);
                }
                self.cells.tab();
            }
            0x1b => self.sequence = Sequence::begin(),
            _ => {}
        }
    }

    /// Bytes that are text, or should be.
    fn write(&mut self, bytes: &[u8], offset: u64, wrapped: &mut impl FnMut(&str, u64)) {
        let mut bytes = bytes;
        let mut offset = offset;
        while self.partial_bytes > 0 && !bytes.is_empty() {
            let taken = self.complete(bytes, offset, wrapped);
            bytes = &bytes[taken..];
            offset += taken as u64;
        }
        if let Ok(text) = str::from_utf8(bytes) {
            if !text.is_empty() {
                self.write_text(text, offset, wrapped);
            }
            return;
        }
        let held = incomplete_suffix(bytes);
        let (bytes, suffix) = bytes.split_at(bytes.len() - held);
        for chunk in bytes.utf8_chunks() {
            self.write_text(chunk.valid(), offset, wrapped);
            offset += chunk.valid().len() as u64;
            if !chunk.invalid().is_empty() {
                self.print(char::REPLACEMENT_CHARACTER, offset, wrapped);
                offset += chunk.invalid().len() as u64;
            }
        }
        self.partial[..held].copy_from_slice(suffix);
        self.partial_bytes = held;
    }

    /// Adds one byte to the unfinished character, if it goes on with it; gives
    /// how many bytes were used.
    fn complete(
        &mut self,
        bytes: &[u8],
        offset: u64,
        wrapped: &mut impl FnMut(&str, u64),
    ) -> usize {
        let start = offset - self.partial_bytes as u64;
        self.partial[self.partial_bytes] = bytes[0];
        let candidate = &self.partial[..self.partial_bytes + 1];
        match str::from_utf8(candidate) {
            Ok(text) => {
                let character = text.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
                self.partial_bytes = 0;
                self.print(character, start, wrapped);
                1
            }
            Err(error) if error.error_len().is_none() => {
                self.partial_bytes += 1;
                1
            }
            Err(_) => {
                self.partial_bytes = 0;
                self.print(char::REPLACEMENT_CHARACTER, start, wrapped);
                0
            }
        }
    }

    /// A character that will never be finished.
    fn end_partial(&mut self, offset: u64, wrapped: &mut impl FnMut(&str, u64)) {
        if self.partial_bytes > 0 {
            let start = offset - self.partial_bytes as u64;
            self.partial_bytes = 0;
            self.print(char::REPLACEMENT_CHARACTER, start, wrapped);
        }
    }

    fn write_text(&mut self, text: &str, offset: u64, wrapped: &mut impl FnMut(&str, u64)) {
        if text.is_ascii() {
            let mut rest = text.as_bytes();
            while !rest.is_empty() {
                let taken = self.cells.write_ascii(rest);
                rest = &rest[taken..];
                if let Some((first, after)) = rest.split_first() {
                    let at = offset + (text.len() - rest.len()) as u64;
                    self.print(char::from(*first), at, wrapped);
                    rest = after;
                }
            }
            return;
        }
        for (index, character) in text.char_indices() {
            self.print(character, offset + index as u64, wrapped);
        }
    }

    fn print(&mut self, character: char, offset: u64, wrapped: &mut impl FnMut(&str, u64)) {
        // Controls of the upper half have no width, and no place in a text.
        let Some(width) = character.width() else {
            return;
        };
        self.make_room(width, offset, wrapped);
        self.cells.print(character, width);
    }

    /// Begins another row, if the current one has no room for so many columns.
    fn make_room(&mut self, width: usize, offset: u64, wrapped: &mut impl FnMut(&str, u64)) {
        if !self.cells.has_room(width) {
            self.cells.take_full(&mut self.scratch);
            self.has_wrapped = true;
            wrapped(&self.scratch, offset);
        }
    }
}

fn is_text(byte: u8) -> bool {
    byte >= 0x20 && byte != 0x7f
}

/// How many bytes at the end begin a character that is not complete.
pub(crate) fn incomplete_suffix(bytes: &[u8]) -> usize {
    let longest = bytes.len().min(CHARACTER_BYTES_MAX - 1);
    for held in (1..=longest).rev() {
        let suffix = &bytes[bytes.len() - held..];
        if let Err(error) = str::from_utf8(suffix)
            && error.valid_up_to() == 0
            && error.error_len().is_none()
        {
            return held;
        }
    }
    0
}
