//! `history --grep`: executions whose command or output has a text.

use super::line;
use crate::cli::History;
use crate::client::Client;
use crate::error::{Failure, Kind};
use crate::stdout::{self, Reader};
use glass_proto::json;
use glass_proto::shellglass::v1::{SearchMatch, SearchRequest, SearchResult};
use std::process::ExitCode;

/// Prints what is found, the newest first, until all has been looked at.
/// Ends with 1 where there is nothing, as `grep` does.
pub(super) async fn search(
    client: &mut Client,
    arguments: &History,
    text: &str,
) -> Result<ExitCode, Failure> {
    let mut request = SearchRequest {
        text: text.to_owned(),
        is_regex: arguments.regex,
        session_id: arguments.id.clone().unwrap_or_default(),
        ..SearchRequest::default()
    };
    let mut found = 0;
    loop {
        let answer = client.search(request.clone()).await?.into_inner();
        found += answer.results.len();
        let printed = match arguments.json {
            true => format!("{}\n", json::value(&answer)),
            false => answer.results.iter().map(entry).collect(),
        };
        let is_read = stdout::write(printed.as_bytes())? != Reader::Gone;
        match answer.next_before_shell_id {
            Some(next) if is_read => request.before_shell_id = next,
            _ => break,
        }
    }
    if found == 0 {
        let message = format!("nothing that ran has '{}'", text.escape_debug());
        return Err(Failure::new(Kind::Failed, message)
            .hint("case does not matter; with --regex the text is a pattern over lines"));
    }
    Ok(ExitCode::SUCCESS)
}

/// An execution as `history` shows it, with its session, and the lines that match
/// below it.
fn entry(result: &SearchResult) -> String {
    let Some(execution) = &result.execution else {
        return String::new();
    };
    let mut text = format!("{}{}", result.session_id, line(execution));
    for found in &result.in_output {
        let SearchMatch {
            before,
            text: matched,
            after,
        } = found;
        let shown = format!("{before}{matched}{after}");
        // Nothing in it moves the cursor.
        text.push_str(&format!("          {}\n", shown.escape_debug()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::entry;
    use glass_proto::shellglass::v1::{Execution, SearchMatch, SearchResult};

    #[test]
    fn lines_that_match_stand_below_their_execution() {
        let found = SearchMatch {
            before: "an ".to_owned(),
            text: "error".to_owned(),
            after: " \u{1b}[2J".to_owned(),
        };
        let text = entry(&SearchResult {
            session_id: "s-1".to_owned(),
            execution: Some(Execution {
                shell_id: 7,
                command: "make".to_owned(),
                ..Execution::default()
            }),
            in_output: vec![found],
            ..SearchResult::default()
        });
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].starts_with("s-1 ") && lines[0].ends_with("make"),
            "{text}"
        );
        assert_eq!(lines[1], "          an error \\u{1b}[2J");
        assert_eq!(lines.len(), 2);
    }
}
