//! Whatever programs write, in whatever pieces, the last row of the terminal is
//! ours.
#![no_main]

use glass_vt::fence::Fence;
use glass_vt::screen::{Screen, ScreenSize};
use libfuzzer_sys::fuzz_target;

// The first byte is where the rest is cut.
fuzz_target!(|input: &[u8]| {
    let [cut, bytes @ ..] = input else { return };
    let (columns, rows) = (20, 6);
    let mut fence = Fence::new(ScreenSize { columns, rows });
    let mut out = Vec::new();
    let (before, after) = bytes.split_at(usize::from(*cut).min(bytes.len()));
    fence.show(before, &mut out);
    fence.paint(rows + 1, "BEFORE", &mut out);
    fence.show(after, &mut out);
    // Whatever is unfinished ends.
    fence.show(b"\x18\x1b[?2026l", &mut out);
    assert!(fence.paint(rows + 1, "STATUS", &mut out));
    let mut terminal = Screen::new(ScreenSize {
        columns,
        rows: rows + 1,
    });
    terminal.feed(&out);
    assert_eq!(terminal.text()[usize::from(rows)], "STATUS");
});
