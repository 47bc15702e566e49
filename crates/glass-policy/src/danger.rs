//! Looks for what is known to be dangerous: loosely, in every command that
//! can be seen, through wrappers and scripts in quotes. It never allows.

use crate::knowledge::{Danger, fits, knowledge};
use crate::limits::{COMMANDS_MAX, STEPS_MAX, WRAPPERS_MAX};
use crate::line::{Line, Redirect, RedirectKind, SimpleCommand, Word};
use crate::reader::read_after;
use crate::unwrap::{Inner, base_name, inner};
use glass_model::ShellKind;

/// Looks at everything that a line can be seen to run, wrappers first.
pub(crate) struct Look<'a> {
    shell: ShellKind,
    /// Commands that may still be looked at.
    budget: usize,
    /// How far it came.
    looked: Looked,
    /// Called with the words of a command, and with the part of the line in
    /// which it was found.
    see: &'a mut dyn FnMut(&[Word], &str),
}

/// What looking at a line came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Looked {
    /// Steps that reading scripts has taken; beyond the most, none is read.
    pub steps: u32,
    /// Whether something was left that may be anything.
    pub missed: bool,
}

impl<'a> Look<'a> {
    /// Looks at a line. Says how far that came.
    pub fn at(
        line: &Line,
        text: &str,
        shell: ShellKind,
        see: &'a mut dyn FnMut(&[Word], &str),
    ) -> Looked {
        let mut look = Look {
            shell,
            budget: COMMANDS_MAX * 2,
            looked: Looked::default(),
            see,
        };
        look.commands(line, 0, None);
        if line.failure.is_some() {
            // What cannot be read is looked at word by word.
            look.loosely(text, 0, None);
        }
        look.looked
    }

    fn loosely(&mut self, text: &str, depth: usize, part: Option<&str>) {
        let (line, is_whole) = loosely(text);
        self.looked.missed |= !is_whole;
        self.commands(&line, depth, part);
    }

    fn commands(&mut self, line: &Line, depth: usize, part: Option<&str>) {
        for command in &line.commands {
            self.words(&command.words, depth, part.unwrap_or(&command.text));
        }
    }

    fn words(&mut self, words: &[Word], depth: usize, part: &str) {
        if words.is_empty() {
            return;
        }
        if self.budget == 0 {
            self.looked.missed = true;
            return;
        }
        self.budget -= 1;
        (self.see)(words, part);
        if depth >= WRAPPERS_MAX {
            self.looked.missed |= !inner(words).is_empty();
            return;
        }
        for inner in inner(words) {
            match inner {
                Inner::Words(inner) => self.words(inner, depth + 1, part),
                Inner::Script(script) => {
                    let line = read_after(&script, self.shell, self.looked.steps);
                    self.looked.steps = line.steps;
                    self.looked.missed |= line.steps > STEPS_MAX;
                    self.commands(&line, depth + 1, Some(part));
                    if line.failure.is_some() {
                        self.loosely(&script, depth + 1, Some(part));
                    }
                }
            }
        }
    }
}

/// A line of any language, taken apart at blanks and separators, and whether that
/// is all of it.
fn loosely(text: &str) -> (Line, bool) {
    let mut parts = text.split([';', '|', '&', '\n', '(', ')', '`', '{', '}']);
    let command = |part: &str| SimpleCommand {
        text: part.trim().to_owned(),
        words: part.split_whitespace().map(loose_word).collect(),
        ..SimpleCommand::default()
    };
    let line = Line {
        commands: parts.by_ref().take(COMMANDS_MAX).map(command).collect(),
        ..Line::default()
    };
    (line, parts.next().is_none())
}

fn loose_word(raw: &str) -> Word {
    let value = raw.chars().filter(|c| !matches!(c, '\'' | '"' | '\\'));
    Word {
        raw: raw.to_owned(),
        value: value.collect(),
        ..Word::default()
    }
}

/// The dangers that a command is.
pub(crate) fn of_command(words: &[Word]) -> impl Iterator<Item = &'static Danger> {
    let dangers = knowledge().dangers.iter();
    dangers.filter(move |danger| !danger.programs.is_empty() && is(danger, words))
}

/// The danger that a redirect is.
pub(crate) fn of_redirect(redirect: &Redirect) -> Option<&'static Danger> {
    let writes = matches!(redirect.kind, RedirectKind::Write | RedirectKind::ReadWrite);
    let target = redirect.target.value.as_str();
    let named = |danger: &&Danger| danger.writes.iter().any(|place| fits(place, target));
    knowledge()
        .dangers
        .iter()
        .find(|danger| writes && named(danger))
}

fn is(danger: &Danger, words: &[Word]) -> bool {
    let Some((name, arguments)) = words.split_first() else {
        return false;
    };
    if !danger
        .programs
        .iter()
        .any(|program| fits(program, base_name(name)))
    {
        return false;
    }
    let values = || arguments.iter().map(|word| word.value.as_str());
    let is_flag = |value: &str| value.len() > 1 && value.starts_with('-');
    let first = first_operand(arguments);
    let first_operand = first.map(|at| arguments[at].value.as_str());
    let flags_end = match (danger.leading, first) {
        (true, Some(first)) => first,
        _ => arguments.len(),
    };
    let any = |list: &[String], test: &dyn Fn(&str) -> bool| {
        list.is_empty() || list.iter().any(|entry| test(entry))
    };
    let bundled = arguments.first().is_some_and(|word| {
        !is_flag(&word.value) && word.value.contains(|c| danger.bundle.contains(c))
    });
    (danger.bundle.is_empty() || bundled)
        && any(&danger.subcommands, &|entry| first_operand == Some(entry))
        && any(&danger.flags, &|entry| {
            values().take(flags_end).any(|value| has_flag(value, entry))
        })
        && any(&danger.words, &|entry| {
            values().any(|value| fits(entry, value))
        })
        && any(&danger.operands, &|entry| {
            values().any(|value| !is_flag(value) && is_place(entry, value))
        })
}

/// Flags that stand before a subcommand and take the next word, of any program
/// that has subcommands. Others have none of these names with another meaning.
const VALUES_BEFORE: [&str; 4] = ["-C", "--git-dir", "--work-tree", "--namespace"];

/// Where the first argument stands that is no flag, and no value of one.
fn first_operand(arguments: &[Word]) -> Option<usize> {
    let mut at = 0;
    loop {
        let value = arguments.get(at)?.value.as_str();
        if value.len() < 2 || !value.starts_with('-') {
            return Some(at);
        }
        at += 1 + usize::from(VALUES_BEFORE.contains(&value));
    }
}

/// Whether a word is this flag, holds it in a cluster, or abbreviates it.
fn has_flag(word: &str, flag: &str) -> bool {
    let Some(rest) = word.strip_prefix('-') else {
        return false;
    };
    match rest.strip_prefix('-') {
        Some("") => false,
        Some(long) => {
            let name = long.split('=').next().unwrap_or(long);
            flag.len() > 1 && flag.starts_with(name)
        }
        None => rest == flag || flag.chars().count() == 1 && rest.contains(flag),
    }
}

/// Whether an operand is this place, however many slashes and dots it has.
fn is_place(place: &str, operand: &str) -> bool {
    let normal = normal_path(operand);
    operand == place || normal == place
}

fn normal_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
    {
        match part {
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}
