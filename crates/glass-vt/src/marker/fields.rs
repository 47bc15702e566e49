//! Fields of a payload: `;` between them, `key=value` within.

/// Cuts a field off: what stands before the first `;`, and what after it.
pub(super) fn cut(payload: &[u8]) -> (&[u8], Option<&[u8]>) {
    match payload.iter().position(|byte| *byte == b';') {
        Some(at) => (&payload[..at], Some(&payload[at + 1..])),
        None => (payload, None),
    }
}

/// `key=value`, or nothing.
pub(super) fn assignment(field: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = field.iter().position(|byte| *byte == b'=')?;
    Some((&field[..at], &field[at + 1..]))
}

/// The value of `key` among fields of `key=value`.
pub(super) fn value_of<'a>(fields: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let mut fields = fields.split(|byte| *byte == b';').filter_map(assignment);
    fields.find_map(|(name, value)| (name == key.as_bytes()).then_some(value))
}

/// A decimal exit code. Nothing is guessed: a sign other than `-`, a space or
/// an overflow is no code.
pub(super) fn code(field: &[u8]) -> Option<i32> {
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// Text for people and records; bytes that are no UTF-8 become U+FFFD.
pub(super) fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{code, cut, value_of};

    #[test]
    fn a_code_is_a_decimal_number_and_nothing_else() {
        assert_eq!(code(b"0"), Some(0));
        assert_eq!(code(b"130"), Some(130));
        assert_eq!(code(b"-1073741510"), Some(-1_073_741_510));
        for bad in ["", "-", "+1", " 1", "1 ", "0x1", "99999999999", "٣"] {
            assert_eq!(code(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn fields_are_cut_at_semicolons() {
        assert_eq!(cut(b"A"), (&b"A"[..], None));
        assert_eq!(cut(b"A;"), (&b"A"[..], Some(&b""[..])));
        assert_eq!(cut(b"A;b;c"), (&b"A"[..], Some(&b"b;c"[..])));
        assert_eq!(value_of(b"a=1;b=2=3", "b"), Some(&b"2=3"[..]));
        assert_eq!(value_of(b"a=1;b", "b"), None);
    }
}
