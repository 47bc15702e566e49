//! What a shell says to us alone leaves a terminal's output; every other byte
//! passes, and where pieces end changes nothing.
#![no_main]

use glass_vt::sieve::{Sieve, Sifted};
use glass_vt::{Marker, Nonce};
use libfuzzer_sys::fuzz_target;

const NONCE: &str = "0123456789abcdef";

fn sift(bytes: &[u8], size: usize) -> (Vec<u8>, Vec<Marker>) {
    let mut sieve = Sieve::new(Nonce::new(NONCE).expect("long enough"));
    let (mut passed, mut markers) = (Vec::new(), Vec::new());
    for piece in bytes.chunks(size) {
        for part in sieve.push(piece) {
            match part {
                Sifted::Piece(range) => passed.extend_from_slice(&piece[range]),
                Sifted::Bytes(held) => passed.extend(held),
                Sifted::Marker(marker) => markers.push(marker),
            }
        }
    }
    passed.extend(sieve.finish());
    (passed, markers)
}

// The first byte says how long the pieces are.
fuzz_target!(|input: &[u8]| {
    let Some((size, bytes)) = input.split_first() else {
        return;
    };
    let whole = sift(bytes, bytes.len().max(1));
    let pieces = sift(bytes, usize::from(*size).max(1));
    assert_eq!(pieces, whole, "pieces do not matter");
    if whole.1.is_empty() {
        assert_eq!(whole.0, bytes, "without a marker nothing changes");
    }
});
