//! What a driver, or whoever has its socket, writes: any bytes, in any pieces.
#![no_main]

use glass_session::driver::{REPORT_BYTES_MAX, ReportParser, parse_state};
use libfuzzer_sys::fuzz_target;

// The first byte says how long the pieces are.
fuzz_target!(|input: &[u8]| {
    let Some((size, bytes)) = input.split_first() else {
        return;
    };
    let mut whole = ReportParser::new();
    let at_once = whole.push(bytes);
    assert!(whole.pending_bytes() <= REPORT_BYTES_MAX);

    let mut parser = ReportParser::new();
    let mut reports = Vec::new();
    let mut broken = false;
    for piece in bytes.chunks(usize::from(*size).max(1)) {
        match parser.push(piece) {
            Ok(read) => {
                assert!(!broken, "a broken stream stays broken");
                reports.extend(read);
            }
            Err(_) => broken = true,
        }
        assert!(parser.pending_bytes() <= REPORT_BYTES_MAX);
    }
    assert_eq!(at_once.is_err(), broken);
    if let Ok(at_once) = at_once {
        assert_eq!(at_once, reports, "pieces do not matter");
    }
    if let Some(state) = parse_state(bytes) {
        assert!(state.env.iter().all(|entry| entry.contains(&b'=')));
    }
});
