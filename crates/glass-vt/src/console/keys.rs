//! Bytes of a keyboard as keys.
//!
//! Pieces may be cut anywhere; what is held between two of them is bounded. Inside
//! of a bracketed paste nothing is a key but text: whatever somebody made a person
//! paste cannot press Enter, Ctrl+C or an arrow.

/// Longest run of parameters of a key, in bytes. No key of a longer one is known.
const PARAMETERS_BYTES_MAX: usize = 16;

/// Longest answer of a terminal that is passed over, in bytes.
const STRING_BYTES_MAX: usize = 4 * 1024;

/// Something that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character; a line end only as part of a paste.
    Char(char),
    /// Enter.
    Enter,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Left, or Ctrl+B.
    Left,
    /// Right, or Ctrl+F.
    Right,
    /// Home, or Ctrl+A.
    Home,
    /// End, or Ctrl+E.
    End,
    /// A word to the left: Alt+B, Ctrl+Left, Alt+Left.
    WordLeft,
    /// A word to the right: Alt+F, Ctrl+Right, Alt+Right.
    WordRight,
    /// Up, or Ctrl+P.
    Up,
    /// Down, or Ctrl+N.
    Down,
    /// Ctrl+W: what is before the cursor, up to a blank, goes.
    KillBlank,
    /// Alt+Backspace: the word before the cursor goes.
    KillWordLeft,
    /// Alt+D: the word behind the cursor goes.
    KillWordRight,
    /// Ctrl+U: everything before the cursor goes.
    KillToStart,
    /// Ctrl+K: everything behind the cursor goes.
    KillToEnd,
    /// Ctrl+Y: what went last comes back.
    Yank,
    /// Ctrl+C.
    Interrupt,
    /// Ctrl+D.
    EndOfInput,
    /// Ctrl+L.
    Clear,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    /// After `ESC [`.
    Sequence(Vec<u8>),
    /// In the parameters of a sequence that is too long to be a key.
    Overlong,
    /// After `ESC O`.
    Single,
    /// In a string that a terminal answers with, of so many bytes.
    String(usize),
    /// After an escape in such a string.
    StringEscape,
}

/// Turns bytes into keys.
#[derive(Debug, Default)]
pub struct KeyDecoder {
    state: State,
    is_pasting: bool,
    after_return: bool,
    /// The beginning of a character.
    partial: Vec<u8>,
}

impl KeyDecoder {
    /// Takes bytes, and tells of every key that is complete.
    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Key)) {
        for byte in bytes {
            self.step(*byte, &mut each);
        }
    }

    fn step(&mut self, byte: u8, each: &mut impl FnMut(Key)) {
        match std::mem::take(&mut self.state) {
            State::Ground => self.ground(byte, each),
            State::Escape => self.escape(byte, each),
            State::Sequence(parameters) => self.sequence(parameters, byte, each),
            State::Overlong if (0x20..=0x3f).contains(&byte) => self.state = State::Overlong,
            State::Overlong => {}
            State::Single => tell(self.is_pasting, letter_key(byte), each),
            State::String(bytes) => match byte {
                0x1b => self.state = State::StringEscape,
                // Its end, or a key that was pressed after all.
                0x07 => {}
                0x00..=0x1f => self.ground(byte, each),
                _ if bytes < STRING_BYTES_MAX => self.state = State::String(bytes + 1),
                _ => {}
            },
            State::StringEscape if byte == b'\\' => {}
            State::StringEscape => self.escape(byte, each),
        }
    }

    fn ground(&mut self, byte: u8, each: &mut impl FnMut(Key)) {
        let after_return = std::mem::take(&mut self.after_return);
        match byte {
            0x1b => {
                self.partial.clear();
                self.state = State::Escape;
            }
            0x80.. => self.character(byte, each),
            b'\n' if after_return => {}
            b'\r' | b'\n' if self.is_pasting => {
                self.after_return = byte == b'\r';
                each(Key::Char('\n'));
            }
            b'\t' if self.is_pasting => each(Key::Char('\t')),
            0x20..=0x7e => {
                self.partial.clear();
                each(Key::Char(char::from(byte)));
            }
            _ => {
                self.partial.clear();
                self.after_return = byte == b'\r';
                tell(self.is_pasting, control_key(byte), each);
            }
        }
    }

    /// A byte of a character that has more than one.
    fn character(&mut self, byte: u8, each: &mut impl FnMut(Key)) {
        self.partial.push(byte);
        match std::str::from_utf8(&self.partial) {
            Ok(text) => {
                text.chars().for_each(|c| each(Key::Char(c)));
                self.partial.clear();
            }
            Err(error) if error.error_len().is_none() => {}
            Err(_) => {
                // What was begun is no character; this byte may begin another.
                let is_new = self.partial.len() > 1 && byte >= 0xc0;
                self.partial.clear();
                each(Key::Char(char::REPLACEMENT_CHARACTER));
                if is_new {
                    self.character(byte, each);
                }
            }
        }
    }

    fn escape(&mut self, byte: u8, each: &mut impl FnMut(Key)) {
        match byte {
            b'[' => self.state = State::Sequence(Vec::new()),
            0x1b => self.state = State::Escape,
            _ if self.is_pasting => self.ground(byte, each),
            b'O' => self.state = State::Single,
            b']' | b'P' | b'_' | b'^' | b'X' => self.state = State::String(0),
            b'b' => each(Key::WordLeft),
            b'f' => each(Key::WordRight),
            b'd' => each(Key::KillWordRight),
            0x08 | 0x7f => each(Key::KillWordLeft),
            // With Alt held down, these are still what they are.
            0x03 => each(Key::Interrupt),
            b'\r' => each(Key::Enter),
            _ => {}
        }
    }

    fn sequence(&mut self, mut parameters: Vec<u8>, byte: u8, each: &mut impl FnMut(Key)) {
        match byte {
            0x20..=0x3f if parameters.len() < PARAMETERS_BYTES_MAX => {
                parameters.push(byte);
                self.state = State::Sequence(parameters);
            }
            0x20..=0x3f => self.state = State::Overlong,
            0x1b => self.state = State::Escape,
            b'~' if parameters == b"200" => self.is_pasting = true,
            b'~' if parameters == b"201" => self.is_pasting = false,
            0x40..=0x7e => tell(self.is_pasting, sequence_key(&parameters, byte), each),
            // No part of a sequence: it is abandoned.
            _ => self.ground(byte, each),
        }
    }
}

fn tell(is_pasting: bool, key: Option<Key>, each: &mut impl FnMut(Key)) {
    if let Some(key) = key.filter(|_| !is_pasting) {
        each(key);
    }
}

fn control_key(byte: u8) -> Option<Key> {
    Some(match byte {
        0x01 => Key::Home,
        0x02 => Key::Left,
        0x03 => Key::Interrupt,
        0x04 => Key::EndOfInput,
        0x05 => Key::End,
        0x06 => Key::Right,
        0x08 | 0x7f => Key::Backspace,
        b'\n' | b'\r' => Key::Enter,
        0x0b => Key::KillToEnd,
        0x0c => Key::Clear,
        0x0e => Key::Down,
        0x10 => Key::Up,
        0x15 => Key::KillToStart,
        0x17 => Key::KillBlank,
        0x19 => Key::Yank,
        _ => return None,
    })
}

fn letter_key(byte: u8) -> Option<Key> {
    Some(match byte {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'F' => Key::End,
        b'H' => Key::Home,
        b'M' => Key::Enter,
        _ => return None,
    })
}

fn sequence_key(parameters: &[u8], last: u8) -> Option<Key> {
    match (parameters, last) {
        (b"" | b"1" | b"1;1", _) if last != b'~' => letter_key(last),
        (b"1;3" | b"1;5" | b"5" | b"3", b'C') => Some(Key::WordRight),
        (b"1;3" | b"1;5" | b"5" | b"3", b'D') => Some(Key::WordLeft),
        (b"1" | b"7", b'~') => Some(Key::Home),
        (b"4" | b"8", b'~') => Some(Key::End),
        (b"3", b'~') => Some(Key::Delete),
        (b"3;5" | b"3;3", b'~') => Some(Key::KillWordRight),
        // Shift with an arrow is an arrow.
        (b"1;2", b'A'..=b'H') => letter_key(last),
        _ => None,
    }
}
