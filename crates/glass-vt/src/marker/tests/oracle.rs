//! The parser of a terminal sees the same sequences.

use super::{markers_of, meaningful_bytes};
use proptest::prelude::*;

/// Collects payloads. The parser reports one as soon as an ESC ends it; ours
/// waits for the `\`, so that one which was aborted is no marker.
#[derive(Default)]
struct Oracle {
    payloads: Vec<Vec<u8>>,
    unconfirmed: Option<Vec<u8>>,
}

impl vte::Perform for Oracle {
    fn osc_dispatch(&mut self, parameters: &[&[u8]], bell_terminated: bool) {
        let payload = parameters.join(&b';');
        if bell_terminated {
            self.payloads.push(payload);
        } else {
            self.unconfirmed = Some(payload);
        }
    }
}

fn oracle(stream: &[u8]) -> Vec<Vec<u8>> {
    let mut parser = vte::Parser::new();
    let mut oracle = Oracle::default();
    for byte in stream {
        let confirmed = oracle.unconfirmed.take().filter(|_| *byte == b'\\');
        oracle.payloads.extend(confirmed);
        // CAN and SUB abort, which this parser reports like an end.
        let aborts = matches!(byte, 0x18 | 0x1a);
        parser.advance(&mut oracle, &[*byte]);
        if aborts {
            oracle.unconfirmed = None;
        }
    }
    oracle.payloads
}

proptest! {
    #[test]
    fn a_terminals_parser_sees_the_same_markers(stream in meaningful_bytes()) {
        // Terminals leave controls out of a payload; we keep them, so that they
        // make it no marker. The oracle counts at most 16 fields.
        let payloads = oracle(&stream);
        prop_assume!(payloads.iter().all(|p| p.iter().filter(|b| **b == b';').count() < 14));
        let ours: Vec<(u64, u64)> =
            markers_of([&stream[..]]).iter().map(|m| (m.offset, m.bytes)).collect();
        let span = |(offset, bytes): (u64, u64)| {
            let offset = usize::try_from(offset).expect("small");
            &stream[offset..][..usize::try_from(bytes).expect("small")]
        };
        let plain = |bytes: &[u8]| bytes.iter().all(|byte| *byte >= 0x20);
        let body = |span: &[u8]| {
            let end = if span.ends_with(b"\x07") { 1 } else { 2 };
            let begin = span.iter().position(|byte| *byte == b']').expect("an OSC") + 1;
            span[begin..span.len() - end].to_vec()
        };
        let ours: Vec<Vec<u8>> = ours
            .into_iter()
            .map(|place| body(span(place)))
            .filter(|payload| plain(payload))
            .collect();
        // Every one of ours is one of the terminal's, in order.
        let mut theirs = payloads.iter();
        for payload in &ours {
            prop_assert!(theirs.any(|seen| seen == payload), "{payload:?} of {payloads:?}");
        }
        // And what the terminal saw and is a marker by itself, we saw.
        let markers_of_theirs = payloads
            .iter()
            .filter(|payload| {
                let alone = [b"\x1b]", &payload[..], b"\x07"].concat();
                !markers_of([&alone[..]]).is_empty()
            })
            .count();
        let with_controls = markers_of([&stream[..]]).len() - ours.len();
        prop_assert!(markers_of_theirs >= ours.len());
        if !stream.iter().any(|byte| *byte < 0x20 && !matches!(byte, 0x07 | 0x18 | 0x1a | 0x1b)) {
            prop_assert_eq!(markers_of_theirs, ours.len() + with_controls);
        }
    }
}
