//! Keys, out of the bytes that a terminal sends for them.

/// A key that means something here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
    Enter,
    Tab,
    Escape,
    /// Ctrl+C.
    Interrupt,
    Char(char),
}

/// Longest sequence that is looked at, in bytes.
const SEQUENCE_BYTES_MAX: usize = 16;

/// The keys in what was read at once. A terminal sends the bytes of one key
/// together; what is no key of ours is left out.
pub(super) fn keys(bytes: &[u8]) -> Vec<Key> {
    let mut keys = Vec::new();
    let mut rest = bytes;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        let key = match first {
            0x1b => {
                let (key, taken) = escaped(behind);
                rest = &behind[taken..];
                key
            }
            b'\r' | b'\n' => Some(Key::Enter),
            b'\t' => Some(Key::Tab),
            0x03 => Some(Key::Interrupt),
            byte if byte.is_ascii_graphic() => Some(Key::Char(char::from(*byte))),
            _ => None,
        };
        keys.extend(key);
    }
    keys
}

/// The key behind an escape, and how many bytes it has.
fn escaped(bytes: &[u8]) -> (Option<Key>, usize) {
    if !matches!(bytes.first(), Some(b'[' | b'O')) {
        return (Some(Key::Escape), 0);
    }
    let parameters = &bytes[1..bytes.len().min(SEQUENCE_BYTES_MAX)];
    let Some(end) = parameters
        .iter()
        .position(|byte| (0x40..=0x7e).contains(byte))
    else {
        return (None, 1 + parameters.len());
    };
    let key = match (&parameters[..end], parameters[end]) {
        (b"", b'A') => Some(Key::Up),
        (b"", b'B') => Some(Key::Down),
        (b"", b'H') | (b"1", b'~') => Some(Key::First),
        (b"", b'F') | (b"4", b'~') => Some(Key::Last),
        (b"5", b'~') => Some(Key::PageUp),
        (b"6", b'~') => Some(Key::PageDown),
        _ => None,
    };
    (key, 2 + end)
}

#[cfg(test)]
mod tests {
    use super::{Key, keys};
    use proptest::prelude::*;

    #[test]
    fn a_terminals_bytes_are_keys() {
        assert_eq!(keys(b"\x1b[A\x1bOBq"), [Key::Up, Key::Down, Key::Char('q')]);
        assert_eq!(
            keys(b"\x1b[5~\x1b[6~\r"),
            [Key::PageUp, Key::PageDown, Key::Enter]
        );
        assert_eq!(keys(b"\x1b"), [Key::Escape]);
        assert_eq!(
            keys(b"\x1b\x1b[H\t\x03"),
            [Key::Escape, Key::First, Key::Tab, Key::Interrupt]
        );
        // A paste, a mouse and a key with Shift say nothing that we know.
        assert_eq!(keys(b"\x1b[200~\x1b[<0;1;1M\x1b[1;2A"), []);
        assert_eq!(keys(b"\x1b[1;1"), []);
    }

    proptest! {
        #[test]
        fn whatever_is_typed_is_taken(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assert!(keys(&bytes).len() <= bytes.len());
        }
    }
}
