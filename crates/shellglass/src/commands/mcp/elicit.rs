//! Asks a person through the client about a command that waits for one.
//!
//! The answer counts as a person's where the configuration says so
//! (`approvals.elicit`), and it goes the way that every person's answer goes: the
//! daemon looks at who gives it, so a server that runs inside a session answers
//! nothing. Nobody is asked twice about the same, and a question that was
//! answered elsewhere is taken back.
//!
//! A client of an older revision is sent the question while its call waits. One
//! of a newer revision is handed it as its call's answer, and calls again with
//! the person's.

use super::daemon::Daemon;
use super::execute::client_name;
use super::follow::Execution;
use super::request::CLIENT_CHARS_MAX;
use super::state::State;
use crate::client::Client;
use crate::commands::approvals::question;
use crate::config::Elicit;
use crate::error::Failure;
use glass_model::Role;
use glass_proto::agent::v1::ShellApprovalPending;
use glass_proto::shellglass::v1::{Approval, ApprovalScope, Empty, ResolveApprovalRequest};
use rmcp::RoleServer;
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, EnumSchema, InputRequest, InputRequests, InputResponses, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RequestHandle};
use serde::Deserialize as _;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The one field of the form.
const FIELD: &str = "decision";

/// What can be chosen, and how it is called.
const CHOICES: [(&str, &str); 3] = [
    ("once", "Allow this command once"),
    ("session", "Allow commands like this in this session"),
    ("refuse", "Refuse"),
];

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was answered, here or elsewhere.
    Answered,
    /// The person put it away, or the client could not show it.
    Dismissed,
    /// The answer did not count, and why.
    Void(String),
}

/// How far a question has come.
pub(super) enum Put {
    /// Nobody needed to be asked yet.
    NotYet,
    /// The client is showing it.
    Shown(Asking),
    /// The call's answer is to hand it over.
    Handed(InputRequests),
    /// It was answered, or this client is not the one to ask.
    Settled,
}

impl Put {
    /// Whether somebody may have to be asked.
    pub(super) fn is_not_yet(&self) -> bool {
        matches!(self, Put::NotYet)
    }

    /// Until something comes of it.
    pub(super) async fn outcome(&mut self) -> Outcome {
        match self {
            Put::Shown(asking) => asking.outcome().await,
            _ => std::future::pending().await,
        }
    }
}

/// A question that a client is showing.
pub(super) struct Asking {
    outcome: watch::Receiver<Option<Outcome>>,
}

impl Asking {
    async fn outcome(&mut self) -> Outcome {
        match self.outcome.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().unwrap_or(Outcome::Dismissed),
            Err(_) => Outcome::Dismissed,
        }
    }
}

/// Whether the answer of this connection's client counts as a person's.
fn counts(elicit: Elicit, role: Role, is_beside: bool) -> bool {
    match elicit {
        Elicit::Nobody => false,
        // Who starts `shellglass mcp` is known to the daemon by the kernel.
        Elicit::Person => is_beside || role == Role::Person,
        Elicit::Everybody => true,
    }
}

/// Whether this connection's client is the one to ask.
fn may_ask(state: &State, context: &RequestContext<RoleServer>) -> bool {
    let elicitation = context.client_capabilities();
    let elicitation = elicitation.and_then(|capabilities| capabilities.elicitation);
    // One that names no kind means forms.
    let shows_forms = elicitation.is_some_and(|it| it.form.is_some() || it.url.is_none());
    let elicit = state.settings.approvals.elicit;
    shows_forms && counts(elicit, state.role, state.daemon.is_beside())
}

/// Asks through the client, where that is possible and counts.
pub(super) async fn ask(
    state: &State,
    context: &RequestContext<RoleServer>,
    execution: &Execution,
    pending: &ShellApprovalPending,
) -> Put {
    if !may_ask(state, context) {
        return Put::Settled;
    }
    if let Some(outcome) = state.asked(&pending.approval_id) {
        return Put::Shown(Asking { outcome });
    }
    let found = find(&state.daemon, &pending.approval_id).await;
    let Some(form) = found.ok().flatten().as_ref().and_then(form) else {
        return Put::Settled;
    };
    let request = ElicitRequest::new(form);
    let version = context.protocol_version();
    if version.is_some_and(|version| !version.has_initialize()) {
        let id = pending.approval_id.clone();
        return Put::Handed(BTreeMap::from([(id, InputRequest::Elicitation(request))]));
    }
    show(state, context, execution, pending, request)
        .await
        .map_or(Put::Settled, Put::Shown)
}

/// Sends the question to the client, and takes its answer whenever it comes.
async fn show(
    state: &State,
    context: &RequestContext<RoleServer>,
    execution: &Execution,
    pending: &ShellApprovalPending,
    request: ElicitRequest,
) -> Option<Asking> {
    let seconds = state.settings.approvals.answer_seconds;
    let options = PeerRequestOptions::with_timeout(Duration::from_secs(seconds.into()));
    let request = ServerRequest::ElicitRequest(request);
    // On this very task: so it is part of the call that it belongs to.
    let asked = context.peer.send_cancellable_request(request, options);
    let handle = asked.await.ok()?;
    let (told, outcome) = watch::channel(None);
    state.asks(&pending.approval_id, outcome.clone());
    let question = Question::new(state, context, pending);
    let settled = execution.settled();
    tokio::spawn(async move {
        let outcome = question.settle(handle, settled).await;
        told.send_replace(Some(outcome));
    });
    Some(Asking { outcome })
}

/// Takes the answer that a call brings with it, if it is one to the question that
/// its own command waits with.
pub(super) async fn answered(
    state: &State,
    context: &RequestContext<RoleServer>,
    execution: &Execution,
    answers: &InputResponses,
) -> Option<Outcome> {
    let pending = execution.look(|course| course.approval.clone())?;
    let answer = answers.get(&pending.approval_id)?;
    if !may_ask(state, context) {
        return None;
    }
    let Ok(answer) = ElicitResult::deserialize(answer) else {
        return Some(Outcome::Dismissed);
    };
    let question = Question::new(state, context, &pending);
    Some(question.take(choice(&answer)).await)
}

/// A client's name as it may stand in a reason.
fn shown_name(client: &str) -> String {
    let name: String = client.chars().take(CLIENT_CHARS_MAX).collect();
    match name.as_str() {
        "" => "an MCP client".to_owned(),
        name => name.escape_debug().to_string(),
    }
}

async fn find(daemon: &Daemon, id: &str) -> Result<Option<Approval>, Failure> {
    let list = |mut client: Client, request| async move { client.list_approvals(request).await };
    let pending = daemon.call(Empty {}, list).await?.approvals;
    let mut there = pending.into_iter();
    Ok(there.find(|approval| approval.approval_id == id))
}

/// The form: what is asked, and what can be answered.
fn form(approval: &Approval) -> Option<ElicitRequestParams> {
    let choices = EnumSchema::builder(CHOICES.map(|(name, _)| name.to_owned()).to_vec());
    let titles = CHOICES.map(|(_, title)| title.to_owned()).to_vec();
    let choices = choices.title("Decision").enum_titles(titles).ok()?.build();
    let schema = ElicitationSchema::builder().required_enum_schema(FIELD, choices);
    let question = question(approval);
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("An agent wants to run a command that needs your word:\n{question}"),
        requested_schema: schema.build().ok()?,
    })
}

/// What a person chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Allow(ApprovalScope),
    Refuse,
    Nothing,
}

/// Reads an answer. What is not clearly a yes is none.
fn choice(answer: &ElicitResult) -> Choice {
    match answer.action {
        ElicitationAction::Decline => return Choice::Refuse,
        ElicitationAction::Accept => {}
        _ => return Choice::Nothing,
    }
    let content = answer.content.as_ref();
    let chosen = content.and_then(|content| content.get(FIELD)?.as_str());
    match chosen {
        Some("once") => Choice::Allow(ApprovalScope::Once),
        Some("session") => Choice::Allow(ApprovalScope::Session),
        Some("refuse") => Choice::Refuse,
        _ => Choice::Nothing,
    }
}

/// A question on its way.
struct Question {
    daemon: Arc<Daemon>,
    id: String,
    client: String,
}

impl Question {
    fn new(
        state: &State,
        context: &RequestContext<RoleServer>,
        pending: &ShellApprovalPending,
    ) -> Question {
        Question {
            daemon: Arc::clone(&state.daemon),
            id: pending.approval_id.clone(),
            client: shown_name(&client_name(context)),
        }
    }

    async fn settle(
        self,
        mut handle: RequestHandle<RoleServer>,
        settled: impl Future<Output = ()>,
    ) -> Outcome {
        let limit = handle.options.timeout.unwrap_or_default();
        let answer = tokio::select! {
            answer = tokio::time::timeout(limit, &mut handle.rx) => answer,
            () = settled => {
                let why = "it was answered elsewhere, or withdrawn".to_owned();
                drop(handle.cancel(Some(why)).await);
                return Outcome::Answered;
            }
        };
        match answer {
            Ok(Ok(Ok(ClientResult::ElicitResult(answer)))) => self.take(choice(&answer)).await,
            Ok(_) => Outcome::Dismissed,
            Err(_) => {
                drop(handle.cancel(Some("nobody answered".to_owned())).await);
                Outcome::Dismissed
            }
        }
    }

    async fn take(&self, choice: Choice) -> Outcome {
        let (approve, scope) = match choice {
            Choice::Nothing => return Outcome::Dismissed,
            Choice::Allow(scope) => (true, scope),
            Choice::Refuse => (false, ApprovalScope::Once),
        };
        let request = ResolveApprovalRequest {
            approval_id: self.id.clone(),
            approve,
            reason: match approve {
                true => format!("through {}", self.client),
                false => format!("refused through {}", self.client),
            },
            scope: scope.into(),
        };
        match self.resolve(request).await {
            Ok(()) => Outcome::Answered,
            Err(failure) => Outcome::Void(failure.message),
        }
    }

    /// Not asked again where the daemon is lost: the next one asks anew.
    async fn resolve(&self, request: ResolveApprovalRequest) -> Result<(), Failure> {
        let connection = self.daemon.connection(0).await?;
        let request = connection.persons_request(request);
        connection.client.clone().resolve_approval(request).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Choice, choice, counts, form};
    use crate::config::Elicit;
    use glass_model::Role;
    use glass_proto::shellglass::v1::{Approval, ApprovalScope};
    use rmcp::model::{ElicitResult, ElicitationAction};
    use serde_json::json;

    #[test]
    fn what_is_not_clearly_a_yes_is_none() {
        let accepted = |content| ElicitResult::new(ElicitationAction::Accept).with_content(content);
        for (answer, meant) in [
            (
                accepted(json!({"decision": "once"})),
                Choice::Allow(ApprovalScope::Once),
            ),
            (
                accepted(json!({"decision": "session"})),
                Choice::Allow(ApprovalScope::Session),
            ),
            (accepted(json!({"decision": "refuse"})), Choice::Refuse),
            (accepted(json!({"decision": "always"})), Choice::Nothing),
            (accepted(json!({"decision": true})), Choice::Nothing),
            (accepted(json!("once")), Choice::Nothing),
            (
                ElicitResult::new(ElicitationAction::Accept),
                Choice::Nothing,
            ),
            (
                ElicitResult::new(ElicitationAction::Decline),
                Choice::Refuse,
            ),
            (
                ElicitResult::new(ElicitationAction::Cancel),
                Choice::Nothing,
            ),
        ] {
            assert_eq!(choice(&answer), meant, "{answer:?}");
        }
    }

    #[test]
    fn an_agents_token_speaks_for_a_person_only_where_that_is_said() {
        for (elicit, within_agent, within_person, beside) in [
            (Elicit::Nobody, false, false, false),
            (Elicit::Person, false, true, true),
            (Elicit::Everybody, true, true, true),
        ] {
            assert_eq!(counts(elicit, Role::Agent, false), within_agent);
            assert_eq!(counts(elicit, Role::Person, false), within_person);
            assert_eq!(counts(elicit, Role::Agent, true), beside);
        }
    }

    #[test]
    fn a_form_shows_the_command_and_hides_nothing() {
        let approval = Approval {
            command: "ls\n\u{1b}[2Jrm -rf x".to_owned(),
            working_directory: "/w".to_owned(),
            ..Approval::default()
        };
        let form = form(&approval).expect("a form");
        let form = serde_json::to_value(&form).expect("JSON");
        assert_eq!(form["mode"], "form");
        let message = form["message"].as_str().expect("a text");
        assert!(
            message.contains("  | <U+001B>[2Jrm -rf x\n  in /w"),
            "{message}"
        );
        let schema = &form["requestedSchema"];
        assert_eq!(schema["required"], json!(["decision"]));
        assert_eq!(
            schema["properties"]["decision"]["oneOf"][0]["const"],
            "once"
        );
    }
}
