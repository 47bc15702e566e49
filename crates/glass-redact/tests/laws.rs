//! What holds for any input, cut in any way.

use glass_redact::{Detector, HELD_BYTES_MAX, Known, Redactor, Rules};
use proptest::prelude::*;
use std::sync::{Arc, LazyLock};

static DETECTOR: LazyLock<Arc<Detector>> = LazyLock::new(|| {
    let mut known = Known::new();
    assert!(known.add("A", b"hunter22-secret"));
    assert!(known.add("B", b"p%w/rd\"1 x"));
    Arc::new(Detector::new(Rules::builtin(), &known))
});

/// Pieces of what triggers are made of, and anything else.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let words: &[&[u8]] = &[
        b"ghp_",
        b"FAKEIE5bqsJyJ1VEY10ENenPz0zjIuWSRSFk",
        b"password",
        b"PASSWORD=",
        b"token: \"",
        b"://",
        b"u:Fake1x2y3z@h/",
        b"hunter22",
        b"-secret",
        b"%68unter22",
        b"%",
        b"\x1b[31m",
        b"\x1b",
        b"\x1b]0;",
        b"\x07",
        b"-----BEGIN PRIVATE KEY-----",
        b"\n",
        b"\\n",
        b" ",
        b"'",
        b"\"",
        b"uV2iFtMMZMovuVrxJa8JghipiqlnvK8yUY0u8tjOfd",
        b"-----END",
        b"eyJ",
        b".eyJhYmM.",
        b"Cookie: a=",
        b"sk-ant-",
        b"name: DB_",
        b"value: ",
        b"--token ",
        b"Bearer ",
        b"<password>",
        b"aHVudGVyMjItc2VjcmV0",
    ];
    prop_oneof![
        4 => proptest::sample::select(words.to_vec()).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..12),
        1 => "[A-Za-z0-9]{1,30}".prop_map(String::into_bytes),
    ]
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(piece(), 0..30).prop_map(|pieces| pieces.concat())
}

fn redact<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut redactor = Redactor::new(DETECTOR.clone());
    let mut out = Vec::new();
    for chunk in chunks {
        redactor.push(chunk, &mut out);
        assert!(redactor.held_bytes() <= HELD_BYTES_MAX);
    }
    redactor.finish(&mut out);
    assert_eq!(redactor.held_bytes(), 0);
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_output_does_not_depend_on_how_the_input_was_cut(
        text in text(),
        sizes in proptest::collection::vec(1..40_usize, 1..20),
    ) {
        let whole = redact(std::iter::once(&text[..]));
        prop_assert_eq!(&redact(text.chunks(1)), &whole);
        let mut rest = &text[..];
        let mut chunks = Vec::new();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, tail) = rest.split_at((*size).min(rest.len()));
            chunks.push(chunk);
            rest = tail;
        }
        prop_assert_eq!(&redact(chunks.into_iter()), &whole);
    }

    #[test]
    fn a_known_value_never_survives(before in text(), after in text()) {
        let text = [&before[..], b"hunter22-secret", &after[..]].concat();
        let out = redact(std::iter::once(&text[..]));
        let mut places = (0..out.len()).filter(|at| out[*at..].starts_with(b"hunter22-secret"));
        // Its first letter may be the last of an escape sequence, where it is
        // not seen as text.
        let is_text = |at: usize| {
            let is_parameter = |byte: &u8| (0x20..=0x3f).contains(byte);
            let before = out[..at].iter().rposition(|byte| !is_parameter(byte));
            let end = before.map_or(0, |last| last + 1);
            let head = &out[..end];
            let is_sequence = head.ends_with(b"\x1b[") || (head.ends_with(b"\x1b") && end < at);
            !is_sequence
        };
        prop_assert!(!places.any(is_text), "{}", String::from_utf8_lossy(&out));
    }

    #[test]
    fn escape_sequences_are_never_lost(text in text()) {
        let count = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == 0x1b).count();
        prop_assert_eq!(count(&redact(std::iter::once(&text[..]))), count(&text));
    }
}
