//! What the shell's completion offers beyond the command line's own words:
//! sessions, executions and questions of the daemon that runs. None is started
//! for it, and whoever presses Tab is not kept waiting.

use crate::client::{self, Client, Context};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use glass_proto::shellglass::v1::{Empty, ListSessionsRequest, Session};
use std::path::PathBuf;
use std::time::Duration;

/// The variable by which a shell asks for completions.
pub(crate) const VARIABLE: &str = "SHELLGLASS_COMPLETE";

/// Longest that a person who presses Tab waits for the daemon.
const ANSWER_WITHIN: Duration = Duration::from_millis(500);

/// Most that is offered.
const OFFERED_MAX: usize = 200;

/// Longest remark beside what is offered, in characters.
const REMARK_CHARS_MAX: usize = 60;

/// Ids of sessions.
pub(crate) fn sessions() -> ArgValueCandidates {
    ArgValueCandidates::new(|| offers(Of::Sessions))
}

/// Numbers of executions.
pub(crate) fn executions() -> ArgValueCandidates {
    ArgValueCandidates::new(|| offers(Of::Executions))
}

/// Names of questions.
pub(crate) fn approvals() -> ArgValueCandidates {
    ArgValueCandidates::new(|| offers(Of::Approvals))
}

#[derive(Clone, Copy)]
enum Of {
    Sessions,
    Executions,
    Approvals,
}

/// What there is; nothing where nobody can be asked.
fn offers(of: Of) -> Vec<CompletionCandidate> {
    let asked = async {
        let context = Context::load().ok()?;
        let settings = &context.loaded.settings;
        let socket = match settings.daemon.socket.as_str() {
            "" => context.dirs.daemon_socket(),
            given => PathBuf::from(given),
        };
        let client = client::dial(&socket).await.ok()?;
        pairs(client, of).await
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else {
        return Vec::new();
    };
    let limited = async { tokio::time::timeout(ANSWER_WITHIN, asked).await };
    let found = runtime.block_on(limited).ok().flatten().unwrap_or_default();
    let found = found.into_iter().take(OFFERED_MAX);
    found
        .map(|(value, remark)| CompletionCandidate::new(value).help(Some(plain(&remark).into())))
        .collect()
}

async fn pairs(mut client: Client, of: Of) -> Option<Vec<(String, String)>> {
    if let Of::Approvals = of {
        let list = client.list_approvals(Empty {}).await.ok()?.into_inner();
        let pair = |it: glass_proto::shellglass::v1::Approval| (it.approval_id, it.command);
        return Some(list.approvals.into_iter().map(pair).collect());
    }
    let list = client.list_sessions(ListSessionsRequest::default()).await;
    let mut sessions = list.ok()?.into_inner().sessions;
    // The newest is what people mean most often.
    sessions.sort_by_key(|session| std::cmp::Reverse(session.last_activity_unix_ms));
    let pair = |session: Session| match of {
        Of::Executions if session.last_shell_id == 0 => None,
        Of::Executions => {
            let command = match session.active_command.is_empty() {
                true => session.last_command,
                false => session.active_command,
            };
            Some((session.last_shell_id.to_string(), command))
        }
        Of::Sessions | Of::Approvals => {
            let remark = format!("{} {}", session.name, session.working_directory);
            Some((session.session_id, remark))
        }
    };
    Some(sessions.into_iter().filter_map(pair).collect())
}

/// A remark that a shell can show. Names, directories and commands are somebody
/// else's words, and shells split, expand and print what they are given: so only
/// what means nothing to any of them is left.
fn plain(remark: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || " /._-+=,~".contains(c);
    let words = remark.trim().chars().take(REMARK_CHARS_MAX);
    words
        .map(|c| match is_plain(c) {
            true => c,
            false => '_',
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_remark_means_nothing_to_a_shell() {
        assert_eq!(plain(" build /srv/x "), "build /srv/x");
        assert_eq!(plain("$(rm -rf ~)`x`:\n\u{1b}[2J"), "__rm -rf ~__x_____2J");
        assert_eq!(plain(&"x".repeat(500)).len(), 60);
    }
}
