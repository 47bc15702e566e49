//! What a terminal's programs write: any bytes, in any pieces.
#![no_main]

use glass_vt::marker::OSC_PAYLOAD_BYTES_MAX;
use glass_vt::{MarkerScanner, Nonce, Trust};
use libfuzzer_sys::fuzz_target;

const NONCE: &str = "7d1f0c8a-52aa-4f00-9a51-a0b1c2d3e4f5";

// The first byte says how long the pieces are.
fuzz_target!(|input: &[u8]| {
    let Some((size, bytes)) = input.split_first() else {
        return;
    };
    let mut whole = Vec::new();
    MarkerScanner::new(Nonce::new(NONCE)).scan(bytes, |marker| whole.push(marker));
    let mut scanner = MarkerScanner::new(Nonce::new(NONCE));
    let mut markers = Vec::new();
    for piece in bytes.chunks(usize::from(*size).max(1)) {
        scanner.scan(piece, |marker| markers.push(marker));
        assert!(scanner.pending_bytes() <= OSC_PAYLOAD_BYTES_MAX);
    }
    assert_eq!(markers, whole, "pieces do not matter");
    let trusted = markers.iter().any(|marker| marker.trust == Trust::Trusted);
    let has_nonce = bytes
        .windows(NONCE.len())
        .any(|window| window == NONCE.as_bytes());
    assert!(has_nonce || !trusted, "trust needs the nonce");
});
