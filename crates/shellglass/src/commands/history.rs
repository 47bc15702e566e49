//! `history`: what ran in a session, or anywhere.

mod search;

use crate::cli::History;
use crate::client::{Client, Context, connect};
use crate::commands::receipt;
use crate::commands::session::time;
use crate::error::Failure;
use crate::stdout;
use glass_proto::json;
use glass_proto::shellglass::v1::{Execution, HistoryRequest, SessionHistory, SessionRef};
use std::process::ExitCode;

/// Prints a session's history.
pub(super) async fn history(arguments: &History) -> Result<ExitCode, Failure> {
    let mut client = connect(&Context::load()?).await?;
    if let Some(text) = &arguments.grep {
        return search::search(&mut client, arguments, text).await;
    }
    let id = arguments.id.clone().unwrap_or_default();
    if arguments.asciicast {
        return recording(&mut client, id).await;
    }
    if arguments.json {
        let history = whole(&mut client, &id).await?;
        stdout::print_json(&json::value(&history))?;
    } else {
        let request = HistoryRequest {
            session_id: id,
            omit_events: true,
            ..HistoryRequest::default()
        };
        let history = client.get_session_history(request).await?.into_inner();
        stdout::print(&history.executions.iter().map(line).collect::<String>())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints a session as an asciicast.
async fn recording(client: &mut Client, session_id: String) -> Result<ExitCode, Failure> {
    let asked = client.export_recording(SessionRef { session_id }).await?;
    let mut chunks = asked.into_inner();
    while let Some(chunk) = chunks.message().await? {
        if stdout::write(&chunk.data)? == stdout::Reader::Gone {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// All pages as one.
async fn whole(client: &mut Client, id: &str) -> Result<SessionHistory, Failure> {
    let mut from_index = 0;
    let mut whole: Option<SessionHistory> = None;
    loop {
        let request = HistoryRequest {
            session_id: id.to_owned(),
            from_index,
            ..HistoryRequest::default()
        };
        let page = client.get_session_history(request).await?.into_inner();
        let next = page.next_index;
        let whole = match &mut whole {
            None => whole.insert(page),
            Some(whole) => {
                whole.events.extend(page.events);
                // A page has the executions as they are when it is read.
                whole.executions = page.executions;
                whole.cwd = page.cwd;
                whole
            }
        };
        match next {
            Some(next) if next > from_index => from_index = next,
            _ => {
                whole.next_index = None;
                return Ok(std::mem::take(whole));
            }
        }
    }
}

/// One execution on one line: its number, when, how it ended, how long, where,
/// what; and below it what stands out in its receipt, or why it did not run.
fn line(execution: &Execution) -> String {
    let took = execution
        .ended_unix_ms
        .map(|ended| ended - execution.started_unix_ms);
    let took = took.map_or_else(|| "-".to_owned(), |ms| format!("{ms} ms"));
    let noted = execution.receipt.as_ref().and_then(receipt::noteworthy);
    let why = [&execution.rejected, &execution.spawn_error];
    let why = why.into_iter().find(|text| !text.is_empty());
    let noted = noted.or_else(|| why.map(|text| text.escape_debug().to_string()));
    let noted = noted
        .map(|text| format!("{:>6}  {text}\n", ""))
        .unwrap_or_default();
    format!(
        "{:>6}  {}  {:>9}  {took:>9}  {}  {}\n{noted}",
        execution.shell_id,
        time(execution.started_unix_ms),
        end(execution),
        execution.cwd,
        // One line stays one line, and nothing in a command moves the cursor.
        execution.command.escape_debug(),
    )
}

fn end(execution: &Execution) -> String {
    match execution.exit_code {
        _ if execution.end_index.is_none() && execution.ended_unix_ms.is_none() => {
            "running".to_owned()
        }
        _ if !execution.rejected.is_empty() => "refused".to_owned(),
        _ if !execution.spawn_error.is_empty() => "not run".to_owned(),
        _ if execution.aborted => "cancelled".to_owned(),
        _ if !execution.signal.is_empty() => execution.signal.clone(),
        Some(code) => format!("exit {code}"),
        None => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::line;
    use glass_proto::shellglass::v1::Execution;

    #[test]
    fn an_execution_is_one_line() {
        let execution = Execution {
            shell_id: 17,
            command: "echo a\necho \u{1b}[2J".to_owned(),
            cwd: "/tmp".to_owned(),
            end_index: Some(3),
            exit_code: Some(0),
            started_unix_ms: 0,
            ended_unix_ms: Some(12),
            ..Execution::default()
        };
        let text = "    17  1970-01-01 00:00:00Z     exit 0      12 ms  /tmp  \
                    echo a\\necho \\u{1b}[2J\n";
        assert_eq!(line(&execution), text);
        let refused = Execution {
            exit_code: None,
            rejected: "no\u{1b}t".to_owned(),
            ..execution.clone()
        };
        let text = line(&refused);
        assert!(
            text.contains("  refused  ") && text.ends_with("\n        no\\u{1b}t\n"),
            "{text}"
        );
        let running = Execution {
            end_index: None,
            ended_unix_ms: None,
            ..execution
        };
        assert!(
            line(&running).contains("  running          -  "),
            "{}",
            line(&running)
        );
    }
}
