//! The little of git's configuration that decides what is protected.

use std::path::{Path, PathBuf};

use crate::place::read_bounded;

/// The longest configuration.
const CONFIG_BYTES_MAX: u64 = 1 << 20;

/// The most values kept of one configuration.
const VALUES_MAX: usize = 1024;

/// What of a configuration matters to a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Relevant {
    /// `core.hooksPath`, the last one.
    pub hooks_path: Option<String>,
    /// `core.worktree`.
    pub worktree: Option<String>,
    /// `extensions.worktreeConfig`.
    pub worktree_config: bool,
    /// The paths of `include` and `includeIf`. Whether a condition holds can
    /// change, so all of them count.
    pub includes: Vec<String>,
}

/// What of a file matters; nothing if it cannot be read.
pub(crate) fn relevant(path: &Path) -> Relevant {
    let mut found = Relevant::default();
    let Ok(bytes) = read_bounded(path, CONFIG_BYTES_MAX) else {
        return found;
    };
    for (section, key, value) in parse(&String::from_utf8_lossy(&bytes)) {
        match (section.as_str(), key.as_str()) {
            ("core", "hookspath") => found.hooks_path = Some(value),
            ("core", "worktree") => found.worktree = Some(value),
            ("extensions", "worktreeconfig") => {
                found.worktree_config = !matches!(value.as_str(), "false" | "no" | "off" | "0");
            }
            ("include" | "includeif", "path") => found.includes.push(value),
            _ => {}
        }
    }
    found
}

/// A path of a configuration file, as git takes it.
pub(crate) fn resolve(value: &str, base: &Path, home: Option<&Path>) -> Option<PathBuf> {
    if value.is_empty() || value.starts_with("%(prefix)") {
        return None;
    }
    match value.strip_prefix("~/") {
        Some(rest) => Some(home?.join(rest)),
        // `~user/` names a place that is not ours.
        None if value.starts_with('~') => None,
        None => Some(base.join(value)),
    }
}

/// Sections without their subsection, keys and values; names in lower case.
fn parse(text: &str) -> Vec<(String, String, String)> {
    let mut values = Vec::new();
    let mut section = String::new();
    let joined = text.replace("\\\r\n", "").replace("\\\n", "");
    for line in joined.lines() {
        let mut line = line.trim().trim_start_matches('\u{feff}').trim_start();
        if let Some(rest) = line.strip_prefix('[') {
            let (head, tail) = split_header(rest);
            let name = head.split(['.', ' ', '\t', '"']).next().unwrap_or_default();
            section = name.to_ascii_lowercase();
            // A value may stand behind its section, on the same line.
            line = tail.trim();
        }
        if line.is_empty() || line.starts_with(['#', ';']) || values.len() >= VALUES_MAX {
            continue;
        }
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (key.trim(), unquote(value.trim())),
            None => (line, "true".to_owned()),
        };
        values.push((section.clone(), key.to_ascii_lowercase(), value));
    }
    values
}

/// A header up to its `]`, which may stand quoted in a subsection, and the
/// rest of the line.
fn split_header(text: &str) -> (&str, &str) {
    let mut quoted = false;
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ']' if !quoted => return (&text[..at], &text[at + 1..]),
            _ => {}
        }
    }
    (text, "")
}

fn unquote(value: &str) -> String {
    let mut text = String::new();
    let mut quoted = false;
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => quoted = !quoted,
            '#' | ';' if !quoted => break,
            '\\' => match characters.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('b') => text.push('\u{8}'),
                Some(other) => text.push(other),
                None => {}
            },
            other => text.push(other),
        }
    }
    if quoted {
        text
    } else {
        text.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{Relevant, parse, relevant, resolve};
    use std::path::{Path, PathBuf};

    fn check(text: &str, expected: &[(&str, &str, &str)]) {
        let found = parse(text);
        let found: Vec<(&str, &str, &str)> = found
            .iter()
            .map(|(s, k, v)| (s.as_str(), k.as_str(), v.as_str()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn configuration_is_read_as_git_reads_it() {
        check(
            "[core]\n\thooksPath = .husky/_ ; a\n",
            &[("core", "hookspath", ".husky/_")],
        );
        check("[CORE] HooksPath=a\\\nb\n", &[("core", "hookspath", "ab")]);
        check(
            "[core]\nhooksPath = \"a # b\" # c\n",
            &[("core", "hookspath", "a # b")],
        );
        check(
            "[includeIf \"gitdir:~/x]/\"]\npath = ../evil",
            &[("includeif", "path", "../evil")],
        );
        check("[core]\nbare\n", &[("core", "bare", "true")]);
        check("# [core]\n; x = y\n", &[]);
        check("[a", &[]);
    }

    #[test]
    fn the_last_hooks_path_counts() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config");
        let text = "[core]\nhooksPath=a\n[extensions]\nworktreeConfig=true\n[core]\nhookspath=b";
        std::fs::write(&file, text).unwrap();
        let found = relevant(&file);
        assert_eq!(found.hooks_path.as_deref(), Some("b"));
        assert!(found.worktree_config);
        assert_eq!(relevant(&dir.path().join("none")), Relevant::default());
    }

    #[test]
    fn paths_are_relative_to_a_base_or_the_home() {
        let at = |value| resolve(value, Path::new("/b"), Some(Path::new("/h")));
        assert_eq!(at("x"), Some(PathBuf::from("/b/x")));
        assert_eq!(at("/x"), Some(PathBuf::from("/x")));
        assert_eq!(at("~/x"), Some(PathBuf::from("/h/x")));
        assert_eq!(at("~root/x"), None);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "\\PC*|[\\[\\]\"=\\\\#;a\n]*") {
            parse(&text);
        }
    }
}
