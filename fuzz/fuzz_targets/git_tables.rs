//! The beginning of a reftable: any bytes, which somebody else's repository has.
#![no_main]

use glass_session::{TableHead, table_head};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    match table_head(input) {
        Some(TableHead::Reference(target)) => assert!(target.len() <= input.len()),
        Some(TableHead::Commit(commit)) => assert!(commit.len() <= 2 * input.len()),
        Some(TableHead::Gone) | None => {}
    }
});
