//! A line as the wire describes it.

use crate::line::{Line, Obstacle, Redirect, RedirectKind, SimpleCommand};
use glass_model::{Argument, CommandReading, ExecutableCommand};

/// What the line is, for callers and hooks.
pub fn reading(line: &Line) -> CommandReading {
    let redirects = || {
        let own = line.commands.iter().flat_map(|command| &command.redirects);
        own.chain(&line.redirects)
    };
    let listed = line
        .commands
        .iter()
        .filter(|command| !command.text.is_empty());
    CommandReading {
        parsing_failed: line.failure.is_some(),
        simple_commands: listed.clone().map(|command| command.text.clone()).collect(),
        executable_commands: listed.filter_map(executable).collect(),
        has_input_redirect: redirects().any(reads),
        has_output_redirect: redirects().any(writes),
        has_command_substitution: line.obstacles.iter().any(|(obstacle, _)| {
            matches!(
                obstacle,
                Obstacle::Substitution | Obstacle::ProcessSubstitution
            )
        }),
    }
}

fn executable(command: &SimpleCommand) -> Option<ExecutableCommand> {
    let (name, arguments) = command.words.split_first()?;
    let arguments = arguments.iter().map(|word| Argument {
        kind: word.kind(),
        value: word.value.clone(),
    });
    Some(ExecutableCommand {
        name: name.value.clone(),
        arguments: arguments.collect(),
        full_text: command.text.clone(),
    })
}

fn reads(redirect: &Redirect) -> bool {
    matches!(
        redirect.kind,
        RedirectKind::Read
            | RedirectKind::ReadWrite
            | RedirectKind::HereDocument
            | RedirectKind::HereString
    )
}

fn writes(redirect: &Redirect) -> bool {
    matches!(redirect.kind, RedirectKind::Write | RedirectKind::ReadWrite)
}
