//! How lists and records become one column: every text and number after the
//! other, lengths first. There are no names and no tags; the schema's version
//! says what is where.
//!
//! Invariant: decoding reads what encoding wrote, and nothing else panics.

/// Builds a record.
#[derive(Default)]
pub(crate) struct Encoder(Vec<u8>);

impl Encoder {
    pub(crate) fn number(&mut self, mut value: u64) -> &mut Encoder {
        // Seven bits at a time, the lowest first; a set top bit says "more".
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
        self
    }

    pub(crate) fn bytes(&mut self, value: &[u8]) -> &mut Encoder {
        self.number(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    pub(crate) fn text(&mut self, value: &str) -> &mut Encoder {
        self.bytes(value.as_bytes())
    }

    pub(crate) fn texts(&mut self, values: &[String]) -> &mut Encoder {
        self.number(values.len() as u64);
        for value in values {
            self.text(value);
        }
        self
    }

    pub(crate) fn optional_text(&mut self, value: Option<&str>) -> &mut Encoder {
        match value {
            None => self.number(0),
            Some(text) => self.number(1).text(text),
        }
    }

    /// Signed numbers keep their bits.
    pub(crate) fn optional_code(&mut self, value: Option<i32>) -> &mut Encoder {
        match value {
            None => self.number(0),
            Some(code) => self.number(1).number(u64::from(code.cast_unsigned())),
        }
    }

    pub(crate) fn optional_flag(&mut self, value: Option<bool>) -> &mut Encoder {
        self.number(match value {
            None => 0,
            Some(false) => 1,
            Some(true) => 2,
        })
    }

    pub(crate) fn flag(&mut self, value: bool) -> &mut Encoder {
        self.number(u64::from(value))
    }

    pub(crate) fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }
}

/// Reads a record back. `None` means that it is not one.
pub(crate) struct Decoder<'a>(&'a [u8]);

impl<'a> Decoder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Decoder<'a> {
        Decoder(bytes)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..u64::BITS).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (value, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(value)
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    pub(crate) fn texts(&mut self) -> Option<Vec<String>> {
        let count = self.number()?;
        // No capacity is reserved: a damaged count must not make us allocate.
        (0..count).map(|_| self.text()).collect()
    }

    pub(crate) fn optional_text(&mut self) -> Option<Option<String>> {
        match self.number()? {
            0 => Some(None),
            1 => self.text().map(Some),
            _ => None,
        }
    }

    pub(crate) fn optional_code(&mut self) -> Option<Option<i32>> {
        match self.number()? {
            0 => Some(None),
            1 => u32::try_from(self.number()?)
                .ok()
                .map(|code| Some(code.cast_signed())),
            _ => None,
        }
    }

    pub(crate) fn optional_flag(&mut self) -> Option<Option<bool>> {
        match self.number()? {
            0 => Some(None),
            1 => Some(Some(false)),
            2 => Some(Some(true)),
            _ => None,
        }
    }

    pub(crate) fn flag(&mut self) -> Option<bool> {
        match self.number()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// The record must be used up.
    pub(crate) fn finish(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Decoder, Encoder};

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(
            number: u64, code: Option<i32>, flag: Option<bool>, text: String, list: Vec<String>,
        ) {
            let mut encoder = Encoder::default();
            encoder.number(number).optional_code(code).optional_flag(flag);
            let bytes = encoder.text(&text).texts(&list).finish();
            let mut decoder = Decoder::new(&bytes);
            prop_assert_eq!(decoder.number(), Some(number));
            prop_assert_eq!(decoder.optional_code(), Some(code));
            prop_assert_eq!(decoder.optional_flag(), Some(flag));
            prop_assert_eq!(decoder.text(), Some(text));
            prop_assert_eq!(decoder.texts(), Some(list));
            prop_assert_eq!(decoder.finish(), Some(()));
        }

        #[test]
        fn noise_is_refused_and_never_panics(bytes: Vec<u8>) {
            let mut decoder = Decoder::new(&bytes);
            let _ = decoder.texts();
            let _ = decoder.optional_text();
            let _ = decoder.number();
            let _ = decoder.finish();
        }
    }
}
