//! Requests as JSON: every one is translated or refused, and what was translated
//! is what the contract can carry.
#![no_main]

use glass_proto::Method;
use libfuzzer_sys::fuzz_target;

const METHODS: [&str; 6] = [
    "Run",
    "CreateSession",
    "Cancel",
    "ReadOutput",
    "GetSessionHistory",
    "ResolveApproval",
];

// The first byte chooses the method.
fuzz_target!(|input: &[u8]| {
    let Some((choice, json)) = input.split_first() else {
        return;
    };
    let name = METHODS[usize::from(*choice) % METHODS.len()];
    let method = Method::unary(name).expect("the contract has it");
    if let Ok(request) = method.request(json) {
        assert!(request.len() <= json.len() * 4 + 64, "it does not grow");
    }
    // The same bytes as an answer, which only has to be looked at.
    let _ = method.answer(json);
});
