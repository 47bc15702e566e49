//! A saved screen may be any bytes: it is read or not, and what is read can be
//! shown and saved again.
#![no_main]

use glass_vt::screen::SavedScreen;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some(saved) = SavedScreen::parse(input) else {
        return;
    };
    assert_eq!(SavedScreen::parse(&saved.encode()).as_ref(), Some(&saved));
    let mut screen = saved.restore();
    assert!(screen.take_replies().is_empty());
    let drawn = SavedScreen {
        drawing: screen.snapshot(),
        ..saved
    };
    assert_eq!(drawn.restore().text().len(), screen.text().len());
});
