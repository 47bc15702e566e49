//! Where a stream of bytes can be cut between two characters.

/// How many bytes at the end begin a UTF-8 character that is not complete: at
/// most 3. Bytes that cannot begin one are not held back for anything.
pub fn incomplete_suffix(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let needed = match byte {
            0x80..=0xBF => continue,
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => return 0,
        };
        let suffix = &bytes[bytes.len() - back..];
        let hopeful = match std::str::from_utf8(suffix) {
            Err(error) => error.error_len().is_none(),
            Ok(_) => false,
        };
        return if needed > back && hopeful { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::incomplete_suffix;

    proptest::proptest! {
        /// Cut anywhere and held back, text decodes piece by piece.
        #[test]
        fn text_cut_anywhere_decodes_in_pieces(text in "\\PC{0,40}", at in 0usize..160) {
            let bytes = text.as_bytes();
            let at = at.min(bytes.len());
            let held = incomplete_suffix(&bytes[..at]);
            proptest::prop_assert!(held <= 3);
            let cut = at - held;
            proptest::prop_assert!(std::str::from_utf8(&bytes[..cut]).is_ok());
            proptest::prop_assert!(std::str::from_utf8(&bytes[cut..]).is_ok());
        }

        #[test]
        fn arbitrary_bytes_are_held_back_only_where_they_could_become_text(
            bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..12),
        ) {
            let held = incomplete_suffix(&bytes);
            if held > 0 {
                let error = std::str::from_utf8(&bytes[bytes.len() - held..])
                    .expect_err("a held back suffix is not complete");
                proptest::prop_assert!(error.error_len().is_none());
            }
        }
    }
}
