//! What to type instead, where a command line makes no sense and its author most
//! likely meant something that there is.

use super::Cli;
use crate::error::Kind;
use clap::Parser as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::process::ExitCode;

/// Words that other programs have for what we call something else.
const OTHER_WORDS: &[(&[&str], &str)] = &[
    (
        &["ls", "list", "ps", "sessions"],
        "`shellglass session list` shows the sessions, `shellglass watch` what runs in each",
    ),
    (
        &["status", "info", "check"],
        "`shellglass doctor` tries everything, `shellglass watch` shows what runs",
    ),
    (
        &["stop", "kill", "abort"],
        "`shellglass cancel ID` ends what runs, `shellglass session dispose ID` a session; \
         the daemon ends with SIGTERM",
    ),
    (
        &["start", "daemon", "up"],
        "`shellglass serve --detach` starts the daemon; the first `shellglass run` does, too",
    ),
    (
        &["exec", "sh", "shell", "execute"],
        "`shellglass run 'COMMAND'` runs a command",
    ),
    (
        &["log", "logs"],
        "`shellglass history` shows what ran, and `shellglass config path` where the logs are",
    ),
    (
        &["approve", "deny", "reject"],
        "`shellglass approvals` shows what waits, and answers it",
    ),
    (
        &["open", "ui", "web"],
        "`shellglass page` says where the page is",
    ),
    (&["help"], "`shellglass --help` and `man shellglass`"),
    (&["version"], "`shellglass --version`"),
];

/// Reads the command line; where it makes no sense, says why and what to do.
pub(crate) fn parse() -> Result<Cli, ExitCode> {
    let words: Vec<OsString> = std::env::args_os().collect();
    Cli::try_parse_from(&words).map_err(|mut error| {
        let lossy = |word: &OsString| word.to_string_lossy().into_owned();
        let advice = advice(&error, &words.iter().map(lossy).collect::<Vec<_>>());
        if advice.is_some() {
            // Guesses by spelling: "history" is not what `stop` meant.
            error.remove(ContextKind::SuggestedSubcommand);
            error.remove(ContextKind::SuggestedArg);
            error.remove(ContextKind::Suggested);
        }
        // There is nobody to tell where this cannot be printed.
        let _ = error.print();
        if let Some(advice) = advice {
            eprintln!("hint: {advice}");
        }
        let status = u8::try_from(error.exit_code());
        ExitCode::from(status.unwrap_or_else(|_| Kind::Usage.status()))
    })
}

fn advice(error: &clap::Error, words: &[String]) -> Option<String> {
    let said = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = said(ContextKind::InvalidSubcommand)?;
            // Below another word it is that word's business.
            let is_first = words.get(1).is_some_and(|first| first == word);
            let known = OTHER_WORDS.iter().find(|(all, _)| all.contains(&word));
            known.filter(|_| is_first).map(|(_, text)| text.to_string())
        }
        ErrorKind::UnknownArgument if words.get(1).is_some_and(|word| word == "run") => {
            Some(quoted(said(ContextKind::InvalidArg)?, words))
        }
        _ => None,
    }
}

/// How to write a command whose words were given one by one.
fn quoted(unknown: &str, words: &[String]) -> String {
    let at = words.iter().position(|word| word == unknown);
    let plain = !unknown.starts_with('-') && !words.iter().any(|word| word.contains('\''));
    match at.and_then(|at| words.get(at.checked_sub(1)?..)) {
        Some(command) if plain => {
            let command = command.join(" ");
            format!("the command is one argument: shellglass run '{command}'")
        }
        _ => "the command is one argument, in quotes: shellglass run 'ls -l'".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<&str>) {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let error = Cli::try_parse_from(&words).expect_err("it makes no sense");
        let said = advice(&error, &words);
        assert_eq!(said.is_some(), expected.is_some(), "{line}: {said:?}");
        let text = said.unwrap_or_default();
        assert!(
            text.contains(expected.unwrap_or_default()),
            "{line}: {text}"
        );
    }

    #[test]
    fn a_command_that_was_not_quoted_is_shown_quoted() {
        check("shellglass run echo a b", Some("run 'echo a b'"));
        check("shellglass run --json echo a b", Some("run 'echo a b'"));
        check("shellglass run ls -la", Some("run 'ls -l'"));
        check("shellglass run echo it's mine", Some("in quotes"));
        check("shellglass session show a b", None);
    }

    #[test]
    fn words_of_other_programs_are_understood() {
        check("shellglass ps", Some("session list"));
        check("shellglass stop", Some("cancel ID"));
        check("shellglass logs", Some("history"));
        check("shellglass session stop", None);
        check("shellglass runn", None);
    }

    #[test]
    fn no_word_that_is_understood_is_one_of_ours() {
        use clap::CommandFactory as _;
        let command = Cli::command();
        for (words, _) in OTHER_WORDS {
            for word in *words {
                assert!(command.find_subcommand(word).is_none(), "{word}");
            }
        }
    }
}
