//! What a person means by "always": a prefix of human size.

use crate::knowledge::knowledge;
use crate::limits::PREFIX_WORDS_MAX;
use crate::line::Word;
use crate::unwrap::base_name;

/// The words that should be remembered of a command: `npm run dev` is three.
/// None, where no prefix says what would run: shells, wrappers, interpreters.
pub fn prefix_of(words: &[Word]) -> Option<Vec<String>> {
    let name = words.first()?;
    let known = knowledge();
    // A path may lead to another program tomorrow, or in another directory.
    let is_path = name.value.contains('/');
    if known.wrapper(base_name(name)).is_some() || !name.is_literal() || is_path {
        return None;
    }
    let literal: Vec<&str> = words
        .iter()
        .take(PREFIX_WORDS_MAX)
        .take_while(|word| word.is_literal())
        .map(|word| word.value.as_str())
        .collect();
    let entry = (1..=literal.len()).rev().find_map(|count| {
        let words = known.arity.get(&literal[..count].join(" "))?;
        Some((count, *words))
    });
    let (named, count) = match entry {
        Some(entry) => entry,
        None if is_interpreter(base_name(name)) => return None,
        None => (1, 1),
    };
    // A flag is no subcommand: `git -C x status` is nothing to remember.
    let prefix = literal.get(..count.max(named))?;
    if prefix[named..].iter().any(|word| word.starts_with('-')) {
        return None;
    }
    Some(prefix.iter().map(|word| (*word).to_owned()).collect())
}

/// Whether a program runs the text of a file or of its arguments. Versions in a
/// name do not matter: `python3.12`.
fn is_interpreter(name: &str) -> bool {
    const NAMES: [&str; 33] = [
        "awk",
        "bun",
        "deno",
        "elixir",
        "expect",
        "gawk",
        "ghci",
        "groovy",
        "guile",
        "ipython",
        "irb",
        "java",
        "julia",
        "lua",
        "luajit",
        "mawk",
        "nawk",
        "node",
        "nodejs",
        "ocaml",
        "osascript",
        "perl",
        "php",
        "pypy",
        "python",
        "r",
        "rscript",
        "ruby",
        "scala",
        "swift",
        "tclsh",
        "ts-node",
        "tsx",
    ];
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    NAMES.contains(&plain.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::prefix_of;
    use crate::decide::Command;
    use glass_model::ShellKind;

    fn check(line: &str, expected: Option<&[&str]>) {
        let command = Command::parse(line, ShellKind::Bash);
        let parts = command.line().commands.iter();
        let prefixes: Option<Vec<String>> = parts
            .map(|simple| Some(prefix_of(&simple.words)?.join(" ")))
            .collect();
        let expected =
            expected.map(|list| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>());
        assert_eq!(prefixes, expected, "{line}");
    }

    #[test]
    fn a_prefix_has_the_size_that_a_person_means() {
        check("npm run dev -- --port 1", Some(&["npm run dev"]));
        check("git push origin main", Some(&["git push"]));
        check("git stash pop", Some(&["git stash pop"]));
        check("docker compose up -d", Some(&["docker compose up"]));
        check("mkdir -p a/b", Some(&["mkdir"]));
        check("python3 -m pytest -q", Some(&["python3 -m pytest"]));
        check("gh pr list --limit 5", Some(&["gh pr list"]));
        check("mkdir a && touch a/b", Some(&["mkdir", "touch"]));
    }

    #[test]
    fn what_runs_something_else_is_not_remembered() {
        for line in [
            "sh -c ls",
            "sudo ls",
            "env A=1 ls",
            "python3 -c 1",
            "python3 a.py",
            "python3.12 manage.py test",
            "Rscript x.R",
            "./build.sh prod",
            "/usr/bin/make all",
            "git -C /tmp status",
            "xargs rm",
            "eval ls",
            "$X a",
            "npm",
            "npm run",
        ] {
            check(line, None);
        }
    }
}
