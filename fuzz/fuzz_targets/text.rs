//! Output of any command, under any budget: never too long, every byte
//! accounted for, and stable.
#![no_main]

use glass_vt::text::{Budget, Compressor, Progress, compress};
use libfuzzer_sys::fuzz_target;

// The first bytes are the budget and how long the pieces are.
fuzz_target!(|input: &[u8]| {
    let [lines, chars, chars_high, size, bytes @ ..] = input else {
        return;
    };
    let budget = Budget {
        lines_max: usize::from(*lines),
        chars_max: usize::from(*chars) + 256 * usize::from(*chars_high),
        progress: match size % 2 {
            0 => Progress::Compressed,
            _ => Progress::Shown,
        },
        ..Budget::default()
    };
    let page = compress(bytes, &budget);
    assert!(page.text.chars().count() <= budget.chars_max);
    assert!(page.text.lines().count() <= budget.lines_max);
    assert_eq!(page.end, bytes.len() as u64);
    let mut last = 0;
    for elision in &page.elisions {
        assert!(elision.offset >= last && elision.bytes > 0);
        assert!(elision.at <= page.text.len());
        last = elision.offset + elision.bytes;
    }
    assert!(last <= page.end);

    let mut compressor = Compressor::new(&budget, 0);
    for piece in bytes.chunks(usize::from(*size).max(1)) {
        compressor.push(piece);
    }
    assert_eq!(compressor.finish(), page, "pieces do not matter");
    let again = compress(page.text.as_bytes(), &budget);
    assert_eq!(again.text, page.text, "once is enough");
});
