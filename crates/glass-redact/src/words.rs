//! Tells words that people write from letters that a generator drew.

/// Pairs of letters that words have, by their first letter.
const PAIRS: [&[u8]; 26] = [
    b"bcdfgiklmnprstuvwy",
    b"abeilorsuy",
    b"acehiklortuy",
    b"abdeiorsuy",
    b"abcdefgilmnpqrstuvwxy",
    b"aefilortu",
    b"aeghilnoru",
    b"aeiortuy",
    b"abcdefglmnoprstvz",
    b"aeosu",
    b"aeinsy",
    b"adefilopstuy",
    b"abeimopuy",
    b"acdegiknostuv",
    b"abcdfgiklmnoprstuvw",
    b"aehiloprstu",
    b"u",
    b"acdegikmnoprstuvy",
    b"acehiklmopqstuwy",
    b"acehiorstuwy",
    b"abcdegilmnprst",
    b"aeio",
    b"aehinor",
    b"aceipt",
    b"aelmnopst",
    b"aeioz",
];

/// Whether most of it is words: `AccessTokenProvider`, `my-app-token`,
/// `db_password2`; but not `FakezOLqOtDNQnKwWk`.
pub(crate) fn is_words(value: &[u8]) -> bool {
    let pieces = pieces(value);
    let letters: usize = pieces.iter().map(|piece| piece.len()).sum();
    let is_crumbled = value.len() >= 8 && letters < 3 * pieces.len();
    if is_crumbled || digit_islands(value) >= 2 || is_mixed(value, pieces.len()) {
        return false;
    }
    let singles = pieces
        .iter()
        .filter(|piece| piece.len() == 1 && piece[0].is_ascii_alphabetic());
    if singles.count() >= 2 {
        return false;
    }
    let (mut good, mut bad) = (0, 0);
    for piece in pieces {
        match piece {
            [digit, ..] if digit.is_ascii_digit() => bad += usize::from(piece.len() > 4) * 4,
            [_] => bad += 1,
            // An acronym says nothing either way.
            _ if piece.len() <= 5 && piece.iter().all(u8::is_ascii_uppercase) => {}
            _ => {
                let pairs = piece.windows(2).filter(|pair| is_pair(pair)).count();
                good += pairs;
                bad += piece.len() - 1 - pairs;
            }
        }
    }
    bad * 7 <= good * 2
}

/// Letters of both cases and digits in one word of many pieces.
fn is_mixed(value: &[u8], pieces: usize) -> bool {
    pieces >= 5
        && value.len() >= 12
        && value.iter().all(u8::is_ascii_alphanumeric)
        && value.iter().any(u8::is_ascii_digit)
}

fn is_pair(pair: &[u8]) -> bool {
    let (first, second) = (pair[0].to_ascii_lowercase(), pair[1].to_ascii_lowercase());
    PAIRS
        .get(usize::from(first.wrapping_sub(b'a')))
        .is_some_and(|followers| followers.contains(&second))
}

/// Runs of digits with letters on both sides.
fn digit_islands(value: &[u8]) -> usize {
    let mut islands = 0;
    let mut start = None;
    for (at, byte) in value.iter().enumerate() {
        match (byte.is_ascii_digit(), start) {
            (true, None) => start = Some(at),
            (false, Some(begin)) => {
                let is_letter = |at: usize| value[at].is_ascii_alphabetic();
                islands += usize::from(begin > 0 && is_letter(begin - 1) && is_letter(at));
                start = None;
            }
            _ => {}
        }
    }
    islands
}

/// Pieces of letters in camel case, and pieces of digits.
fn pieces(value: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for at in 0..=value.len() {
        let is_end = at == value.len() || !value[at].is_ascii_alphanumeric();
        if is_end || (at > start && is_seam(value, at)) {
            if at > start {
                pieces.push(&value[start..at]);
            }
            start = if is_end { at + 1 } else { at };
        }
    }
    pieces
}

/// Whether a new piece begins at `at`, which is neither first nor last.
fn is_seam(value: &[u8], at: usize) -> bool {
    let (before, here) = (value[at - 1], value[at]);
    let ends_capitals = before.is_ascii_uppercase()
        && here.is_ascii_uppercase()
        && value.get(at + 1).is_some_and(u8::is_ascii_lowercase);
    before.is_ascii_digit() != here.is_ascii_digit()
        || (before.is_ascii_lowercase() && here.is_ascii_uppercase())
        || ends_capitals
}

#[cfg(test)]
mod tests {
    use super::is_words;

    #[test]
    fn names_are_words_and_random_letters_are_not() {
        for words in [
            "AccessTokenProvider",
            "getUserByIdAndName",
            "my-app-token",
            "db_password2",
            "HTTPServerError",
            "process.env.API_KEY",
            "user/settings",
            "String",
            "TokenKind::Ident",
            "correct-horse-battery",
            "production2024",
            "ghcr.io/org/image",
        ] {
            assert!(is_words(words.as_bytes()), "{words}");
        }
        for random in [
            "FakezOLqOtDNQnKwWk",
            "FakeGZXbLg9bAnkm7O",
            "Fakex9BUMOdgOmJ6wN",
            "ac20f5a61a3a72bd752f",
            "oy2fakeeot3f3sro871whhz8a8z5",
            "cioFAKEHoLtkzrrmWDUmysuRDKGLzkmeM1H",
        ] {
            assert!(!is_words(random.as_bytes()), "{random}");
        }
    }
}
