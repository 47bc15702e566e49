//! What arrives at a keeper, at a daemon and from a reaper: any bytes. Whatever
//! is understood comes back as it was when it is said again.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| glass_spawn::fuzzing::read_any(bytes));
