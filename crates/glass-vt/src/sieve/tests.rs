use super::{HELD_BYTES_MAX, Sieve, Sifted};
use crate::marker::{Body, Nonce};
use proptest::prelude::*;

const NONCE: &str = "0123456789abcdef";

/// What passes, and what the markers say.
fn sift<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<u8>, Vec<Body>) {
    let mut sieve = Sieve::new(Nonce::new(NONCE).expect("long enough"));
    let (mut bytes, mut bodies) = (Vec::new(), Vec::new());
    for piece in pieces {
        for part in sieve.push(piece) {
            match part {
                Sifted::Piece(range) => bytes.extend_from_slice(&piece[range]),
                Sifted::Bytes(held) => bytes.extend(held),
                Sifted::Marker(marker) => bodies.push(marker.body),
            }
        }
        assert!(sieve.pending_bytes() <= HELD_BYTES_MAX);
    }
    bytes.extend(sieve.finish());
    (bytes, bodies)
}

fn check(stream: &str, expected: &str, bodies: &[Body]) {
    let stream = stream.replace('N', NONCE);
    for size in 1..=stream.len() {
        let (passed, found) = sift(stream.as_bytes().chunks(size));
        let passed = String::from_utf8_lossy(&passed).into_owned();
        assert_eq!(passed, expected.replace('N', NONCE), "in pieces of {size}");
        assert_eq!(found, bodies, "in pieces of {size}");
    }
}

#[test]
fn our_own_markers_are_told_and_taken_out() {
    let finished = Body::Finished { code: Some(7) };
    check(
        "a\x1b]633;D;7;N\x07b",
        "ab",
        std::slice::from_ref(&finished),
    );
    check("a\x1b]633;D;7;N\x1b\\b", "ab", &[finished]);
    check("\x1b]633;A;N\x07> ", "> ", &[Body::PromptStart]);
}

#[test]
fn everything_else_passes_as_it_is() {
    for stream in [
        "\x1b]633;D;7\x07x",
        "\x1b]633;D;7;not-the-nonce\x07x",
        "\x1b]133;D;7;nonce=N\x18x",
        "\x1b[31mred\x1b[m \x1b]0;title\x07 \x1b\x1b\x1b]63",
        "\x1b]633;E;half\x1b[0m",
        "\x1b]633;E;half\x18;N\x07",
    ] {
        check(stream, stream, &[]);
    }
}

#[test]
fn a_string_that_a_program_left_open_does_not_swallow_the_prompt() {
    check(
        "\x1b]0;title\x1b]633;A;N\x07> ",
        "\x1b]0;title\x1b\\> ",
        &[Body::PromptStart],
    );
    check(
        "\x1b]0;title\x07\x1b]633;A;N\x07> ",
        "\x1b]0;title\x07> ",
        &[Body::PromptStart],
    );
}

#[test]
fn a_marker_without_end_is_not_held_back_for_ever() {
    let stream = format!("\x1b]633;E;{}", "x".repeat(HELD_BYTES_MAX * 2));
    for size in [1000, stream.len()] {
        let (passed, bodies) = sift(stream.as_bytes().chunks(size));
        assert_eq!(passed.len(), stream.len());
        assert_eq!(bodies, []);
    }
}

fn meaningful_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"\x1b]633;D;3;".to_vec()),
        Just(NONCE.as_bytes().to_vec()),
        Just(b"\x1b]0;t".to_vec()),
        Just(b"\x1b\\".to_vec()),
        prop::sample::select(&b"AD;=\x1b\x07\x18\x1a\x00\n]\x9c\xc3"[..])
            .prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn where_a_stream_is_cut_changes_nothing(stream in meaningful_bytes(), size in 1usize..9) {
        prop_assert_eq!(sift(stream.chunks(size)), sift([&stream[..]]));
    }

    #[test]
    fn without_the_nonce_nothing_is_changed(stream in prop::collection::vec(any::<u8>(), 0..300)) {
        let (passed, bodies) = sift(stream.chunks(7));
        prop_assert_eq!(bodies, []);
        prop_assert_eq!(passed, stream);
    }
}

#[test]
fn what_a_program_could_print_is_believed_at_no_cut() {
    for case in crate::corpus::cases() {
        let sizes: &[usize] = match case.stream.len() {
            0..=4096 => &[1, 2, 3, 5, 7, 4096],
            _ => &[4096, 65_537],
        };
        for size in sizes {
            let (passed, bodies) = sift(case.stream.chunks(*size));
            assert_eq!(bodies, [], "{} in pieces of {size}", case.id);
            assert!(passed == case.stream, "{} in pieces of {size}", case.id);
        }
        if case.stream.len() <= 4096 {
            for at in 0..case.stream.len() {
                let (before, after) = case.stream.split_at(at);
                assert_eq!(sift([before, after]), (case.stream.clone(), vec![]));
            }
        }
    }
}

#[test]
fn half_a_marker_is_left_to_nobody() {
    for (stream, rest) in [
        ("a\x1b]633;D;7;01234567", ""),
        ("a\x1b]633;", ""),
        ("a\x1b]63", "\x1b]63"),
        ("a\x1b[1mb", ""),
    ] {
        let mut sieve = Sieve::new(Nonce::new(NONCE).expect("long enough"));
        drop(sieve.push(stream.as_bytes()));
        assert_eq!(sieve.leave(), rest.as_bytes(), "{stream:?}");
    }
}
