//! The arguments of a command, told apart as far as an entry knows them.

use crate::tools::Entry;
use glass_policy::line::Word;

/// Flags and operands of a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments<'a> {
    /// Flags as written, without values.
    pub(crate) flags: Vec<&'a str>,
    /// What is neither a flag nor the value of one.
    pub(crate) operands: Vec<&'a str>,
}

/// Whether this word is a flag: `-` alone is an operand.
fn is_flag(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

fn has(list: &[String], word: &str) -> bool {
    list.iter().any(|known| known == word)
}

impl<'a> Arguments<'a> {
    /// Reads the words behind a command's name. None where the entry knows the
    /// tool's flags and there is one that it does not know.
    pub(crate) fn read(words: &'a [Word], entry: &Entry) -> Option<Arguments<'a>> {
        let mut arguments = Arguments::default();
        let mut words = words.iter().map(|word| word.value.as_str()).peekable();
        while let Some(word) = words.next() {
            if word == "--" {
                arguments.operands.extend(words);
                break;
            }
            if !is_flag(word) {
                arguments.operands.push(word);
                continue;
            }
            let (flag, attached) = match word.split_once('=') {
                Some((flag, _)) => (flag, true),
                None => (word, false),
            };
            arguments.flags.push(flag);
            if has(&entry.values, flag) {
                if !attached {
                    words.next();
                }
            } else if has(&entry.lists, flag) {
                while words.next_if(|word| !is_flag(word)).is_some() {}
            } else if !entry.flags.is_empty() && (attached || !has(&entry.flags, flag)) {
                // A flag to look out for is known as well; it is decided about
                // by the caller.
                if !has(&entry.unless, flag) {
                    return None;
                }
            }
        }
        Some(arguments)
    }
}
