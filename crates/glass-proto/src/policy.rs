//! What is known and decided of a command line, on the wire.

use crate::agent::v1 as agent;
use crate::agent::v1::shell_command_parsing_result as parsing;
use crate::shellglass::v1::CheckCommandResponse;
use glass_model::{CommandReading, Decision, ExecutableCommand, Reason};

/// What a command line is.
pub fn parsing_result(reading: &CommandReading) -> agent::ShellCommandParsingResult {
    agent::ShellCommandParsingResult {
        parsing_failed: reading.parsing_failed,
        executable_commands: reading.executable_commands.iter().map(executable).collect(),
        has_redirects: reading.has_input_redirect || reading.has_output_redirect,
        has_command_substitution: reading.has_command_substitution,
    }
}

fn executable(command: &ExecutableCommand) -> parsing::ExecutableCommand {
    let arguments = command.arguments.iter();
    parsing::ExecutableCommand {
        name: command.name.clone(),
        args: arguments
            .map(|argument| parsing::executable_command::Arg {
                r#type: argument.kind.name().to_owned(),
                value: argument.value.clone(),
            })
            .collect(),
        full_text: command.full_text.clone(),
    }
}

/// The answer to a caller who asked what would happen.
pub fn check_command(reading: &CommandReading, decision: &Decision) -> CheckCommandResponse {
    CheckCommandResponse {
        decision: decision.verdict.name().to_owned(),
        reasons: reasons(decision),
        simple_commands: reading.simple_commands.clone(),
        has_input_redirect: reading.has_input_redirect,
        has_output_redirect: reading.has_output_redirect,
        parsing_result: Some(parsing_result(reading)),
    }
}

/// Which part, why, by which rule; and what rule would allow it.
pub fn reasons(decision: &Decision) -> Vec<String> {
    let mut texts: Vec<String> = decision.reasons.iter().map(reason).collect();
    for prefix in &decision.would_allow {
        texts.push(format!("a rule would allow it: prefix = {prefix:?}"));
    }
    texts
}

fn reason(reason: &Reason) -> String {
    let part = match reason.part.as_str() {
        "" => String::new(),
        part => format!("`{part}`: "),
    };
    match (&reason.rule, reason.why.as_str()) {
        (Some(rule), "") => format!("{part}({rule})"),
        (Some(rule), why) => format!("{part}{why} ({rule})"),
        (None, why) => format!("{part}{why}"),
    }
}
