//! What is said of a command, as far as it came.

use super::Call;
use crate::client::Client;
use crate::commands::mcp::answer::{Answer, Went};
use crate::commands::mcp::follow::{Begun, Course, Ending};
use crate::commands::mcp::pages::Look;
use crate::commands::mcp::request::Ask;
use crate::commands::mcp::results::{Executed, Shown, Status};
use crate::commands::mcp::same::{self, Place};
use crate::commands::mcp::sections;
use crate::commands::mcp::spent::Spent;
use crate::commands::mcp::state::{State, Waiting};
use crate::commands::mcp::words;
use crate::commands::receipt;
use crate::error::Failure;
use glass_proto::agent::v1::{ShellApprovalPending, ShellStreamExit};
use glass_proto::shellglass::v1::{Approval, Empty, SessionRef};
use std::time::Instant;

/// What to say of a call.
pub(super) async fn answer(state: &State, call: Call) -> Result<Answer, Failure> {
    let course = call.execution.course();
    let ended = match (&course.begun, &course.ending) {
        (_, Some(Ending::Exit(exit, at))) => (ShellStreamExit::clone(exit), *at),
        (_, Some(Ending::Rejected(reason))) => return Ok(refused(Status::Rejected, reason)),
        (_, Some(Ending::PermissionDenied(error))) => {
            return Ok(refused(Status::PermissionDenied, error));
        }
        (_, Some(Ending::SpawnError(error))) => return Ok(refused(Status::SpawnError, error)),
        (_, Some(Ending::Failed(status))) => return Err(status.clone().into()),
        (Some(begun), None) => return still_running(state, &call, &course, begun).await,
        (None, None) => return not_begun(state, call, &course).await,
    };
    exited(state, &call, &course, ended).await
}

async fn shown(state: &State, course: &Course, look: &Look) -> Result<Shown, Failure> {
    let shown = match &course.begun {
        Some(begun) if course.heard.is_partial => state.page(begun.shell_id, 0, look).await?,
        _ => look.at(&course.heard.bytes),
    };
    if let Some(begun) = &course.begun {
        state.note(begun.shell_id, |known| known.shown = shown.next_offset);
    }
    Ok(shown)
}

fn of_begun(begun: Option<&Begun>, until: Instant) -> Executed {
    let Some(begun) = begun else {
        return Executed::default();
    };
    let ran = until.saturating_duration_since(begun.at).as_millis();
    Executed {
        duration_ms: u64::try_from(ran).unwrap_or(u64::MAX),
        session_id: Some(begun.session_id.clone()),
        shell_id: Some(begun.shell_id),
        sandbox: begun.sandbox.as_ref().map(words::sandbox),
        ..Executed::default()
    }
}

async fn exited(
    state: &State,
    call: &Call,
    course: &Course,
    (exit, at): (ShellStreamExit, Instant),
) -> Result<Answer, Failure> {
    let mut shown = shown(state, course, &call.asked.look).await?;
    let details = exit.exit_details.clone().unwrap_or_default();
    let cwd = Some(exit.cwd.clone()).filter(|cwd| !cwd.is_empty());
    let before = match (&call.ask.session, &cwd) {
        // A background command leaves its session where it is.
        (session, Some(cwd)) if !call.asked.is_background => state.moved(session, cwd),
        _ => None,
    };
    let mut same_as = None;
    if !call.asked.is_background {
        let place = place(call, before.as_ref());
        let since = same::since_last(state, &call.asked.look, place, course, &shown).await;
        if let Some((new, last)) = since {
            (shown, same_as) = (new, Some(last));
        }
    }
    let executed = Executed {
        status: Status::Exited,
        exit_code: (!exit.code_unknown).then_some(exit.code.cast_signed()),
        signal: Some(details.signal_name).filter(|name| !name.is_empty()),
        aborted: exit.aborted,
        cwd_changed: before.is_some() && before != cwd,
        cwd,
        denials: details.sandbox_denials,
        same_as,
        receipt: exit.receipt.as_ref().map(Spent::from),
        shown,
        ..of_begun(course.begun.as_ref(), at)
    };
    let status = words::status_line(&executed, Some(&words::exit(&exit)));
    let mut text = words::with_status(&executed.shown, &status);
    if executed.shown.truncated
        && let Some(id) = executed.shell_id
    {
        let more = format!("\n[what is left out: read_output shell_id={id} offset=…, or search=…]");
        text.push_str(&more);
    }
    if let Some(line) = exit.receipt.as_ref().and_then(receipt::noteworthy) {
        text.push_str(&format!("\n[{line}]"));
    }
    if details.shell_replaced {
        text.push_str(
            "\n[the session's shell was lost and begun anew: directory and exported variables \
             are kept, other variables and functions are gone]",
        );
    }
    Ok(Answer::new(noted(text, call.note), &executed, Went::Well))
}

/// What makes another run the same: the session, the directory and the command.
fn place(call: &Call, before: Option<&String>) -> Place {
    let args = &call.ask.args;
    let directory = match args.working_directory.as_str() {
        "" => before.cloned().unwrap_or_default(),
        asked => asked.to_owned(),
    };
    Place {
        session: call.ask.session.clone(),
        directory,
        command: args.command.clone(),
    }
}

fn noted(mut text: String, note: &str) -> String {
    if !note.is_empty() {
        text.push_str(&format!("\n[{note}]"));
    }
    text
}

async fn still_running(
    state: &State,
    call: &Call,
    course: &Course,
    begun: &Begun,
) -> Result<Answer, Failure> {
    let shown = shown(state, course, &call.asked.look).await?;
    let directory = &call.ask.args.working_directory;
    let cwd = match directory.is_empty() {
        true => state.directory(&call.ask.session),
        false => Some(directory.clone()),
    };
    state.note(begun.shell_id, |known| {
        if call.asked.is_background {
            known.background = Some(call.ask.args.command.clone());
        }
    });
    let executed = Executed {
        status: Status::Running,
        running: true,
        cwd,
        shown,
        ..of_begun(Some(begun), Instant::now())
    };
    let id = begun.shell_id;
    let status = words::status_line(&executed, None);
    let mut text = words::with_status(&executed.shown, &status);
    if let Some(question) = sections::question(&executed.shown.output) {
        text.push_str(&format!("\n[{question}]"));
    }
    let next = format!(
        "{text}\n[it goes on: call wait or read_output with shell_id={id}, or cancel to end it]"
    );
    Ok(Answer::new(noted(next, call.note), &executed, Went::Well))
}

/// The command waits, for a person or for others of its session. The call is
/// kept: who asks for the same again goes on with it.
async fn not_begun(state: &State, call: Call, course: &Course) -> Result<Answer, Failure> {
    let mut executed = Executed {
        status: Status::Queued,
        running: true,
        session_id: Some(call.ask.session.clone()),
        hint: Some(AGAIN.to_owned()),
        ..Executed::default()
    };
    let text = match &course.approval {
        Some(pending) => {
            executed.status = Status::WaitingForApproval;
            executed.reason = Some(pending.reason.clone());
            executed.approval_id = Some(pending.approval_id.clone());
            waits_for_a_person(pending, call.void.as_deref())
        }
        None => {
            let busy = busy_with(state, &call.ask).await;
            executed.reason = Some(busy.clone());
            format!(
                "{busy}\n[has not begun, and runs when its turn comes; {AGAIN}; or use \
                 background: true for a shell of its own]"
            )
        }
    };
    let answer = Answer::new(noted(text, call.note), &executed, Went::Well);
    state.keep(Waiting {
        ask: call.ask,
        execution: call.execution,
    });
    Ok(answer)
}

/// How to go on with a command that waits.
const AGAIN: &str = "call execute_command again with the same arguments to go on with this very \
                     call: the command does not run twice";

fn waits_for_a_person(pending: &ShellApprovalPending, void: Option<&str>) -> String {
    let (id, reason) = (&pending.approval_id, &pending.reason);
    let void = void.map(|why| format!("\nThe answer that this client gave does not count: {why}"));
    let void = void.unwrap_or_default();
    format!(
        "This command waits for a person's approval: {reason}{void}\nA person says yes with `shellglass \
         approvals approve {id}`, or no with `shellglass approvals deny {id}`.\n[has not begun; \
         tell the person, then {AGAIN}]"
    )
}

/// Why a command has to wait that nobody is asked about.
async fn busy_with(state: &State, ask: &Ask) -> String {
    if ask.args.is_background {
        return "The command's shell has not come up yet.".to_owned();
    }
    let session_id = ask.session.clone();
    let get = |mut client: Client, request| async move { client.get_session(request).await };
    let request = SessionRef {
        session_id: session_id.clone(),
    };
    if let Ok(session) = state.daemon.call(request, get).await
        && session.running
    {
        let (command, id) = (session.active_command.escape_debug(), session.last_shell_id);
        return format!("The session {session_id} is busy with `{command}` (shell_id {id}).");
    }
    match asked_before(state, &session_id).await {
        Some(Approval {
            approval_id: id,
            command,
            ..
        }) => format!(
            "The session {session_id} waits with `{}`, which needs a person's approval \
             (`shellglass approvals approve {id}`).",
            command.escape_debug()
        ),
        None => format!("The session {session_id} has not begun the command yet."),
    }
}

/// What a person is asked about another command of a session.
async fn asked_before(state: &State, session_id: &str) -> Option<Approval> {
    let list = |mut client: Client, request| async move { client.list_approvals(request).await };
    let pending = state.daemon.call(Empty {}, list).await.ok()?.approvals;
    let mut there = pending.into_iter();
    there.find(|approval| approval.session_id == session_id)
}

/// A command that did not run.
fn refused(status: Status, said: &str) -> Answer {
    let (reason, hint) = match said.split_once("\nhint: ") {
        Some((reason, hint)) => (reason, Some(hint.to_owned())),
        None => (said, None),
    };
    let (title, fallback) = match status {
        Status::Rejected => (
            "was refused",
            "check_command says what each part of a command would be; choose another way, or ask \
             the person",
        ),
        Status::PermissionDenied => (
            "may not run with these rights",
            "leave out sandbox, or ask the person for more rights",
        ),
        _ => (
            "could not be begun",
            "is the directory there, and is the shell?",
        ),
    };
    let hint = hint.unwrap_or_else(|| fallback.to_owned());
    let executed = Executed {
        status,
        reason: Some(reason.to_owned()),
        hint: Some(hint.clone()),
        ..Executed::default()
    };
    let text = format!("The command {title}, and nothing ran: {reason}\nhint: {hint}");
    Answer::new(text, &executed, Went::Wrong)
}

#[cfg(test)]
mod tests {
    use super::{Status, refused, waits_for_a_person};
    use crate::commands::mcp::answer::Answer;
    use glass_proto::agent::v1::ShellApprovalPending;
    use rmcp::model::CallToolResult;
    use serde_json::Value;

    fn result(answer: Answer) -> (Value, Value) {
        let result = serde_json::to_value(CallToolResult::from(answer)).expect("JSON");
        assert_eq!(result["isError"], true);
        (
            result["content"][0]["text"].clone(),
            result["structuredContent"].clone(),
        )
    }

    #[test]
    fn a_refusal_has_a_reason_and_a_hint() {
        let (text, fields) = result(refused(
            Status::PermissionDenied,
            "no walls\nhint: ask less",
        ));
        assert_eq!(
            text,
            "The command may not run with these rights, and nothing ran: no walls\nhint: ask less"
        );
        assert_eq!(fields["status"], "permission_denied");
        assert_eq!(
            (&fields["reason"], &fields["hint"]),
            (&"no walls".into(), &"ask less".into())
        );
        for status in [Status::Rejected, Status::SpawnError] {
            let (text, fields) = result(refused(status, "because"));
            assert!(text.as_str().is_some_and(|text| text.contains("hint: ")));
            assert_eq!(fields["exit_code"], Value::Null);
        }
    }

    #[test]
    fn who_waits_says_what_a_person_types() {
        let pending = ShellApprovalPending {
            approval_id: "ask-3".to_owned(),
            reason: "no rule allows it".to_owned(),
        };
        let text = waits_for_a_person(&pending, Some("it came from inside"));
        assert!(
            text.contains("`shellglass approvals approve ask-3`"),
            "{text}"
        );
        assert!(text.contains("no rule allows it"), "{text}");
        assert!(text.contains("it came from inside"), "{text}");
    }
}
