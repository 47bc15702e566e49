//! Command lines that are mentioned and not shown: their subcommands and flags
//! must be those that the program has.

use shellglass_tests::program;
use std::collections::HashMap;
use std::process::Command;

/// What the program says about its commands.
#[derive(Default)]
pub(super) struct Help(HashMap<Vec<String>, String>);

impl Help {
    /// Checks a piece of code; says whether it was a command line of ours.
    pub(super) fn check(&mut self, span: &str) -> Result<bool, String> {
        let mut words = span.split_whitespace();
        match words.next() {
            Some("shellglass") => {}
            Some("make") if words.clone().count() == 1 && !span.contains(" -") => {
                return in_makefile(words.next());
            }
            _ => return Ok(false),
        }
        // What another program is given, or what comes after it, is not ours.
        let words: Vec<&str> = words
            .take_while(|word| !"|;&<>".contains(&word[..1]))
            .collect();
        let mut path = Vec::new();
        for word in &words {
            let names = subcommands(self.of(&path));
            if word.starts_with('-') || names.is_empty() {
                break;
            }
            if !names.iter().any(|name| name == word) {
                // A page may speak of `shellglass session …` or of its files.
                let is_name = word.chars().all(|letter| letter.is_ascii_lowercase());
                return if is_name {
                    Err(format!("there is no command {word:?}"))
                } else {
                    Ok(true)
                };
            }
            path.push((*word).to_owned());
        }
        let help = self.of(&path).to_owned();
        let mut quoted = false;
        for word in words {
            let flag = word.trim_matches(['[', ']', '.', '…']);
            let flag = flag.split('=').next().unwrap_or(flag);
            if !quoted && flag.starts_with("--") && flag.len() > 2 && !has(&help, flag) {
                return Err(format!("there is no flag {flag}"));
            }
            quoted ^= word.matches(['\'', '"']).count() % 2 == 1;
        }
        Ok(true)
    }

    fn of(&mut self, path: &[String]) -> &str {
        self.0.entry(path.to_vec()).or_insert_with(|| {
            let said = Command::new(program()).args(path).arg("--help").output();
            let said = said.expect("the program can be started");
            assert!(said.status.success(), "{path:?} has no help");
            String::from_utf8(said.stdout).expect("help is text")
        })
    }
}

fn has(help: &str, flag: &str) -> bool {
    let mut words = help.split([' ', ',', '\n', '=', '[']);
    words.any(|word| word == flag)
}

fn subcommands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let named = lines.take_while(|line| line.starts_with("  "));
    let names = named.filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

fn in_makefile(target: Option<&str>) -> Result<bool, String> {
    let target = target.expect("one word follows");
    let makefile = std::fs::read_to_string(super::root().join("Makefile")).unwrap();
    let rule = format!("{target}:");
    if makefile.lines().any(|line| line.starts_with(&rule)) {
        return Ok(true);
    }
    Err("the Makefile has no such target".to_owned())
}
