//! Takes out of a stream what the other side says, and leaves what the command
//! wrote.
//!
//! A word is the record separator, a secret of 32 hexadecimal digits, a colon, some
//! text and a newline. The command does not know the secret, so it cannot say
//! anything.
//!
//! Invariant: the bytes between words come out exactly, however the stream was cut,
//! and no more than the beginning of a word is held back.

use memchr::memmem;

/// Longest text of a word, in bytes. What is longer is no word.
pub const WORD_BYTES_MAX: usize = 512;

/// Largest state, in bytes; the kernel gives a process no larger environment.
const STATE_BYTES_MAX: usize = 8 << 20;

/// Begins every word.
const SEPARATOR: u8 = 0x1e;

/// Something that the other side says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// A shell is there.
    Hello,
    /// The command has written its last on this stream.
    End,
    /// The command has ended with this code.
    Exit(i32),
    /// The command was to stop; so many of its processes are left.
    Gone(u32),
    /// The next piece of the command's input can come.
    Got,
    /// The command cannot run there: what is missing.
    Missing(String),
    /// The directory and the variables that the command's shell left.
    State(Vec<u8>),
}

/// A part of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// What the command wrote.
    Bytes(Vec<u8>),
    /// What the other side says.
    Said(Word),
}

/// Splits one stream.
#[derive(Clone, Debug)]
pub struct Sieve {
    needle: Vec<u8>,
    held: Vec<u8>,
    /// Bytes of the state that are still to come.
    wanted: usize,
}

impl Sieve {
    /// Words of this stream begin with this secret.
    pub fn new(secret: &str) -> Sieve {
        let mut needle = vec![SEPARATOR];
        needle.extend_from_slice(secret.as_bytes());
        needle.push(b':');
        Sieve {
            needle,
            held: Vec::new(),
            wanted: 0,
        }
    }

    /// What comes out when these bytes go in.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Piece> {
        self.held.extend_from_slice(bytes);
        let mut pieces = Vec::new();
        loop {
            if self.wanted > 0 {
                if self.held.len() < self.wanted {
                    return pieces;
                }
                let rest = self.held.split_off(self.wanted);
                let state = std::mem::replace(&mut self.held, rest);
                self.wanted = 0;
                pieces.push(Piece::Said(Word::State(state)));
            }
            let Some(at) = memmem::find(&self.held, &self.needle) else {
                let kept = self.unfinished();
                self.release(self.held.len() - kept, &mut pieces);
                return pieces;
            };
            self.release(at, &mut pieces);
            let text = &self.held[self.needle.len()..];
            let text = &text[..text.len().min(WORD_BYTES_MAX + 1)];
            match memchr::memchr(b'\n', text) {
                Some(length) => self.take_word(length, &mut pieces),
                None if text.len() > WORD_BYTES_MAX => {
                    self.release(self.needle.len(), &mut pieces);
                }
                None => return pieces,
            }
        }
    }

    /// What is left when the stream has ended.
    pub fn finish(&mut self) -> Vec<u8> {
        self.wanted = 0;
        std::mem::take(&mut self.held)
    }

    /// How many bytes at the end may be the beginning of a word.
    fn unfinished(&self) -> usize {
        let most = self.held.len().min(self.needle.len() - 1);
        let is_beginning = |count: &usize| self.held.ends_with(&self.needle[..*count]);
        (1..=most).rev().find(is_beginning).unwrap_or(0)
    }

    fn release(&mut self, count: usize, pieces: &mut Vec<Piece>) {
        if count > 0 {
            let rest = self.held.split_off(count);
            let bytes = std::mem::replace(&mut self.held, rest);
            pieces.push(Piece::Bytes(bytes));
        }
    }

    /// Takes the word at the front, whose text has this length. What is no word is
    /// what the command wrote.
    fn take_word(&mut self, length: usize, pieces: &mut Vec<Piece>) {
        let (begin, end) = (self.needle.len(), self.needle.len() + length);
        let text = String::from_utf8_lossy(&self.held[begin..end]).into_owned();
        let (name, rest) = text.split_once(' ').unwrap_or((&text, ""));
        let word = match name {
            "hi" => Some(Word::Hello),
            "end" => Some(Word::End),
            "exit" => rest.parse().ok().map(Word::Exit),
            "gone" => rest.parse().ok().map(Word::Gone),
            "got" => Some(Word::Got),
            "miss" => Some(Word::Missing(rest.to_owned())),
            "state" => match rest.parse().ok() {
                Some(wanted @ 1..=STATE_BYTES_MAX) => {
                    self.wanted = wanted;
                    None
                }
                _ => return self.release(end + 1, pieces),
            },
            _ => return self.release(end + 1, pieces),
        };
        if word.is_none() && self.wanted == 0 {
            return self.release(end + 1, pieces);
        }
        self.held.drain(..=end);
        pieces.extend(word.map(Piece::Said));
    }
}

#[cfg(test)]
mod tests {
    use super::{Piece, Sieve, WORD_BYTES_MAX, Word};
    use proptest::collection::vec;
    use proptest::prelude::*;

    const SECRET: &str = "0123456789abcdef0123456789abcdef";

    fn word(text: &str) -> Vec<u8> {
        format!("\u{1e}{SECRET}:{text}\n").into_bytes()
    }

    /// Everything that comes out, with neighbouring bytes put together.
    fn sift(parts: &[&[u8]]) -> Vec<Piece> {
        let mut sieve = Sieve::new(SECRET);
        let mut pieces: Vec<Piece> = parts.iter().flat_map(|part| sieve.push(part)).collect();
        pieces.push(Piece::Bytes(sieve.finish()));
        let mut whole: Vec<Piece> = Vec::new();
        for piece in pieces {
            match (whole.last_mut(), piece) {
                (Some(Piece::Bytes(before)), Piece::Bytes(bytes)) => before.extend(bytes),
                (_, piece) => whole.push(piece),
            }
        }
        whole.retain(|piece| *piece != Piece::Bytes(Vec::new()));
        whole
    }

    #[test]
    fn words_are_taken_out_and_the_rest_is_left() {
        let stream = [
            b"noise\n".to_vec(),
            word("hi"),
            b"out\x1e\x1eput".to_vec(),
            word("state 5"),
            b"a\0\x1eb\n".to_vec(),
            word("exit 3"),
            b"late".to_vec(),
        ]
        .concat();
        let expected = vec![
            Piece::Bytes(b"noise\n".to_vec()),
            Piece::Said(Word::Hello),
            Piece::Bytes(b"out\x1e\x1eput".to_vec()),
            Piece::Said(Word::State(b"a\0\x1eb\n".to_vec())),
            Piece::Said(Word::Exit(3)),
            Piece::Bytes(b"late".to_vec()),
        ];
        assert_eq!(sift(&[&stream]), expected);
        for at in 0..=stream.len() {
            assert_eq!(
                sift(&[&stream[..at], &stream[at..]]),
                expected,
                "cut at {at}"
            );
        }
    }

    #[test]
    fn without_the_secret_nothing_can_be_said() {
        let forged = b"\x1e00000000000000000000000000000000:exit 0\n\x1e:exit 0\nexit 0\n";
        assert_eq!(sift(&[forged]), [Piece::Bytes(forged.to_vec())]);
    }

    #[test]
    fn what_is_no_word_is_left_as_it_is() {
        let texts = [
            "exit",
            "exit x",
            "exit 99999999999",
            "state 0",
            "state -1",
            "what",
        ];
        for text in texts {
            let bytes = word(text);
            assert_eq!(sift(&[&bytes]), [Piece::Bytes(bytes.clone())], "{text}");
        }
        let long = word(&"x".repeat(WORD_BYTES_MAX + 1));
        assert_eq!(sift(&[&long]), [Piece::Bytes(long.clone())]);
        let large = word("state 99999999");
        assert_eq!(sift(&[&large]), [Piece::Bytes(large.clone())]);
    }

    proptest! {
        #[test]
        fn any_bytes_come_out_as_they_went_in(
            bytes in vec(prop_oneof![any::<u8>(), Just(0x1e), Just(b'0')], 0..400),
            cuts in vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let parts: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
            let expected: Vec<Piece> = match bytes.is_empty() {
                true => Vec::new(),
                false => vec![Piece::Bytes(bytes.clone())],
            };
            prop_assert_eq!(sift(&parts), expected);
        }

        #[test]
        fn a_stream_may_be_cut_anywhere(
            before in vec(any::<u8>(), 0..60),
            code in any::<u8>(),
            size in 1_usize..50,
        ) {
            let mut stream = before.clone();
            stream.extend(word(&format!("exit {code}")));
            let parts: Vec<&[u8]> = stream.chunks(size).collect();
            prop_assert_eq!(sift(&parts), sift(&[&stream]));
        }
    }
}
