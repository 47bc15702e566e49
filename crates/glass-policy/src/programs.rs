//! Whether the arguments of a command are known to be harmless.

mod awk;
mod find;
mod flags;
mod sed;
mod test;

use crate::knowledge::{Check, Program};
use crate::line::Word;

/// Why an argument is not known to be harmless.
pub(crate) type Refusal = String;

/// Checks the words behind the program's prefix. A wrapper's are checked by
/// whoever decides about the command inside.
pub(crate) fn check(program: &Program, words: &[Word]) -> Result<(), Refusal> {
    let arguments = &words[program.prefix.len()..];
    for word in arguments {
        if word.expands && !program.free {
            return Err(format!("`{}` expands", word.raw));
        }
        for text in &program.refused_text {
            if word.value.contains(text.as_str()) {
                return Err(format!("`{text}` in `{}`", word.raw));
            }
        }
    }
    if program.free {
        return Ok(());
    }
    match program.check {
        Check::Flags | Check::SingleDash => flags::check(program, arguments),
        Check::Find => find::check(arguments),
        Check::Sed => sed::check(arguments),
        Check::Awk => awk::check(arguments),
        Check::Test => test::check(words),
        Check::Wrapper => Ok(()),
    }
}

fn unknown(word: &Word) -> Refusal {
    format!("`{}` is not known to be harmless", word.raw)
}

fn open(word: &Word) -> Refusal {
    format!("`{}` may become a flag", word.raw)
}
