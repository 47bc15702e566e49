//! `execute_command`: waits for a command as long as the client may, and goes on
//! without it where the command takes longer.

mod told;

use super::answer::Answer;
use super::arguments::{self, Execute};
use super::elicit::{self, Outcome, Put};
use super::follow::{Course, Ending, Execution};
use super::logs::{self, Matter};
use super::pages::Look;
use super::progress;
use super::request::{Ask, check};
use super::sections;
use super::state::{State, Waiting};
use super::words;
use crate::client::Client;
use crate::commands::run::resume::fresh_key;
use crate::config::TextSettings;
use crate::error::Failure;
use rmcp::RoleServer;
use rmcp::model::{InputRequests, InputResponses};
use rmcp::service::RequestContext;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tonic::Code;

/// How long a call takes, unless asked otherwise, in milliseconds.
const YIELD_MS_DEFAULT: u32 = 10_000;

/// How long a call takes at most: clients give up after a minute.
pub(super) const YIELD_MS_MAX: u32 = 50_000;

/// How long a call waits for a person who was asked through the client, unless it
/// says how long it may take.
const PATIENCE: Duration = Duration::from_millis(YIELD_MS_MAX as u64);

/// How long a command that a person has just allowed has to begin.
const ANSWERED_WAIT: Duration = Duration::from_secs(5);

/// How long a background command is watched, so that one that fails at once is
/// known to have failed.
const BACKGROUND_MS: u32 = 150;

/// How long a command that yields at once has to begin.
const BEGIN_WAIT: Duration = Duration::from_secs(10);

/// How long a cancel waits for a command to begin, if the daemon does not know
/// it yet.
const CANCEL_WAIT: Duration = Duration::from_secs(5);

/// How a call is shown.
struct Asked {
    look: Look,
    yield_after: Duration,
    /// Whether a person may take longer than that for an answer.
    is_patient: bool,
    is_background: bool,
}

impl Asked {
    fn new(settings: &TextSettings, arguments: &Execute) -> Result<Asked, Failure> {
        let mut look = Look::new(settings, arguments.max_chars);
        look.events = sections::tool_of(&arguments.command);
        look.budget.head_lines = arguments.head.map(|lines| lines as usize);
        look.budget.tail_lines = arguments.tail.map(|lines| lines as usize);
        let grep = arguments.grep.as_deref();
        look.only = grep
            .map(|grep| arguments::regex("grep", grep))
            .transpose()?;
        let is_background = arguments.background == Some(true);
        let default = if is_background {
            BACKGROUND_MS
        } else {
            YIELD_MS_DEFAULT
        };
        let yield_ms = arguments.yield_ms.unwrap_or(default).min(YIELD_MS_MAX);
        Ok(Asked {
            look,
            yield_after: Duration::from_millis(yield_ms.into()),
            is_patient: arguments.yield_ms.is_none(),
            is_background,
        })
    }
}

/// Runs a command.
pub(super) async fn execute(
    state: &State,
    arguments: Execute,
    answers: Option<InputResponses>,
    context: &RequestContext<RoleServer>,
) -> Result<Answer, Failure> {
    check(state, &arguments)?;
    let asked = Asked::new(&state.settings.text, &arguments)?;
    let _turn = state.turn(context).await?;
    let client = client_name(context);
    let mut note = "";
    loop {
        let found_before = state.daemon.times_found();
        let ask = ask(state, &arguments, &client).await?;
        let mut execution = match state.kept(&ask) {
            Some(execution) => execution,
            None => {
                let request = ask.request(state, fresh_key()?)?;
                Execution::start(Arc::clone(&state.daemon), request)
            }
        };
        let answered = match &answers {
            Some(answers) => elicit::answered(state, context, &execution, answers).await,
            None => None,
        };
        let stop = match answered {
            Some(Outcome::Dismissed) => Stop::Yielded,
            Some(Outcome::Void(why)) => Stop::Void(why),
            answered => {
                let question = answered.map_or(Put::NotYet, |_| Put::Settled);
                follow(state, &mut execution, &asked, question, context).await
            }
        };
        let found = state.daemon.times_found();
        if found > found_before && found_before > 0 {
            let told = || serde_json::json!("the daemon was lost, and found again");
            logs::say(state, context, Matter::Warning, told).await;
        }
        let course = execution.course();
        if let Some(Ending::Failed(status)) = &course.ending {
            let is_own = arguments.session_id.is_none();
            let is_gone = matches!(status.code(), Code::FailedPrecondition | Code::NotFound);
            if is_own && is_gone && note.is_empty() && forget_own(state, &ask).await {
                note = "the session was disposed of, so this ran in a new one: directory, \
                        variables and functions of the old one are gone";
                continue;
            }
            return Err(status.clone().into());
        }
        let void = match stop {
            Stop::Yielded => None,
            Stop::Void(why) => Some(why),
            Stop::Handed(question) => {
                state.keep(Waiting { ask, execution });
                return Ok(Answer::question(question));
            }
        };
        let call = Call {
            ask,
            execution,
            asked,
            note,
            void,
        };
        let told = || ended(&course);
        logs::say(state, context, Matter::Debug, told).await;
        return told::answer(state, call).await;
    }
}

/// How far a call came, for a client that wants to know everything.
fn ended(course: &Course) -> serde_json::Value {
    let exit_code = match &course.ending {
        Some(Ending::Exit(exit, _)) => (!exit.code_unknown).then_some(exit.code),
        _ => None,
    };
    serde_json::json!({
        "shell_id": course.begun.as_ref().map(|begun| begun.shell_id),
        "ended": course.ending.is_some(),
        "exit_code": exit_code,
    })
}

/// A call that was followed as long as it may.
struct Call {
    ask: Ask,
    execution: Execution,
    asked: Asked,
    note: &'static str,
    /// Why what was answered through the client did not count.
    void: Option<String>,
}

async fn ask(state: &State, arguments: &Execute, client: &str) -> Result<Ask, Failure> {
    let session = match &arguments.session_id {
        Some(id) => id.clone(),
        None => state.own_session(client).await?,
    };
    let here = state.directory_of(&session).await?;
    Ok(Ask::new(arguments, session, &here))
}

/// Forgets this connection's session if it is the one that was asked.
async fn forget_own(state: &State, ask: &Ask) -> bool {
    let mut own = state.own.lock().await;
    if own.as_ref() == Some(&ask.session) {
        *own = None;
    }
    true
}

/// How the client calls itself.
pub(super) fn client_name(context: &RequestContext<RoleServer>) -> String {
    context
        .client_info()
        .map(|info| info.name)
        .unwrap_or_default()
}

/// Until the command ends, its time to yield comes, or the client cancels.
async fn follow(
    state: &State,
    execution: &mut Execution,
    asked: &Asked,
    question: Put,
    context: &RequestContext<RoleServer>,
) -> Stop {
    let key = execution.key().to_owned();
    let _under_way = (!asked.is_background).then(|| state.enter(&key, execution.cancel_request()));
    let until_yield = until_yield(state, execution, asked, question, context);
    let followed = tokio::select! {
        biased;
        () = context.ct.cancelled() => None,
        stop = until_yield => Some(stop),
    };
    match followed {
        Some(stop) => stop,
        // Nobody wanted it to end.
        None if context.peer.is_transport_closed() && state.outlives_connection() => Stop::Yielded,
        None => {
            cancel(state, execution).await;
            Stop::Yielded
        }
    }
}

/// Why a call does not follow its command any further.
enum Stop {
    /// The command has ended, or its time to yield has come.
    Yielded,
    /// What was answered through the client does not count, and why.
    Void(String),
    /// The client has to ask its person, and call again.
    Handed(InputRequests),
}

/// Until the command ends, its time to yield comes, or its person must be asked.
async fn until_yield(
    state: &State,
    execution: &mut Execution,
    asked: &Asked,
    mut question: Put,
    context: &RequestContext<RoleServer>,
) -> Stop {
    let began = Instant::now();
    if asked.is_background || asked.yield_after.is_zero() {
        // Without a beginning there is no handle to give.
        drop(tokio::time::timeout(BEGIN_WAIT, execution.begun_or_asked()).await);
    }
    // No first tick at once: even that one would wait for the next whole
    // millisecond of the clock, which is longer than a short command takes.
    let mut tick = tokio::time::interval_at((began + progress::EVERY).into(), progress::EVERY);
    let deadline = tokio::time::sleep(asked.yield_after);
    tokio::pin!(deadline);
    // However long the person takes, the client must not give up before.
    let last = match asked.is_patient {
        true => began + PATIENCE,
        false => began + asked.yield_after,
    };
    loop {
        tokio::select! {
            biased;
            pending = execution.ended_or_asked(question.is_not_yet()) => {
                let Some(pending) = pending else {
                    return Stop::Yielded;
                };
                let told = || serde_json::json!({"waits_for_approval": &pending.approval_id});
                logs::say(state, context, Matter::Notice, told).await;
                question = elicit::ask(state, context, execution, &pending).await;
                match question {
                    Put::Handed(question) => return Stop::Handed(question),
                    Put::Shown(_) => deadline.as_mut().reset(last.into()),
                    Put::NotYet | Put::Settled => {}
                }
            }
            outcome = question.outcome() => match outcome {
                // It runs from here on.
                Outcome::Answered => {
                    question = Put::Settled;
                    drop(tokio::time::timeout(ANSWERED_WAIT, execution.begun()).await);
                    let until = last.min(Instant::now() + asked.yield_after);
                    deadline.as_mut().reset(until.into());
                }
                Outcome::Dismissed => return Stop::Yielded,
                Outcome::Void(why) => return Stop::Void(why),
            },
            () = &mut deadline => return Stop::Yielded,
            _ = tick.tick() => {
                let elapsed = began.elapsed();
                progress::report(context, elapsed, goes(execution, elapsed)).await;
            }
        }
    }
}

/// How it goes, for a client that wants to know.
fn goes(execution: &Execution, elapsed: Duration) -> String {
    execution.look(|course| {
        let what = match (&course.begun, &course.approval) {
            (Some(_), _) => "running".to_owned(),
            (None, None) => "waiting".to_owned(),
            (None, Some(pending)) => {
                let id = &pending.approval_id;
                format!("waiting for a person (`shellglass approvals approve {id}`)")
            }
        };
        let (took, bytes) = (words::duration(elapsed), course.heard.total);
        match words::last_line(&course.heard.bytes) {
            Some(line) => format!("{what} for {took}, {bytes} bytes of output: {line}"),
            None => format!("{what} for {took}, no output yet"),
        }
    })
}

/// Ends a command whose client wants nothing more of it.
async fn cancel(state: &State, execution: &mut Execution) {
    let call = |mut client: Client, request| async move { client.cancel(request).await };
    let cancelled = state.daemon.call(execution.cancel_request(), call).await;
    if cancelled.is_ok_and(|answer| answer.cancelled) {
        return;
    }
    // The daemon did not know it yet, or it had not begun: once more when it has.
    drop(tokio::time::timeout(CANCEL_WAIT, execution.begun()).await);
    drop(state.daemon.call(execution.cancel_request(), call).await);
}
