//! `stdin`: writes to a background command.

use crate::cli::Stdin;
use crate::client::{Context, connect};
use crate::error::{Failure, Kind};
use glass_proto::agent::v1::WriteShellStdinArgs;
use glass_proto::agent::v1::write_shell_stdin_result::Result as Written;
use std::process::ExitCode;

/// What ends standard input: Ctrl+D.
const END: char = '\u{4}';

/// Writes the text, and what was asked for after it.
pub(super) async fn stdin(arguments: &Stdin) -> Result<ExitCode, Failure> {
    let chars = chars(arguments);
    if chars.is_empty() {
        let hint = "give a text, --enter or --end";
        return Err(Failure::new(Kind::Usage, "there is nothing to write").hint(hint));
    }
    let mut client = connect(&Context::load()?).await?;
    let request = WriteShellStdinArgs {
        shell_id: arguments.shell_id,
        chars,
    };
    let answer = client.write_stdin(request).await?.into_inner();
    match answer.result {
        Some(Written::Success(_)) => Ok(ExitCode::SUCCESS),
        Some(Written::Error(error)) => Err(failure(&error.error)),
        None => Err(Failure::new(Kind::Broken, "the daemon did not answer")),
    }
}

fn chars(arguments: &Stdin) -> String {
    let mut chars = arguments.text.clone();
    chars.extend(arguments.enter.then_some('\n'));
    chars.extend(arguments.end.then_some(END));
    chars
}

/// The hint has a line of its own.
fn failure(error: &str) -> Failure {
    match error.split_once("\nhint: ") {
        Some((message, hint)) => Failure::new(Kind::Failed, message).hint(hint),
        None => Failure::new(Kind::Failed, error),
    }
}

#[cfg(test)]
mod tests {
    use super::{chars, failure};
    use crate::cli::Stdin;

    #[test]
    fn the_text_comes_first_and_the_end_last() {
        let arguments = Stdin {
            shell_id: 1,
            text: "a\n".to_owned(),
            enter: true,
            end: true,
        };
        assert_eq!(chars(&arguments), "a\n\n\u{4}");
    }

    #[test]
    fn a_hint_is_told_apart() {
        let failure = failure("it is over\nhint: start it again");
        assert_eq!(failure.message, "it is over");
        assert_eq!(failure.hint.as_deref(), Some("start it again"));
    }
}
