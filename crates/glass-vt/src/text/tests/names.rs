//! Names that stand for other bytes.

use super::budget;
use crate::text::{Compressor, compress};
use proptest::prelude::*;

/// Output as it was written, and as it is shown: text, or the name of a secret
/// of so many bytes.
#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Secret(u64),
}

const NAME: &str = "[REDACTED:x]";

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let part = prop_oneof![
        4 => "[a-z ]{0,9}\n".prop_map(Part::Text),
        1 => "[a-z]{1,9}".prop_map(Part::Text),
        1 => (1u64..90).prop_map(Part::Secret),
    ];
    prop::collection::vec(part, 0..80)
}

proptest! {
    #[test]
    fn what_is_missing_is_counted_in_what_was_written(
        parts in parts(),
        lines in 0usize..40,
        chars in prop_oneof![0usize..300, 900usize..3_000],
    ) {
        let budget = budget(lines, chars);
        let mut compressor = Compressor::new(&budget, 0);
        let (mut shown, mut written) = (Vec::new(), 0u64);
        // Where each byte that is shown stands in what was written.
        let mut places = Vec::new();
        for part in &parts {
            match part {
                Part::Text(text) => {
                    compressor.push(text.as_bytes());
                    places.extend((0..text.len() as u64).map(|at| written + at));
                    written += text.len() as u64;
                    shown.extend_from_slice(text.as_bytes());
                }
                Part::Secret(bytes) => {
                    compressor.push_for(NAME.as_bytes(), *bytes);
                    places.extend((0..NAME.len() as u64).map(|at| written + at.min(*bytes)));
                    written += bytes;
                    shown.extend_from_slice(NAME.as_bytes());
                }
            }
        }
        places.push(written);
        let page = compressor.finish();
        prop_assert_eq!(page.end, written);
        prop_assert!(page.text.chars().count() <= budget.chars_max);
        prop_assert!(page.text.lines().count() <= budget.lines_max);
        let plain = compress(&shown, &budget);
        prop_assert_eq!(page.elisions.len(), plain.elisions.len());
        for (elision, plain) in page.elisions.iter().zip(&plain.elisions) {
            let place = |at: u64| places[usize::try_from(at).expect("small")];
            prop_assert_eq!(elision.offset, place(plain.offset));
            let end = place(plain.offset + plain.bytes);
            prop_assert_eq!(elision.offset + elision.bytes, end);
        }
    }
}
