//! What the scanner sees, whole and in pieces.

mod meaning;
mod oracle;

use super::{Body, Marker, MarkerScanner, Nonce, OSC_PAYLOAD_BYTES_MAX, Trust};
use crate::corpus;
use proptest::prelude::*;

pub(super) const NONCE: &str = "7d1f0c8a-52aa-4f00-9a51-a0b1c2d3e4f5";

pub(super) fn scanner() -> MarkerScanner {
    MarkerScanner::new(Nonce::new(NONCE))
}

/// The markers of a stream that arrives in these pieces.
pub(super) fn markers_of<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Marker> {
    let mut scanner = scanner();
    let mut markers = Vec::new();
    for piece in pieces {
        scanner.scan(piece, |marker| markers.push(marker));
        assert!(scanner.pending_bytes() <= OSC_PAYLOAD_BYTES_MAX);
    }
    markers
}

/// Markers that would be believed.
fn believed(markers: &[Marker]) -> Vec<&Body> {
    let trusted = markers
        .iter()
        .filter(|marker| marker.trust == Trust::Trusted);
    trusted.map(|marker| &marker.body).collect()
}

/// Offsets at which to cut: all of a short stream, the ends of a long one.
fn cuts(length: usize) -> Vec<usize> {
    const ALL_BYTES_MAX: usize = 2_000;
    let near_an_end = |at: &usize| *at < 40 || length - *at < 120 || at.is_multiple_of(9_973);
    (0..=length)
        .filter(|at| length <= ALL_BYTES_MAX || near_an_end(at))
        .collect()
}

#[test]
fn nothing_that_a_program_prints_is_believed_and_the_real_marker_is() {
    let real = format!("\x1b]633;D;7;{NONCE}\x07");
    for case in corpus::cases() {
        let stream = [&case.stream[..], real.as_bytes()].concat();
        let whole = markers_of([&stream[..]]);
        for at in cuts(stream.len()) {
            let (before, after) = stream.split_at(at);
            let markers = markers_of([before, after]);
            assert_eq!(
                believed(&markers),
                [&Body::Finished { code: Some(7) }],
                "{} at {at}",
                case.id
            );
            assert_eq!(markers, whole, "{} at {at}", case.id);
        }
    }
}

#[test]
fn markers_know_their_place() {
    let stream = b"ab\x1b]633;A\x07c\x1b]133;C\x1b\\d\x1b]633;\x1b]633;B\x07";
    for size in 1..=stream.len() {
        let markers = markers_of(stream.chunks(size));
        let places: Vec<(u64, u64)> = markers.iter().map(|m| (m.offset, m.bytes)).collect();
        assert_eq!(places, [(2, 8), (11, 9), (27, 8)], "{size}");
    }
}

#[test]
fn controls_between_escape_and_bracket_are_executed_by_a_terminal_and_change_nothing() {
    for stream in [&b"\x1b\n]633;A\x07"[..], b"\x1b\x00\x7f]633;A\x07"] {
        for size in 1..=stream.len() {
            let markers = markers_of(stream.chunks(size));
            assert_eq!(markers.len(), 1, "{stream:?} in pieces of {size}");
            assert_eq!(markers[0].offset, 0);
        }
    }
    for stream in [
        &b"\x1b(]633;A\x07"[..],
        b"\x1b\x18]633;A\x07",
        b"\x1b ]633;A\x07",
    ] {
        assert_eq!(markers_of([stream]), [], "{stream:?}");
    }
}

#[test]
fn a_payload_as_long_as_the_limit_is_read_and_a_longer_one_dropped() {
    let frame = "633;E;".len();
    for (length, expected) in [
        (OSC_PAYLOAD_BYTES_MAX - frame, 1),
        (OSC_PAYLOAD_BYTES_MAX - frame + 1, 0),
    ] {
        let stream = format!("\x1b]633;E;{}\x07\x1b]633;A\x07", "x".repeat(length));
        for size in [1, 4096, stream.len()] {
            let markers = markers_of(stream.as_bytes().chunks(size));
            assert_eq!(markers.len(), expected + 1, "{length} in pieces of {size}");
        }
    }
}

#[test]
fn memory_is_given_back_after_a_long_payload() {
    let mut scanner = scanner();
    let mut found = 0;
    let begin = format!("\x1b]633;E;{}", "x".repeat(50_000));
    scanner.scan(begin.as_bytes(), |_| found += 1);
    assert_eq!(scanner.pending_bytes(), begin.len() - 2);
    scanner.scan(b"\x07", |_| found += 1);
    assert_eq!((found, scanner.pending_bytes()), (1, 0));
    scanner.scan(b"\x1b]52;c;", |_| found += 1);
    assert_eq!(scanner.pending_bytes(), 0, "a clipboard is not kept");
}

#[test]
fn a_nonce_is_long_and_plain_and_never_shown() {
    assert!(Nonce::new("").is_none());
    assert!(Nonce::new("0123456789abcde").is_none());
    assert!(Nonce::new("0123456789abcdef").is_some());
    assert!(Nonce::new("0123456789abcdef;").is_none());
    assert!(Nonce::new(&"a".repeat(Nonce::CHARS_MAX + 1)).is_none());
    assert!(!format!("{:?}", scanner()).contains("7d1f"));
}

/// Bytes that have a meaning somewhere, so that random streams have some too.
pub(super) fn meaningful_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"\x1b]633;".to_vec()),
        Just(b"\x1b]133;".to_vec()),
        Just(b"\x1b]7;file://h/".to_vec()),
        Just(b"\x1b]1337;CurrentDir=".to_vec()),
        Just(format!(";{NONCE}").into_bytes()),
        Just(b"\x1b\\".to_vec()),
        Just(b"\x1b[0m".to_vec()),
        Just(b"\x1bPq".to_vec()),
        Just(b"\x07".to_vec()),
        Just("Ü✜😀".as_bytes().to_vec()),
        prop::sample::select(&b"ABCDEP;=\x1b\x07\x18\x1a\x00\n\r\x9c\xc3\x9d\x7f](_^X09"[..])
            .prop_map(|byte| vec![byte]),
        any::<u8>().prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn where_a_stream_is_cut_changes_nothing(
        stream in meaningful_bytes(),
        size in 1usize..9,
        at in 0usize..400,
    ) {
        let whole = markers_of([&stream[..]]);
        prop_assert_eq!(&markers_of(stream.chunks(size)), &whole);
        let (before, after) = stream.split_at(at.min(stream.len()));
        prop_assert_eq!(&markers_of([before, after]), &whole);
    }

    #[test]
    fn markers_are_in_order_and_are_what_stands_there(stream in meaningful_bytes()) {
        let mut last = 0;
        for marker in markers_of([&stream[..]]) {
            prop_assert!(marker.offset >= last);
            last = marker.offset + marker.bytes;
            let span = &stream[usize::try_from(marker.offset).expect("small")..];
            let span = &span[..usize::try_from(marker.bytes).expect("small")];
            prop_assert_eq!(span[0], 0x1b);
            prop_assert!(span.ends_with(b"\x07") || span.ends_with(b"\x1b\\"));
            prop_assert_eq!(markers_of([span]).len(), 1);
        }
    }
}
