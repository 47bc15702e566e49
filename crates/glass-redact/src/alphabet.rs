//! Which bytes a token is made of.

use serde::Deserialize;

/// Which bytes a token is made of; the first other byte ends it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Alphabet {
    /// Letters and digits.
    Alnum,
    /// Letters, digits and `_`.
    Word,
    /// Letters, digits, `_` and `-`.
    #[default]
    Url,
    /// Letters, digits and `_-.`.
    Dotted,
    /// Letters, digits and `+/=_-`.
    Base64,
    /// Whatever is no space, no quote and no bracket.
    Text,
    /// All of the line.
    Line,
}

impl Alphabet {
    /// Whether the byte may be part of the token.
    #[inline]
    pub(crate) fn has(self, byte: u8) -> bool {
        let is_alnum = byte.is_ascii_alphanumeric();
        match self {
            Alphabet::Alnum => is_alnum,
            Alphabet::Word => is_alnum || byte == b'_',
            Alphabet::Url => is_alnum || matches!(byte, b'_' | b'-'),
            Alphabet::Dotted => is_alnum || matches!(byte, b'_' | b'-' | b'.'),
            Alphabet::Base64 => is_alnum || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'='),
            Alphabet::Text => byte > b' ' && byte != 0x7f && !b"\"'`<>()[]{}".contains(&byte),
            Alphabet::Line => (byte >= b' ' && byte != 0x7f) || byte == b'\t',
        }
    }
}
