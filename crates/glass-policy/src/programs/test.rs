//! `test` and `[`: only what compares text and looks at files. `-v` and the
//! comparisons of numbers evaluate their operands in some shells.

use super::{Refusal, open, unknown};
use crate::line::Word;

const OPERATORS: &[&str] = &[
    "-e", "-f", "-d", "-s", "-r", "-w", "-x", "-L", "-h", "-n", "-z", "-b", "-c", "-p", "-S",
    "-nt", "-ot", "-ef", "!", "=", "!=", "==",
];

/// Checks all the words, the name included.
pub(super) fn check(words: &[Word]) -> Result<(), Refusal> {
    let Some((name, mut arguments)) = words.split_first() else {
        return Ok(());
    };
    if name.value == "[" {
        match arguments.split_last() {
            Some((last, rest)) if last.value == "]" => arguments = rest,
            _ => return Err("a `]` is missing".to_owned()),
        }
    }
    for word in arguments {
        if word.pattern_at.is_some() {
            return Err(open(word));
        }
        let acts = word.value.starts_with('-') || word.value.starts_with(['(', ')', '!', '=']);
        if acts && !OPERATORS.contains(&word.value.as_str()) {
            return Err(unknown(word));
        }
    }
    Ok(())
}
