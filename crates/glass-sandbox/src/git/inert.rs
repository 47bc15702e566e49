//! Repositories that cannot make git execute anything.

use std::path::Path;

use crate::place::read_bounded;

/// The longest configuration that is looked at; `git init` writes 92 bytes.
const CONFIG_BYTES_MAX: u64 = 16 * 1024;

/// The most entries of the directory of hooks.
const HOOKS_MAX: usize = 64;

/// What leads git to another directory, or to another configuration.
const LEADS_ELSEWHERE: &[&str] = &["gitdir", "modules", "worktrees"];

/// The same, if it says anything else than this, as what walls stand on does.
const LEADS_NOWHERE: &[(&str, &[u8])] = &[("commondir", b".\n"), ("config.worktree", b"")];

/// Directories of addresses, as git had them before it had a configuration.
const ADDRESSES: &[&str] = &["remotes", "branches"];

/// The longest list of steps that is looked at.
const STEPS_BYTES_MAX: u64 = 1 << 20;

/// What a configuration may say without any consequence but for this
/// repository's own files.
const INERT: &[(&str, &str)] = &[
    ("core", "filemode"),
    ("core", "ignorecase"),
    ("core", "logallrefupdates"),
    ("core", "precomposeunicode"),
    ("core", "symlinks"),
    ("user", "email"),
    ("user", "name"),
];

/// Whether a `.git` is as `git init` makes it, as far as git executes or
/// follows anything in it. What is not understood is not inert.
pub(crate) fn is_inert(dot_git: &Path) -> bool {
    is_own(dot_git)
        && has_no_hooks(&dot_git.join("hooks"))
        && read(&dot_git.join("config")).is_some_and(|text| each_line(&text, |_| false))
}

/// Whether everything that git goes by is in this directory.
fn is_own(dot_git: &Path) -> bool {
    let is_plain = dot_git.symlink_metadata().is_ok_and(|found| found.is_dir());
    let is_named = dot_git.file_name().is_some_and(|name| name == ".git");
    let is_there = |name: &str| dot_git.join(name).symlink_metadata().is_ok();
    let leads_nowhere = |(name, expected): &(&str, &[u8])| {
        let path = dot_git.join(name);
        match path.symlink_metadata() {
            Err(_) => true,
            Ok(found) => {
                let text = read_bounded(&path, CONFIG_BYTES_MAX);
                found.is_file() && text.is_ok_and(|text| text == *expected)
            }
        }
    };
    is_plain
        && is_named
        && !LEADS_ELSEWHERE.iter().any(|name| is_there(name))
        && LEADS_NOWHERE.iter().all(leads_nowhere)
        && ADDRESSES.iter().all(|name| is_empty(&dot_git.join(name)))
        && !has_steps(dot_git)
}

/// Whether there is nothing in a directory, or no directory.
fn is_empty(directory: &Path) -> bool {
    match directory.symlink_metadata() {
        Err(_) => true,
        Ok(found) => {
            let first = std::fs::read_dir(directory).map(|mut entries| entries.next());
            found.is_dir() && first.is_ok_and(|first| first.is_none())
        }
    }
}

/// Whether a rebase has been begun whose next steps execute something.
pub(crate) fn has_steps(git_dir: &Path) -> bool {
    let steps = git_dir.join("rebase-merge/git-rebase-todo");
    match read_bounded(&steps, STEPS_BYTES_MAX) {
        Ok(text) => text.split(|byte| *byte == b'\n').any(|line| {
            let mut words = line.split(u8::is_ascii_whitespace);
            let first = words.find(|word| !word.is_empty());
            matches!(first, Some(b"exec" | b"x"))
        }),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

fn has_no_hooks(hooks: &Path) -> bool {
    let Ok(found) = hooks.symlink_metadata() else {
        return true;
    };
    let Ok(entries) = std::fs::read_dir(hooks) else {
        return false;
    };
    let is_sample = |name: &std::ffi::OsStr| name.to_string_lossy().ends_with(".sample");
    let mut entries = entries.take(HOOKS_MAX + 1).enumerate();
    found.is_dir()
        && entries.all(|(at, entry)| {
            at < HOOKS_MAX && entry.is_ok_and(|entry| is_sample(&entry.file_name()))
        })
}

/// The configuration of a `.git` that has neither hooks nor anything in its
/// configuration that git executes, though it may say whom git talks to.
pub(crate) fn plain_config(dot_git: &Path) -> Option<String> {
    let is_plain = is_own(dot_git) && has_no_hooks(&dot_git.join("hooks"));
    let text = read(&dot_git.join("config")).filter(|_| is_plain)?;
    let addresses = |name: &str| {
        let quoted = name
            .strip_prefix("remote \"")
            .or(name.strip_prefix("branch \""));
        let quoted = quoted.and_then(|name| name.strip_suffix('"'));
        let plain = |character: char| character.is_alphanumeric() || "._/-".contains(character);
        quoted.is_some_and(|name| name.chars().all(plain))
    };
    each_line(&text, addresses).then_some(text)
}

fn read(config: &Path) -> Option<String> {
    let is_file = config.symlink_metadata().is_ok_and(|found| found.is_file());
    let bytes = is_file.then(|| read_bounded(config, CONFIG_BYTES_MAX).ok())??;
    String::from_utf8(bytes).ok()
}

/// Whether every line says nothing that matters, or stands in a section of
/// which that is known anyway.
fn each_line(text: &str, known: impl Fn(&str) -> bool) -> bool {
    let mut section = "";
    text.split('\n').all(|line| {
        let line = line.trim_matches([' ', '\t']);
        if let Some(name) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            section = name;
            return matches!(name, "core" | "user") || known(name);
        }
        let entry = line.split_once('=');
        line.is_empty()
            || entry.is_some_and(|(key, value)| {
                says_nothing(section, key, value) || (known(section) && is_address(key, value))
            })
    })
}

/// Whether an entry says where others are, and nothing that could be read in
/// another way or executed.
fn is_address(key: &str, value: &str) -> bool {
    let value = value.trim_matches([' ', '\t']);
    let plain = |character: char| character.is_alphanumeric() || "._/:@+*~-".contains(character);
    let speaks_of_itself = value.contains("::") || value.starts_with('-');
    let keys = ["url", "pushurl", "fetch", "remote", "merge", "rebase"];
    keys.contains(&key.trim_matches([' ', '\t'])) && value.chars().all(plain) && !speaks_of_itself
}

/// Whether an entry is known to be without consequence, and written so that
/// there are no two ways to read it.
fn says_nothing(section: &str, key: &str, value: &str) -> bool {
    let key = key.trim_matches([' ', '\t']);
    let value = value.trim_matches([' ', '\t']);
    let plain = |character: char| character.is_alphanumeric() || " ._@+-'".contains(character);
    let is_known = match (section, key) {
        ("core", "repositoryformatversion") => value == "0",
        ("core", "bare") => value == "false",
        pair => INERT.contains(&pair),
    };
    is_known && value.chars().all(plain)
}
