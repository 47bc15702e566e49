//! What is shown to somebody who only watches: no markers, and nothing that is
//! left around a gap becomes a sequence.
#![no_main]

use glass_vt::strip::{HELD_BYTES_MAX, Strip, Stripped};
use glass_vt::{MarkerScanner, Protocol};
use libfuzzer_sys::fuzz_target;

fn strip(stripped: Stripped, bytes: &[u8], size: usize) -> Vec<u8> {
    let mut strip = Strip::new(stripped);
    let mut out = Vec::new();
    for piece in bytes.chunks(size) {
        strip.push(piece, |kept| out.extend_from_slice(kept));
        assert!(strip.pending_bytes() <= HELD_BYTES_MAX);
    }
    out
}

// The first byte says how long the pieces are.
fuzz_target!(|input: &[u8]| {
    let Some((size, bytes)) = input.split_first() else {
        return;
    };
    for stripped in [
        Stripped::MarkersAndQueries,
        Stripped::ClipboardAndQueries,
        Stripped::EffectsAndQueries,
    ] {
        let mut once = strip(stripped, bytes, bytes.len().max(1));
        let pieces = strip(stripped, bytes, usize::from(*size).max(1));
        assert_eq!(pieces, once, "pieces do not matter");
        // So that nothing is held back for what may follow.
        once.push(b'x');
        let again = strip(stripped, &once, once.len());
        assert_eq!(again, once, "what passed passes again");
        if stripped == Stripped::MarkersAndQueries {
            MarkerScanner::new(None).scan(&once, |marker| {
                assert!(!matches!(
                    marker.protocol,
                    Protocol::Osc133 | Protocol::Osc633
                ));
            });
        }
    }
});
