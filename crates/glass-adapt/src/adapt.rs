//! What a command of a known tool lacks to run without a terminal.
//!
//! Invariant: the words of the result are the words of the command, in their
//! order and as they were written, with some plain ones inserted. This is
//! checked by reading the result again, and where it does not hold the command
//! is left alone.

use crate::arguments::Arguments;
use crate::tools::{Entry, Operands, tools};
use glass_model::ShellKind;
use glass_policy::Command;
use glass_policy::line::{SimpleCommand, Word};

/// Longest command that is looked at, in bytes. A tool is called with less.
const COMMAND_BYTES_MAX: usize = 64 * 1024;

/// A command that answers without a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adapted {
    /// What to run: the command with some words inserted, or as it was.
    pub command: String,
    /// The tool, as `[adapters] off` names it.
    pub tool: &'static str,
    /// Variables for this command alone.
    pub env: Vec<(&'static str, &'static str)>,
    /// Why, for people.
    pub why: &'static str,
}

/// What has to be added to a command so that its tool answers without a
/// terminal. None for everything that is not exactly one simple command of a
/// known tool.
pub fn adapt(command: &str, shell: ShellKind) -> Option<Adapted> {
    let (entry, simple) = find(command, shell)?;
    let text = match entry.insert.is_empty() {
        true => command.to_owned(),
        false => insert(command, &simple, entry, shell)?,
    };
    let env = entry.env.iter();
    Some(Adapted {
        command: text,
        tool: &entry.tool,
        env: env.map(|(name, value)| (&**name, &**value)).collect(),
        why: &entry.reason,
    })
}

/// The entry that counts for a command.
pub(crate) fn entry_of(command: &str, shell: ShellKind) -> Option<&'static Entry> {
    find(command, shell).map(|(entry, _)| entry)
}

fn find(command: &str, shell: ShellKind) -> Option<(&'static Entry, SimpleCommand)> {
    // Most commands are of no known tool, and need not be read for that.
    let first = command.split_ascii_whitespace().next()?;
    if command.len() > COMMAND_BYTES_MAX
        || !tools()
            .iter()
            .any(|entry| entry.words.first().is_some_and(|name| name == first))
    {
        return None;
    }
    let simple = only_command(command, shell)?;
    let entry = tools().iter().find(|entry| meets(entry, &simple))?;
    Some((entry, simple))
}

/// The one simple command that a line is, if it is nothing else.
fn only_command(text: &str, shell: ShellKind) -> Option<SimpleCommand> {
    let parsed = Command::parse(text, shell);
    let line = parsed.line();
    let is_plain = line.failure.is_none() && line.obstacles.is_empty() && line.redirects.is_empty();
    match line.commands.as_slice() {
        [only] if is_plain && only.assignments.is_empty() && !only.piped => Some(only.clone()),
        _ => None,
    }
}

fn meets(entry: &Entry, simple: &SimpleCommand) -> bool {
    let count = entry.words.len();
    let Some(leading) = simple.words.get(..count) else {
        return false;
    };
    if !leading
        .iter()
        .zip(&entry.words)
        .all(|(word, wanted)| word.raw == *wanted)
    {
        return false;
    }
    // Other words would change what goes into somebody's file.
    if !entry.insert.is_empty() && !simple.redirects.iter().all(|it| it.is_harmless()) {
        return false;
    }
    let rest = &simple.words[count..];
    let Some(rest) = behind_subcommand(entry, rest) else {
        return false;
    };
    let Some(arguments) = Arguments::read(rest, entry) else {
        return false;
    };
    let has = |list: &[String]| list.iter().any(|it| arguments.flags.contains(&it.as_str()));
    if has(&entry.unless) || !entry.any.is_empty() && !has(&entry.any) {
        return false;
    }
    let operands = &arguments.operands;
    let first_is = |list: &[String]| list.iter().any(|it| operands.first() == Some(&it.as_str()));
    let fits = match entry.operands {
        Operands::Any => true,
        Operands::None => operands.is_empty(),
        Operands::Some => !operands.is_empty(),
        Operands::Prompt => matches!(operands[..], [only] if only.contains([' ', '\n', '\t'])),
    };
    fits && !first_is(&entry.not_operands)
}

/// The words behind the subcommand, if it is one of those that the entry has.
fn behind_subcommand<'a>(entry: &Entry, words: &'a [Word]) -> Option<&'a [Word]> {
    if entry.subcommands.is_empty() {
        return Some(words);
    }
    let mut at = 0;
    loop {
        let word = words.get(at)?.value.as_str();
        if !word.starts_with('-') {
            let is_listed = entry.subcommands.iter().any(|it| it == word);
            return is_listed.then(|| &words[at + 1..]);
        }
        let has_value = entry.value_flags_before.iter().any(|flag| flag == word);
        at += if has_value { 2 } else { 1 };
    }
}

/// The command with the entry's words behind its first ones.
fn insert(text: &str, old: &SimpleCommand, entry: &Entry, shell: ShellKind) -> Option<String> {
    let at = end_of(text, &entry.words)?;
    let new = format!("{} {}{}", &text[..at], entry.insert.join(" "), &text[at..]);
    let read = only_command(&new, shell)?;
    let count = entry.words.len();
    let (before, rest) = read.words.split_at_checked(count)?;
    let (inserted, after) = rest.split_at_checked(entry.insert.len())?;
    let is_same = before == &old.words[..count]
        && after == &old.words[count..]
        && read.redirects == old.redirects
        && inserted
            .iter()
            .zip(&entry.insert)
            .all(|(word, wanted)| word.raw == *wanted);
    is_same.then_some(new)
}

/// Where in the text these words end, if it begins with them.
fn end_of(text: &str, words: &[String]) -> Option<usize> {
    let mut rest = text;
    for word in words {
        rest = rest.trim_start_matches([' ', '\t', '\n']);
        rest = rest.strip_prefix(word.as_str())?;
        if !rest.is_empty() && !rest.starts_with([' ', '\t', '\n', ';', '<', '>', '&', '#']) {
            return None;
        }
    }
    Some(text.len() - rest.len())
}
