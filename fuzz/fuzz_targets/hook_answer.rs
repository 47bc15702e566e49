//! Answers of hooks: any bytes.
#![no_main]

use glass_hooks::{MESSAGE_BYTES_MAX, parse_answer};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|printed: &[u8]| {
    match parse_answer(printed) {
        Ok(answer) => {
            assert!(answer.user_message.len() <= MESSAGE_BYTES_MAX);
            assert!(answer.agent_message.len() <= MESSAGE_BYTES_MAX);
            // Nothing is an answer but one JSON object that names a permission.
            let text = std::str::from_utf8(printed)
                .expect("JSON is UTF-8")
                .trim_ascii();
            assert!(text.starts_with('{') && text.ends_with('}'));
            assert!(text.contains("\"permission\"") || text.contains("\\u"));
        }
        Err(error) => assert!(!error.to_string().contains('\u{1b}')),
    }
});
