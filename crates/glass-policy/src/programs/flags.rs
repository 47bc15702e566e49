//! Programs whose arguments are flags and operands, in the manner of GNU.

use super::{Refusal, open, unknown};
use crate::knowledge::{Check, Operands, Program};
use crate::line::Word;

/// Checks each word, from the left.
pub(super) fn check(program: &Program, words: &[Word]) -> Result<(), Refusal> {
    let mut rest = words.iter();
    let mut operands = 0_usize;
    while let Some(word) = rest.next() {
        if word.is_literal() && word.value == "--" {
            return match &program.after {
                Some(after) if after.free => Ok(()),
                Some(after) => check(after, rest.as_slice()),
                None => rest.try_for_each(|word| operand(program, word, &mut operands, true)),
            };
        }
        let takes_next = match word.value.strip_prefix('-') {
            Some(flag) if !flag.is_empty() => self::flag(program, word, flag)?,
            _ => {
                operand(program, word, &mut operands, false)?;
                false
            }
        };
        if takes_next {
            match rest.next() {
                Some(value) => self::value(program, word, value)?,
                None => return Err(format!("`{}` has no value", word.raw)),
            }
        }
    }
    Ok(())
}

fn operand(
    program: &Program,
    word: &Word,
    count: &mut usize,
    after_dashes: bool,
) -> Result<(), Refusal> {
    if word.begins_openly() && !program.open_patterns && !after_dashes {
        return Err(open(word));
    }
    *count += 1;
    match program.operands {
        Operands::Any => Ok(()),
        Operands::One if *count == 1 && word.is_literal() => Ok(()),
        Operands::Format if word.value.starts_with('+') && word.is_literal() => Ok(()),
        _ => Err(unknown(word)),
    }
}

/// The next word of a flag that takes one. A pattern may become several words,
/// so what follows the first must be as harmless as an operand. Versions differ
/// about which values are optional, so a value that looks like a flag must be
/// harmless as a flag too.
fn value(program: &Program, taker: &Word, word: &Word) -> Result<(), Refusal> {
    let several = word.pattern_at.is_some();
    if several && (!program.open_patterns && word.begins_openly() || word.value.starts_with('-')) {
        return Err(open(word));
    }
    if several && program.operands != Operands::Any {
        return Err(unknown(word));
    }
    let sure = |known: &String| taker.value.trim_start_matches('-') == known;
    if program.open_patterns || program.dash_values.iter().any(sure) {
        return Ok(());
    }
    match word.value.strip_prefix('-') {
        None | Some("") => Ok(()),
        Some("-") => Err(unknown(word)),
        Some(flag) => self::flag(program, word, flag).map(|_| ()),
    }
}

/// Whether a flag is known, and takes the next word.
fn flag(program: &Program, word: &Word, flag: &str) -> Result<bool, Refusal> {
    let long = match program.check {
        Check::SingleDash => Some(flag.strip_prefix('-').unwrap_or(flag)),
        _ => flag.strip_prefix('-'),
    };
    let is_number = !flag.is_empty() && flag.bytes().all(|byte| byte.is_ascii_digit());
    match long {
        Some(long) => self::long(program, word, long),
        None if program.numbers && is_number && word.is_literal() => Ok(false),
        None => short(program, word, flag),
    }
}

fn long(program: &Program, word: &Word, flag: &str) -> Result<bool, Refusal> {
    let known = |list: &[String], name: &str| list.iter().any(|known| known == name);
    let (name, value) = match flag.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (flag, None),
    };
    // A pattern in a value keeps the flag in front of whatever it becomes.
    let value_at = word.value.len() - value.map_or(0, str::len);
    if word
        .pattern_at
        .is_some_and(|at| value.is_none() || at < value_at)
    {
        return Err(open(word));
    }
    if known(&program.long_attached, name) || value.is_some() && known(&program.long_values, name) {
        return Ok(false);
    }
    if value.is_none() && known(&program.long, name) {
        return Ok(false);
    }
    match value.is_none() && known(&program.long_values, name) {
        true => Ok(true),
        false => Err(unknown(word)),
    }
}

/// A cluster of short flags, the last perhaps with a value.
fn short(program: &Program, word: &Word, cluster: &str) -> Result<bool, Refusal> {
    for (index, letter) in cluster.char_indices() {
        let at = index + 1;
        if word.pattern_at.is_some_and(|pattern| pattern <= at) {
            return Err(open(word));
        }
        let is_last = index + letter.len_utf8() == cluster.len();
        if program.values.contains(letter) {
            return Ok(is_last);
        }
        if program.attached.contains(letter) {
            return Ok(false);
        }
        if !program.flags.contains(letter) {
            return Err(unknown(word));
        }
    }
    Ok(false)
}
