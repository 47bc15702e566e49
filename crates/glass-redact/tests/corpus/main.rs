//! The corpus: made-up secrets and near misses, whole and cut everywhere.

mod cases;

use cases::{Case, corpus};
use glass_redact::{Detector, HELD_BYTES_MAX, Known, Redactor, Rules};
use std::sync::Arc;

fn detector(case: &Case) -> Arc<Detector> {
    let mut known = Known::new();
    for value in &case.known {
        assert!(known.add("KNOWN", value.as_bytes()), "{}", case.id);
    }
    Arc::new(Detector::new(Rules::builtin(), &known))
}

fn redact<'a>(detector: &Arc<Detector>, chunks: impl Iterator<Item = &'a [u8]>) -> String {
    let mut redactor = Redactor::new(detector.clone());
    let mut out = Vec::new();
    for chunk in chunks {
        redactor.push(chunk, &mut out);
        assert!(redactor.held_bytes() <= HELD_BYTES_MAX);
    }
    redactor.finish(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// What is wrong with the output for a case.
fn fault(case: &Case, out: &str) -> Option<String> {
    if let Some(secret) = case.secrets.iter().find(|secret| out.contains(*secret)) {
        return Some(format!("{}: '{secret}' is still there: {out}", case.id));
    }
    if let Some(kept) = case.must_keep.iter().find(|kept| !out.contains(*kept)) {
        return Some(format!("{}: '{kept}' is gone: {out}", case.id));
    }
    (!case.redact && out != case.text).then(|| format!("{}: touched: {out}", case.id))
}

#[test]
fn every_secret_of_the_corpus_goes_and_every_near_miss_stays() {
    let cases = corpus();
    assert!(cases.len() > 100, "only {} cases", cases.len());
    let builtin = Arc::new(Detector::builtin());
    let mut faults = Vec::new();
    for case in &cases {
        let detector = if case.known.is_empty() {
            builtin.clone()
        } else {
            detector(case)
        };
        let bytes = case.text.as_bytes();
        let whole = redact(&detector, std::iter::once(bytes));
        faults.extend(fault(case, &whole));
        assert_eq!(
            redact(&detector, bytes.chunks(1)),
            whole,
            "{} byte by byte",
            case.id
        );
        for cut in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            let out = redact(&detector, [head, tail].into_iter());
            assert_eq!(out, whole, "{} cut at {cut}", case.id);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_colour_at_any_place_of_a_secret_does_not_save_it() {
    let builtin = Arc::new(Detector::builtin());
    let strip = |text: &str| text.replace("\x1b[1;31m", "");
    let mut faults = Vec::new();
    // Inside another sequence, a colour would be something else.
    let plain = |case: &Case| !case.text.contains('\x1b');
    for case in corpus().into_iter().filter(plain) {
        let detector = if case.known.is_empty() {
            builtin.clone()
        } else {
            detector(&case)
        };
        for cut in (0..=case.text.len()).filter(|cut| case.text.is_char_boundary(*cut)) {
            let (head, tail) = case.text.split_at(cut);
            let colourful = format!("{head}\x1b[1;31m{tail}");
            let out = redact(&detector, std::iter::once(colourful.as_bytes()));
            assert!(
                out.contains("\x1b[1;31m"),
                "{}: the colour is gone",
                case.id
            );
            faults.extend(fault(&case, &strip(&out)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
