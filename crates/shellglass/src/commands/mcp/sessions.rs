//! `list_sessions`, `cancel`, `dispose_session` and `check_command`: one question
//! to the daemon each.

use super::answer::{Answer, Went};
use super::arguments::{Cancel, CheckCommand, DisposeSession, ListSessions};
use super::results::{BackgroundLine, Cancelled, Checked, Disposed, SessionLine, Sessions};
use super::state::State;
use crate::client::Client;
use crate::error::{Failure, Kind};
use glass_model::Role;
use glass_proto::shellglass::v1::{
    CancelRequest, CheckCommandRequest, CheckCommandResponse, ListSessionsRequest, Session,
    SessionRef,
};

/// Sessions in one list.
pub(super) const SESSIONS_MAX: usize = 100;

/// Commands in the background in one list.
const BACKGROUND_MAX: usize = 32;

/// Characters of a command in a list.
const COMMAND_CHARS_MAX: usize = 200;

impl State {
    /// The sessions that the daemon shows us, the newest activity first.
    pub(super) async fn sessions(&self, all: bool) -> Result<Vec<Session>, Failure> {
        let request = ListSessionsRequest {
            include_disposed: all,
        };
        let list = |mut client: Client, request| async move { client.list_sessions(request).await };
        let mut sessions = self.daemon.call(request, list).await?.sessions;
        sessions.sort_by_key(|session| std::cmp::Reverse(session.last_activity_unix_ms));
        Ok(sessions)
    }
}

/// Lists the sessions.
pub(super) async fn list(state: &State, arguments: ListSessions) -> Result<Answer, Failure> {
    let sessions = state
        .sessions(arguments.include_disposed == Some(true))
        .await?;
    let own = state.own.lock().await.clone();
    // A background command has a session for itself alone.
    let (behind, sessions): (Vec<Session>, Vec<Session>) =
        sessions.into_iter().partition(|session| session.background);
    let left_out = sessions.len().saturating_sub(SESSIONS_MAX);
    let shown = sessions.iter().take(SESSIONS_MAX);
    let sessions = Sessions {
        sessions: shown.map(|session| line(session, own.as_deref())).collect(),
        left_out,
        background: background(state, &behind).await?,
    };
    Ok(Answer::new(listed(&sessions), &sessions, Went::Well))
}

/// Commands in the background: those that the daemon lists, also other
/// connections', and of this connection also those that have ended.
async fn background(state: &State, behind: &[Session]) -> Result<Vec<BackgroundLine>, Failure> {
    let known = behind.iter().take(BACKGROUND_MAX);
    let mut lines: Vec<BackgroundLine> = known.map(background_line).collect();
    for (shell_id, command) in state.background(BACKGROUND_MAX) {
        if lines.iter().any(|line| line.shell_id == shell_id) {
            continue;
        }
        let shown = state.known(shell_id).shown;
        let now = state.piece(shell_id, shown, 1, 0).await?;
        lines.push(BackgroundLine {
            shell_id,
            command: command.chars().take(COMMAND_CHARS_MAX).collect(),
            running: now.running,
            exit_code: now.exit_code,
        });
    }
    Ok(lines)
}

fn background_line(session: &Session) -> BackgroundLine {
    let command = match session.running {
        true => &session.active_command,
        false => &session.last_command,
    };
    BackgroundLine {
        shell_id: session.last_shell_id,
        command: command.chars().take(COMMAND_CHARS_MAX).collect(),
        running: session.running,
        exit_code: session.last_exit_code.filter(|_| !session.running),
    }
}

fn line(session: &Session, own: Option<&str>) -> SessionLine {
    let command = match session.running {
        true => &session.active_command,
        false => &session.last_command,
    };
    SessionLine {
        session_id: session.session_id.clone(),
        own: own == Some(session.session_id.as_str()),
        name: session.name.clone(),
        cwd: session.working_directory.clone(),
        running: session.running,
        command: command.chars().take(COMMAND_CHARS_MAX).collect(),
        shell_id: Some(session.last_shell_id).filter(|id| *id != 0),
        exit_code: session.last_exit_code.filter(|_| !session.running),
    }
}

fn listed(sessions: &Sessions) -> String {
    let mut text = String::new();
    if sessions.sessions.is_empty() {
        text.push_str("There is no session: execute_command makes one.\n");
    }
    for session in &sessions.sessions {
        let own = if session.own {
            " (this connection's)"
        } else {
            ""
        };
        let what = match (session.running, session.shell_id) {
            (true, Some(id)) => format!("runs shell_id {id}: {}", session.command.escape_debug()),
            (false, Some(id)) => {
                format!(
                    "idle, last shell_id {id}: {}",
                    session.command.escape_debug()
                )
            }
            (_, None) => "idle, nothing has run in it".to_owned(),
        };
        let (id, cwd) = (&session.session_id, session.cwd.escape_debug());
        text.push_str(&format!("{id}{own} in {cwd} {what}\n"));
    }
    if sessions.left_out > 0 {
        text.push_str(&format!("[and {} older ones]\n", sessions.left_out));
    }
    for line in &sessions.background {
        let state = match (line.running, line.exit_code) {
            (true, _) => "runs".to_owned(),
            (false, Some(code)) => format!("ended with exit code {code}"),
            (false, None) => "ended".to_owned(),
        };
        let (id, command) = (line.shell_id, line.command.escape_debug());
        text.push_str(&format!(
            "in the background: shell_id {id} {state}: {command}\n"
        ));
    }
    text
}

/// Ends what runs.
pub(super) async fn cancel(state: &State, arguments: Cancel) -> Result<Answer, Failure> {
    let session_id = match (arguments.session_id, arguments.shell_id) {
        (Some(_), Some(_)) => {
            return Err(Failure::new(Kind::Usage, "cancel: two things are named")
                .hint("give either shell_id or session_id"));
        }
        (Some(id), None) => id,
        (None, Some(_)) => String::new(),
        (None, None) => match state.own.lock().await.clone() {
            Some(own) => own,
            None => {
                return Err(
                    Failure::new(Kind::Usage, "cancel: nothing has run here yet")
                        .hint("give a shell_id or a session_id"),
                );
            }
        },
    };
    let request = CancelRequest {
        session_id,
        shell_id: arguments.shell_id,
        ..CancelRequest::default()
    };
    let cancel = |mut client: Client, request| async move { client.cancel(request).await };
    let cancelled = state.daemon.call(request, cancel).await?.cancelled;
    let text = match cancelled {
        true => "Cancelled: nothing of the command is left. A session that it ran in goes on.",
        false => "Nothing was running.",
    };
    Ok(Answer::new(
        text.to_owned(),
        &Cancelled { cancelled },
        Went::Well,
    ))
}

/// Ends a session.
pub(super) async fn dispose(state: &State, arguments: DisposeSession) -> Result<Answer, Failure> {
    let session_id = arguments.session_id;
    let request = SessionRef {
        session_id: session_id.clone(),
    };
    let dispose =
        |mut client: Client, request| async move { client.dispose_session(request).await };
    state.daemon.call(request, dispose).await?;
    let mut own = state.own.lock().await;
    let was_own = own.as_ref() == Some(&session_id);
    if was_own {
        *own = None;
    }
    let next = match was_own {
        true => " It was this connection's: the next command begins a new one.",
        false => "",
    };
    let text = format!(
        "Session {session_id} is disposed of, with whatever ran in it. What it wrote can still be \
         read.{next}"
    );
    Ok(Answer::new(text, &Disposed { session_id }, Went::Well))
}

/// The daemon's word about a command, as it would run here: in this
/// connection's session, or where that would be made.
async fn ask_about(
    state: &State,
    arguments: CheckCommand,
) -> Result<CheckCommandResponse, Failure> {
    let ask = |request| {
        let check =
            |mut client: Client, request| async move { client.check_command(request).await };
        state.daemon.call(request, check)
    };
    let asked = CheckCommandRequest {
        command: arguments.command,
        working_directory: arguments.cwd.unwrap_or_default(),
        shell: arguments.shell.unwrap_or_default(),
        // Over HTTP a client may be a person's own.
        as_person: state.role == Role::Person,
        ..CheckCommandRequest::default()
    };
    if let Some(session_id) = state.own.lock().await.clone() {
        let request = CheckCommandRequest {
            session_id,
            ..asked.clone()
        };
        // One that is gone is made anew for the next command.
        if let Ok(answer) = ask(request).await {
            return Ok(answer);
        }
    }
    let here = state.place()?.directory()?;
    let place = std::path::Path::new(&here).join(&asked.working_directory);
    let request = CheckCommandRequest {
        working_directory: place.to_string_lossy().into_owned(),
        ..asked
    };
    Ok(ask(request).await?)
}

/// Says what would happen to a command.
pub(super) async fn check(state: &State, arguments: CheckCommand) -> Result<Answer, Failure> {
    let answer = ask_about(state, arguments).await?;
    let checked = Checked {
        decision: answer.decision,
        reasons: answer.reasons,
        commands: answer.simple_commands,
    };
    let mut text = match checked.decision.as_str() {
        "allow" => "allow: this command runs without a question\n".to_owned(),
        "ask" => "ask: a person is asked before this command runs\n".to_owned(),
        "deny" => "deny: this command is refused\n".to_owned(),
        other => format!("{other}\n"),
    };
    for reason in &checked.reasons {
        text.push_str(&format!("- {}\n", reason.escape_debug()));
    }
    if !checked.commands.is_empty() {
        text.push_str("it runs:\n");
    }
    for command in &checked.commands {
        text.push_str(&format!("- {}\n", command.escape_debug()));
    }
    Ok(Answer::new(text, &checked, Went::Well))
}

#[cfg(test)]
mod tests {
    use super::{BackgroundLine, Session, Sessions, line, listed};

    #[test]
    fn a_list_names_what_can_be_asked_for_next() {
        let session = Session {
            session_id: "s-a".to_owned(),
            working_directory: "/x\ny".to_owned(),
            running: true,
            active_command: "make".to_owned(),
            last_shell_id: 4,
            last_exit_code: Some(1),
            ..Session::default()
        };
        let line = line(&session, Some("s-a"));
        assert_eq!(
            (line.shell_id, line.exit_code, line.own),
            (Some(4), None, true)
        );
        let sessions = Sessions {
            sessions: vec![line],
            left_out: 2,
            background: vec![BackgroundLine {
                shell_id: 9,
                command: "serve".to_owned(),
                running: true,
                exit_code: None,
            }],
        };
        assert_eq!(
            listed(&sessions),
            "s-a (this connection's) in /x\\ny runs shell_id 4: make\n[and 2 older ones]\n\
             in the background: shell_id 9 runs: serve\n"
        );
    }
}
