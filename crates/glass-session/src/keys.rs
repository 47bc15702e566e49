//! What a caller types for a command that has no terminal: a pipe carries bytes
//! and nothing else, so the keys that mean something to a terminal are told
//! apart here.

/// Ctrl+C.
const INTERRUPT: u8 = 0x03;

/// Ctrl+D.
const END: u8 = 0x04;

/// A part of what was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'a> {
    /// Bytes that are written as they are; never empty.
    Text(&'a [u8]),
    /// Ctrl+C: the command is interrupted.
    Interrupt,
    /// Ctrl+D: its standard input ends.
    End,
}

impl Key<'_> {
    /// How many typed bytes it stands for.
    pub fn bytes(&self) -> usize {
        match self {
            Key::Text(text) => text.len(),
            Key::Interrupt | Key::End => 1,
        }
    }
}

/// The first key of what was typed; none of nothing.
pub fn first_key(typed: &[u8]) -> Option<Key<'_>> {
    match *typed.first()? {
        INTERRUPT => Some(Key::Interrupt),
        END => Some(Key::End),
        _ => {
            let is_key = |byte: &u8| matches!(*byte, INTERRUPT | END);
            let end = typed.iter().position(is_key).unwrap_or(typed.len());
            Some(Key::Text(&typed[..end]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, first_key};
    use proptest::prelude::*;

    fn keys(mut typed: &[u8]) -> Vec<Key<'_>> {
        let mut keys = Vec::new();
        while let Some(key) = first_key(typed) {
            keys.push(key);
            typed = &typed[key.bytes()..];
        }
        keys
    }

    #[test]
    fn control_keys_part_the_text() {
        let parted = [
            Key::Text(b"a\x1b"),
            Key::Interrupt,
            Key::Text(b"b\n"),
            Key::End,
        ];
        assert_eq!(keys(b"a\x1b\x03b\n\x04"), parted);
        assert_eq!(keys(b""), []);
    }

    proptest! {
        #[test]
        fn nothing_typed_is_lost_or_moved(typed: Vec<u8>) {
            let mut again = Vec::new();
            for key in keys(&typed) {
                match key {
                    Key::Text(text) => {
                        prop_assert!(!text.is_empty());
                        again.extend_from_slice(text);
                    }
                    Key::Interrupt => again.push(3),
                    Key::End => again.push(4),
                }
            }
            prop_assert_eq!(again, typed);
        }
    }
}
