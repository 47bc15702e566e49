//! What a person means by "always": a prefix of human size.

use crate::decide::Command;
use crate::knowledge::knowledge;
use crate::limits::PREFIX_WORDS_MAX;
use crate::line::Word;
use crate::rules::Rule;
use crate::unwrap::base_name;
use glass_model::Verdict;

/// The words that should be remembered of a command: `npm run dev` is three.
/// None, where no prefix says what would run: shells, wrappers, interpreters.
pub fn prefix_of(words: &[Word]) -> Option<Vec<String>> {
    let name = words.first()?;
    let known = knowledge();
    if known.wrapper(base_name(name)).is_some() || !name.is_literal() {
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

fn is_interpreter(name: &str) -> bool {
    const NAMES: [&str; 12] = [
        "python",
        "python3",
        "node",
        "nodejs",
        "perl",
        "ruby",
        "php",
        "lua",
        "awk",
        "gawk",
        "deno",
        "osascript",
    ];
    NAMES.contains(&name)
}

/// The rules that a person's "always" makes of a command: one for each part.
/// None, where a part cannot be remembered.
pub fn remember(command: &Command) -> Option<Vec<Rule>> {
    let line = command.line();
    if line.failure.is_some() || !line.obstacles.is_empty() || line.commands.is_empty() {
        return None;
    }
    let mut rules: Vec<Rule> = Vec::new();
    for simple in &line.commands {
        let prefix = prefix_of(&simple.words)?;
        if rules.iter().all(|rule| rule.prefix != prefix) {
            rules.push(Rule {
                prefix,
                verdict: Verdict::Allow,
                reason: "A person said so.".to_owned(),
                matches: Vec::new(),
                not_matches: Vec::new(),
            });
        }
    }
    Some(rules)
}

#[cfg(test)]
mod tests {
    use super::{Command, remember};
    use glass_model::ShellKind;

    fn check(line: &str, expected: Option<&[&str]>) {
        let rules = remember(&Command::parse(line, ShellKind::Bash));
        let prefixes = rules.map(|rules| {
            let joined = rules.iter().map(|rule| rule.prefix.join(" "));
            joined.collect::<Vec<_>>()
        });
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
            "git -C /tmp status",
            "xargs rm",
            "eval ls",
            "a $(b)",
            "$X a",
            "npm",
            "npm run",
        ] {
            check(line, None);
        }
    }
}
