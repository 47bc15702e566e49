//! A screen takes any bytes at any size, and a snapshot of it draws the same
//! lines.
#![no_main]

use glass_vt::screen::{Screen, ScreenSize};
use libfuzzer_sys::fuzz_target;

// The first bytes are sizes: at the beginning, and after half of the input.
fuzz_target!(|input: &[u8]| {
    let [columns, rows, columns_then, rows_then, bytes @ ..] = input else {
        return;
    };
    let size = |columns: u8, rows: u8| ScreenSize {
        columns: columns.into(),
        rows: rows.into(),
    };
    let mut screen = Screen::new(size(*columns, *rows));
    let (before, after) = bytes.split_at(bytes.len() / 2);
    screen.feed(before);
    screen.resize(size(*columns_then, *rows_then));
    screen.feed(after);
    let mut again = Screen::new(size(*columns_then, *rows_then));
    again.feed(&screen.snapshot());
    assert_eq!(again.text().len(), screen.text().len());
});
