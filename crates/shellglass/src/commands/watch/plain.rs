//! The overview as lines of text, for who is no terminal.

use super::page::cells;
use super::words;
use glass_proto::shellglass::v1::Overview;

/// One line of figures, then one for each session.
pub(super) fn plain(overview: &Overview) -> String {
    let waiting = overview.approvals.len();
    #[allow(clippy::cast_precision_loss, reason = "a figure is for people")]
    let bytes = overview.output_bytes_total as f64;
    let mut text = format!(
        "{} sessions  {} commands  {}  {waiting} approvals waiting\n",
        overview.sessions.len(),
        overview.commands_total,
        words::bytes(bytes),
    );
    for row in &overview.sessions {
        let Some(session) = &row.session else {
            continue;
        };
        let mut approvals = overview.approvals.iter();
        let asks = approvals.any(|approval| approval.session_id == session.session_id);
        let [name, mode, state, time, branch, directory, command, inside] =
            cells(row, asks, overview.unix_ms);
        let parts = [
            state.as_str(),
            mode.as_str(),
            &time,
            &branch,
            &directory,
            &command,
            &inside,
        ];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let id = &session.session_id;
        let title = match name == *id {
            true => name,
            false => format!("{id}  {name}"),
        };
        text += &format!("{title}  {}\n", parts.join("  "));
    }
    text
}
