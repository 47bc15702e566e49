//! The escaping of values in OSC 633, and the percent-encoding of OSC 7.

/// Appends `value` as OSC 633 carries it: `\` as `\\`, `;` as `\x3b`, and every
/// byte below 0x20 as `\x` with two lower-case hexadecimal digits. The result
/// holds no byte that could end the sequence or separate its fields.
pub fn escape_633(value: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for &byte in value {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b';' | 0x00..=0x1f => {
                out.extend_from_slice(b"\\x");
                out.push(DIGITS[usize::from(byte >> 4)]);
                out.push(DIGITS[usize::from(byte & 0x0f)]);
            }
            _ => out.push(byte),
        }
    }
}

/// What [`escape_633`] was given. A backslash that begins neither form stands
/// for itself, as other readers of the protocol have it.
pub fn unescape_633(escaped: &[u8]) -> Vec<u8> {
    let mut value = Vec::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after) {
            (b'\\', [b'\\', tail @ ..]) => {
                value.push(b'\\');
                rest = tail;
            }
            (b'\\', [b'x', high, low, tail @ ..]) if is_hex(*high) && is_hex(*low) => {
                value.push(hex(*high) << 4 | hex(*low));
                rest = tail;
            }
            _ => value.push(byte),
        }
    }
    value
}

/// Undoes percent-encoding. A `%` without two hexadecimal digits stands for
/// itself: shells send paths that nobody has encoded.
pub fn percent_decode(encoded: &[u8]) -> Vec<u8> {
    let mut value = Vec::with_capacity(encoded.len());
    let mut rest = encoded;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after) {
            (b'%', [high, low, tail @ ..]) if is_hex(*high) && is_hex(*low) => {
                value.push(hex(*high) << 4 | hex(*low));
                rest = tail;
            }
            _ => value.push(byte),
        }
    }
    value
}

fn is_hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

/// The value of a hexadecimal digit.
fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        b'A'..=b'F' => digit - b'A' + 10,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{escape_633, percent_decode, unescape_633};
    use proptest::prelude::*;

    fn escaped(value: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        escape_633(value, &mut out);
        out
    }

    #[test]
    fn values_are_escaped_as_the_protocol_says() {
        assert_eq!(
            escaped(b"a;b\\c\n\x00\x1f\x7f"),
            b"a\\x3bb\\\\c\\x0a\\x00\\x1f\x7f"
        );
        assert_eq!(escaped("Ü ✜".as_bytes()), "Ü ✜".as_bytes());
    }

    #[test]
    fn half_an_escape_stands_for_itself() {
        for text in ["\\", "\\x", "\\x3", "\\xg0", "\\n", "a\\"] {
            assert_eq!(unescape_633(text.as_bytes()), text.as_bytes(), "{text}");
        }
        assert_eq!(unescape_633(b"\\x3B\\\\x3b"), b";\\x3b");
    }

    #[test]
    fn percent_signs_that_encode_nothing_stay() {
        assert_eq!(percent_decode(b"/a%20b%2f100%/%zz%4"), b"/a b/100%/%zz%4");
    }

    proptest! {
        #[test]
        fn whatever_is_escaped_comes_back(value in prop::collection::vec(any::<u8>(), 0..200)) {
            let escaped = escaped(&value);
            prop_assert!(!escaped.iter().any(|byte| *byte < 0x20 || *byte == b';'));
            prop_assert_eq!(unescape_633(&escaped), value);
        }

        #[test]
        fn decoding_never_grows(value in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(unescape_633(&value).len() <= value.len());
            prop_assert!(percent_decode(&value).len() <= value.len());
        }
    }
}
