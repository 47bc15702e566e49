//! What is typed for a background command: any bytes.
#![no_main]

use glass_session::{Key, first_key};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|typed: &[u8]| {
    let mut rest = typed;
    while let Some(key) = first_key(rest) {
        assert!(key.bytes() > 0, "no key would be for ever");
        if let Key::Text(text) = key {
            assert!(!text.iter().any(|byte| matches!(byte, 3 | 4)));
            assert!(rest.starts_with(text));
        }
        rest = &rest[key.bytes()..];
    }
    assert!(rest.is_empty());
});
