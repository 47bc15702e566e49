//! What a command prints: any bytes, in any pieces.
#![no_main]

use glass_redact::{Detector, HELD_BYTES_MAX, Known, Redactor, Rules};
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};

static DETECTOR: LazyLock<Arc<Detector>> = LazyLock::new(|| {
    let mut known = Known::new();
    known.add("KNOWN", b"hunter22-secret");
    Arc::new(Detector::new(Rules::builtin(), &known))
});

// The first byte says how long the pieces are.
fuzz_target!(|input: &[u8]| {
    let Some((size, bytes)) = input.split_first() else {
        return;
    };
    let whole = Redactor::redact_all(&DETECTOR, bytes);
    let mut redactor = Redactor::noting(DETECTOR.clone());
    let mut out = Vec::new();
    for piece in bytes.chunks(usize::from(*size).max(1)) {
        redactor.push(piece, &mut out);
        assert!(redactor.held_bytes() <= HELD_BYTES_MAX);
    }
    redactor.finish(&mut out);
    assert_eq!(out, whole, "pieces do not matter");
    let cuts = redactor.take_cuts();
    let mut shown = Vec::new();
    let mut at = 0;
    for piece in bytes.chunks(usize::from(*size).max(1)) {
        DETECTOR.show(&cuts, at, piece, &mut shown);
        at += piece.len() as u64;
    }
    assert_eq!(shown, whole, "what was noted is what was taken out");
});
