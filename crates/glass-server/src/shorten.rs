//! Texts that are too long to be told whole.

/// Leaves so many bytes of a text at most, and no half of a character. Whether
/// something is gone.
pub(crate) fn shorten(text: &mut String, bytes_max: usize) -> bool {
    let is_long = text.len() > bytes_max;
    if is_long {
        text.truncate(text.floor_char_boundary(bytes_max));
        // What was cut off may have megabytes.
        text.shrink_to_fit();
    }
    is_long
}

#[cfg(test)]
mod tests {
    use super::shorten;

    #[test]
    fn a_text_is_cut_between_two_characters_and_only_where_it_is_too_long() {
        for (bytes_max, expected) in [
            (0, ""),
            (1, "a"),
            (2, "a"),
            (3, "aé"),
            (4, "aéb"),
            (9, "aéb"),
        ] {
            let mut text = "aéb".to_owned();
            let is_cut = shorten(&mut text, bytes_max);
            assert_eq!((text.as_str(), is_cut), (expected, expected != "aéb"));
        }
    }
}
