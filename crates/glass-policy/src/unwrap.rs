//! Sees through programs that run another: `env`, `sudo`, `xargs`,
//! `find -exec`, `sh -c`, …

use crate::knowledge::{Wrapper, knowledge};
use crate::line::Word;
use crate::reader::is_assignment;

/// What a wrapper runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Inner<'a> {
    /// A command, as words.
    Words(&'a [Word]),
    /// A command line, as text.
    Script(String),
}

/// The name of a program without its directory.
pub(crate) fn base_name(word: &Word) -> &str {
    let value = word.value.as_str();
    value.rsplit('/').next().unwrap_or(value)
}

/// What these words run beside themselves.
pub(crate) fn inner(words: &[Word]) -> Vec<Inner<'_>> {
    let Some((name, arguments)) = words.split_first() else {
        return Vec::new();
    };
    match (base_name(name), knowledge().wrapper(base_name(name))) {
        ("find", _) => executed_by_find(arguments),
        (_, Some(wrapper)) => executed_by(wrapper, arguments).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// `-exec` and its kin, up to `;` or `+`.
fn executed_by_find(arguments: &[Word]) -> Vec<Inner<'_>> {
    const RUN: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];
    let mut found = Vec::new();
    let mut rest = arguments;
    while let Some(at) = rest
        .iter()
        .position(|word| RUN.contains(&word.value.as_str()))
    {
        rest = &rest[at + 1..];
        let end = rest
            .iter()
            .position(|word| matches!(word.value.as_str(), ";" | "+"));
        let (command, others) = rest.split_at(end.unwrap_or(rest.len()));
        found.push(Inner::Words(command));
        rest = others;
    }
    found
}

fn executed_by<'a>(wrapper: &Wrapper, arguments: &'a [Word]) -> Option<Inner<'a>> {
    let mut index = 0;
    let mut skip = wrapper.skip;
    let mut script_next = false;
    while let Some(word) = arguments.get(index) {
        index += 1;
        let value = word.value.as_str();
        let is_flag = value.len() > 1 && value.starts_with('-') && value != "--";
        if is_flag {
            match flag(wrapper, value) {
                Flag::Plain => {}
                Flag::TakesNext => index += 1,
                Flag::Script(Some(script)) => return Some(Inner::Script(script)),
                // A shell's `-c` is followed by further flags at times.
                Flag::Script(None) => script_next = true,
            }
            continue;
        }
        if script_next {
            return Some(Inner::Script(value.to_owned()));
        }
        if value == "--" || wrapper.assignments && is_assignment(word) {
            continue;
        }
        if skip > 0 {
            skip -= 1;
            continue;
        }
        let rest = &arguments[index - 1..];
        return Some(if wrapper.script_first {
            Inner::Script(value.to_owned())
        } else if wrapper.script_rest {
            let values: Vec<&str> = rest.iter().map(|word| word.value.as_str()).collect();
            Inner::Script(values.join(" "))
        } else {
            Inner::Words(rest)
        });
    }
    None
}

enum Flag {
    Plain,
    TakesNext,
    /// The script is attached, or follows.
    Script(Option<String>),
}

fn flag(wrapper: &Wrapper, value: &str) -> Flag {
    if let Some(long) = value.strip_prefix("--") {
        let (name, attached) = match long.split_once('=') {
            Some((name, attached)) => (name, Some(attached.to_owned())),
            None => (long, None),
        };
        if !wrapper.long_script_flag.is_empty() && wrapper.long_script_flag.starts_with(name) {
            return Flag::Script(attached);
        }
        return match attached.is_none() && wrapper.long_values.iter().any(|known| known == name) {
            true => Flag::TakesNext,
            false => Flag::Plain,
        };
    }
    let mut cluster = value.trim_start_matches('-').chars();
    while let Some(letter) = cluster.next() {
        if wrapper.script_flag.contains(letter) {
            let attached = cluster.as_str();
            // `sh -ce` is two flags; `env -Ssh` is a flag with its value.
            let attached = (!attached.is_empty() && !wrapper.shell).then(|| attached.to_owned());
            return Flag::Script(attached);
        }
        if wrapper.values.contains(letter) {
            return match cluster.as_str().is_empty() {
                true => Flag::TakesNext,
                false => Flag::Plain,
            };
        }
    }
    Flag::Plain
}
