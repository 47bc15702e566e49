//! `awk`: its programs run commands and write files. Only those without any
//! of the means to do so are harmless.

use super::{Refusal, open, unknown};
use crate::line::Word;

/// Text of a program that could reach outside. Looser than the language: a
/// string that contains one of these is asked about too.
const REACHES_OUT: &[&str] = &[
    "system", "getline", "|", ">", "@", "printf -", "close", "ENVIRON",
];

/// Checks each word, from the left.
pub(super) fn check(words: &[Word]) -> Result<(), Refusal> {
    let mut rest = words.iter();
    let mut has_program = false;
    while let Some(word) = rest.next() {
        if word.pattern_at.is_some() || word.tilde {
            return Err(open(word));
        }
        match word.value.as_str() {
            "-F" | "-v" => {
                rest.next();
            }
            flag if flag.starts_with("-F") => {}
            flag if flag.starts_with('-') => return Err(unknown(word)),
            program if !has_program => {
                has_program = true;
                if let Some(text) = REACHES_OUT.iter().find(|text| program.contains(**text)) {
                    return Err(format!("`{text}` in a program of awk"));
                }
            }
            // An operand like `a=b` assigns; harmless in itself.
            _ => {}
        }
    }
    Ok(())
}
