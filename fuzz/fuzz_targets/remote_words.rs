//! What another host says leaves its stream; every other byte passes, and where
//! pieces end changes nothing.
#![no_main]

use glass_remote::{Address, End, Piece, Sieve, Word};
use libfuzzer_sys::fuzz_target;

const SECRET: &str = "0123456789abcdef0123456789abcdef";

fn sift(bytes: &[u8], size: usize) -> (Vec<u8>, Vec<Word>) {
    let mut sieve = Sieve::new(SECRET);
    let (mut passed, mut words) = (Vec::new(), Vec::new());
    for part in bytes.chunks(size) {
        for piece in sieve.push(part) {
            match piece {
                Piece::Bytes(bytes) => passed.extend(bytes),
                Piece::Said(word) => words.push(word),
            }
        }
    }
    passed.extend(sieve.finish());
    (passed, words)
}

// The first byte says how long the pieces are.
fuzz_target!(|input: &[u8]| {
    let Some((size, bytes)) = input.split_first() else {
        return;
    };
    let whole = sift(bytes, bytes.len().max(1));
    let pieces = sift(bytes, usize::from(*size).max(1));
    assert_eq!(pieces, whole, "pieces do not matter");
    let text = String::from_utf8_lossy(bytes);
    if !text.contains(SECRET) {
        assert_eq!(whole, (bytes.to_vec(), Vec::new()), "nothing was said");
    }
    if let Ok(address) = text.parse::<Address>() {
        assert!(!address.host().starts_with('-'), "it is no option");
    }
    if let Some(end) = End::decode(&text) {
        assert_eq!(End::decode(&end.encode()), Some(end));
    }
});
