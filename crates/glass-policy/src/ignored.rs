//! Commands that name an ignored path.

use crate::decide::Command;
use crate::line::Word;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use thiserror::Error;

/// The patterns of an ignore file, in the syntax of gitignore.
#[derive(Clone, Debug)]
pub struct Ignored {
    root: String,
    patterns: Gitignore,
    /// Patterns without wildcards: what a wildcard of a command could name.
    names: Vec<String>,
}

/// Why an ignore file cannot be used.
#[derive(Debug, Error)]
#[error("line {line} of the ignore list is no pattern: {text}")]
pub struct IgnoreError {
    /// Counted from 1.
    pub line: usize,
    /// What stands there.
    pub text: String,
}

/// A path that a command names and that is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredPath {
    /// The word of the command.
    pub word: String,
    /// The path in it.
    pub path: String,
    /// The pattern that it matches.
    pub pattern: String,
}

impl Ignored {
    /// Reads patterns that hold below `root`, an absolute path.
    pub fn parse(root: &str, text: &str) -> Result<Ignored, IgnoreError> {
        Ignored::of_patterns(root, text.lines())
    }

    /// The same, of patterns that are told apart already.
    pub fn of_patterns<'a>(
        root: &str,
        patterns: impl IntoIterator<Item = &'a str>,
    ) -> Result<Ignored, IgnoreError> {
        let mut builder = GitignoreBuilder::new(root);
        let mut names = Vec::new();
        for (index, line) in patterns.into_iter().enumerate() {
            let bad = |_| IgnoreError {
                line: index + 1,
                text: line.to_owned(),
            };
            builder.add_line(None, line).map_err(bad)?;
            let name = line.trim().trim_matches('/');
            let plain = !name.contains(['*', '?', '[', '\\']) && !name.starts_with(['#', '!']);
            if plain && !name.is_empty() {
                names.push(name.to_owned());
            }
        }
        let patterns = builder.build().map_err(|_| IgnoreError {
            line: 0,
            text: String::new(),
        })?;
        Ok(Ignored {
            root: root.trim_end_matches('/').to_owned(),
            patterns,
            names,
        })
    }

    /// The first ignored path that a command names when it runs in `cwd`, an
    /// absolute path.
    pub fn named_by(&self, command: &Command, cwd: &str) -> Option<IgnoredPath> {
        let line = command.line();
        let mut found = None;
        command.look(&mut |words, _| {
            if found.is_none() {
                found = words.iter().find_map(|word| self.in_word(word, cwd));
            }
        });
        let own = line.commands.iter().flat_map(|simple| &simple.redirects);
        let mut targets = own.chain(&line.redirects).map(|redirect| &redirect.target);
        found.or_else(|| targets.find_map(|target| self.in_word(target, cwd)))
    }

    fn in_word(&self, word: &Word, cwd: &str) -> Option<IgnoredPath> {
        candidates(&word.value).into_iter().find_map(|path| {
            let pattern = self
                .pattern_of(path, cwd)
                .or_else(|| match word.pattern_at {
                    Some(_) => self.name_that_fits(path),
                    None => None,
                })?;
            Some(IgnoredPath {
                word: word.raw.clone(),
                path: path.to_owned(),
                pattern,
            })
        })
    }

    fn pattern_of(&self, path: &str, cwd: &str) -> Option<String> {
        let absolute = match path.starts_with('/') {
            true => path.to_owned(),
            false => format!("{cwd}/{path}"),
        };
        let absolute = normal(&absolute);
        let below = absolute.strip_prefix(&self.root)?;
        let below = below.strip_prefix('/').filter(|below| !below.is_empty())?;
        // Whether it is a directory cannot be known here, so it may be either.
        [false, true].into_iter().find_map(|is_directory| {
            let found = self
                .patterns
                .matched_path_or_any_parents(below, is_directory);
            found.is_ignore().then(|| {
                found
                    .inner()
                    .map_or(String::new(), |glob| glob.original().to_owned())
            })
        })
    }

    /// A wildcard that could become an ignored name.
    fn name_that_fits(&self, pattern: &str) -> Option<String> {
        let last = pattern.rsplit('/').next().unwrap_or(pattern);
        let mut builder = GitignoreBuilder::new("/");
        builder.add_line(None, last).ok()?;
        let glob = builder.build().ok()?;
        let fits = |name: &&String| {
            let name = name.rsplit('/').next().unwrap_or(name);
            // `*` alone does not name dot files.
            let hidden = name.starts_with('.') && !last.starts_with('.');
            !hidden && glob.matched(name, false).is_ignore()
        };
        self.names.iter().find(fits).cloned()
    }
}

/// The paths that a word may hold: itself, or what follows `=`, `:`, `@` or a
/// short flag.
fn candidates(value: &str) -> Vec<&str> {
    let mut found = vec![value];
    for mark in ['=', ':', '@', ','] {
        found.extend(value.split(mark).skip(1));
        found.extend(value.split(mark).next());
    }
    if value.starts_with('-') && !value.starts_with("--") {
        found.extend(value.get(2..));
    }
    found.retain(|path| !path.is_empty());
    found
}

fn normal(path: &str) -> String {
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
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::Ignored;
    use crate::Command;
    use glass_model::ShellKind;

    const PATTERNS: &str = "# secrets\n.env\n*.pem\nsecrets/\n/build/private\n!public.pem\n";

    fn named(line: &str, cwd: &str) -> Option<String> {
        let ignored = Ignored::parse("/w", PATTERNS).expect("the patterns are well formed");
        let command = Command::parse(line, ShellKind::Bash);
        ignored.named_by(&command, cwd).map(|found| found.path)
    }

    #[test]
    fn an_ignored_path_is_found_wherever_it_is_named() {
        for (line, path) in [
            ("cat .env", ".env"),
            ("cat ./a/../.env", "./a/../.env"),
            ("cat '.e'nv", ".env"),
            ("cat < .env", ".env"),
            ("cp x.pem /tmp", "x.pem"),
            ("grep -r x secrets/a/b", "secrets/a/b"),
            ("grep -f.env x", ".env"),
            ("tool --file=.env", ".env"),
            ("git show HEAD:.env", ".env"),
            ("curl -d @.env x", ".env"),
            ("sh -c 'cat .env'", ".env"),
            ("env cat /w/.env", "/w/.env"),
            ("echo $(cat .env)", ".env"),
            ("cat .e*", ".e*"),
            ("cat build/private/x", "build/private/x"),
        ] {
            assert_eq!(named(line, "/w").as_deref(), Some(path), "{line}");
        }
        assert_eq!(named("cat ../.env", "/w/src").as_deref(), Some("../.env"));
    }

    #[test]
    fn other_paths_are_not() {
        for line in [
            "cat env",
            "ls",
            "cat public.pem",
            "cat src/build/private",
            "cat /etc/.env",
        ] {
            assert_eq!(named(line, "/w"), None, "{line}");
        }
    }
}
