//! `wait`: returns at the first of several conditions.

use crate::cli::Wait;
use crate::client::{Context, connect};
use crate::error::{Failure, Kind};
use crate::stdout;
use glass_proto::json;
use glass_proto::shellglass::v1::{WaitRequest, WaitResponse};
use std::path::Path;
use std::process::ExitCode;

/// Waits, and says what happened.
pub(super) async fn wait(arguments: &Wait) -> Result<ExitCode, Failure> {
    let request = request(arguments)?;
    let mut client = connect(&Context::load()?).await?;
    let answer = client.wait(request).await?.into_inner();
    if arguments.json {
        stdout::print_json(&json::value(&answer))?;
    } else {
        stdout::print(&line(&answer))?;
    }
    Ok(ExitCode::from(status(arguments, &answer)))
}

fn request(arguments: &Wait) -> Result<WaitRequest, Failure> {
    let seconds = arguments.timeout.unwrap_or(0.0);
    Ok(WaitRequest {
        shell_id: arguments.shell_id,
        exit: arguments.exit,
        pattern: arguments.pattern.clone(),
        port: arguments.port.map_or(0, u32::from),
        file: arguments.file.as_deref().map_or(Ok(String::new()), text)?,
        quiet_ms: arguments.quiet,
        // The command line has checked the range; a cast saturates.
        timeout_ms: (seconds * 1000.0).ceil() as u32,
        offset: arguments.offset,
    })
}

/// A path as the contract carries it; a relative one is the execution's.
fn text(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| Failure::new(Kind::Usage, "the path is not UTF-8"))
}

/// What happened, on one line.
fn line(answer: &WaitResponse) -> String {
    let detail = match answer.exit_code {
        Some(code) if answer.reason == "exit" => code.to_string(),
        None if answer.reason == "exit" => "unknown".to_owned(),
        _ => answer.matched.escape_debug().to_string(),
    };
    format!("{} {detail}", answer.reason).trim_end().to_owned() + "\n"
}

fn status(arguments: &Wait, answer: &WaitResponse) -> u8 {
    let is_other = !arguments.pattern.is_empty()
        || arguments.port.is_some()
        || arguments.file.is_some()
        || arguments.quiet > 0;
    match answer.reason.as_str() {
        "timeout" => Kind::Timeout.status(),
        "exit" if is_other && !arguments.exit => Kind::Failed.status(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{line, status};
    use crate::cli::{Cli, Command, Deferred, Wait};
    use clap::Parser as _;
    use glass_proto::shellglass::v1::WaitResponse;

    fn wait(words: &[&str]) -> Wait {
        let words = [&["shellglass", "wait", "7"], words].concat();
        match Cli::try_parse_from(words).expect("it makes sense").command {
            Command::Wait(Deferred(wait)) => wait,
            other => panic!("not a wait: {other:?}"),
        }
    }

    fn answer(reason: &str, matched: &str, exit_code: Option<i32>) -> WaitResponse {
        WaitResponse {
            reason: reason.to_owned(),
            matched: matched.to_owned(),
            exit_code,
        }
    }

    #[test]
    fn an_end_that_nobody_asked_for_is_a_failure() {
        let ended = answer("exit", "", Some(3));
        assert_eq!(status(&wait(&[]), &ended), 0);
        assert_eq!(status(&wait(&["--exit", "--port", "80"]), &ended), 0);
        assert_eq!(status(&wait(&["--port", "80"]), &ended), 1);
        assert_eq!(status(&wait(&[]), &answer("timeout", "", None)), 124);
        assert_eq!(
            status(&wait(&["--quiet", "5"]), &answer("quiet", "", None)),
            0
        );
    }

    #[test]
    fn what_happened_stays_on_one_line() {
        assert_eq!(line(&answer("exit", "", Some(3))), "exit 3\n");
        assert_eq!(line(&answer("exit", "", None)), "exit unknown\n");
        assert_eq!(line(&answer("pattern", "a\nb", None)), "pattern a\\nb\n");
        assert_eq!(line(&answer("quiet", "", None)), "quiet\n");
    }
}
