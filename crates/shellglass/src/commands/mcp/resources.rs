//! Sessions and output as resources, for clients that let people choose some.

use super::pages::Look;
use super::sessions::SESSIONS_MAX;
use super::state::State;
use crate::client::Client;
use crate::error::Failure;
use glass_proto::json;
use glass_proto::shellglass::v1::{HistoryRequest, SessionRef};
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};

/// Executions of a session that are shown, the last ones.
const EXECUTIONS_MAX: usize = 50;

const SESSION: &str = "shellglass://session/";
const OUTPUT: &str = "shellglass://output/";

/// What a resource is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// A session and what ran in it.
    Session(String),
    /// What a command wrote.
    Output(u32),
}

impl About {
    /// What a resource of this name is about, if it could be one of ours.
    pub(super) fn of(uri: &str) -> Option<About> {
        match uri.strip_prefix(SESSION) {
            Some(id) => Some(About::Session(id.to_owned())),
            None => Some(About::Output(uri.strip_prefix(OUTPUT)?.parse().ok()?)),
        }
    }
}

/// The shapes of the resources.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{SESSION}{{session_id}}"), "session")
            .with_description("A session and the last commands that ran in it.")
            .with_mime_type("application/json"),
        ResourceTemplate::new(format!("{OUTPUT}{{shell_id}}"), "output")
            .with_description("What a command wrote, shortened; read_output has all of it.")
            .with_mime_type("text/plain"),
    ]
}

/// The sessions there are, and the last output of each.
pub(super) async fn list(state: &State) -> Result<Vec<Resource>, Failure> {
    let sessions = state.sessions(false).await?;
    let mut resources = Vec::new();
    for session in sessions.iter().take(SESSIONS_MAX) {
        let id = &session.session_id;
        let about = format!("A session in {}", session.working_directory);
        let resource = Resource::new(format!("{SESSION}{id}"), id.clone());
        resources.push(
            resource
                .with_description(about)
                .with_mime_type("application/json"),
        );
        if session.last_shell_id != 0 {
            let shell_id = session.last_shell_id;
            let resource = Resource::new(
                format!("{OUTPUT}{shell_id}"),
                format!("output of {shell_id}"),
            );
            let about = format!("What the last command of {id} wrote");
            resources.push(
                resource
                    .with_description(about)
                    .with_mime_type("text/plain"),
            );
        }
    }
    Ok(resources)
}

/// One resource; none where no resource has such a name.
pub(super) async fn read(state: &State, uri: &str) -> Result<Option<ResourceContents>, Failure> {
    let contents = match About::of(uri) {
        None => return Ok(None),
        Some(About::Session(id)) => {
            let contents = ResourceContents::text(session(state, &id).await?, uri);
            contents.with_mime_type("application/json")
        }
        Some(About::Output(shell_id)) => {
            let shown = state
                .page(shell_id, 0, &Look::new(&state.settings.text, None))
                .await?;
            ResourceContents::text(shown.output, uri)
        }
    };
    Ok(Some(contents))
}

async fn session(state: &State, id: &str) -> Result<String, Failure> {
    let get = |mut client: Client, request| async move { client.get_session(request).await };
    let request = SessionRef {
        session_id: id.to_owned(),
    };
    let session = state.daemon.call(request, get).await?;
    let request = HistoryRequest {
        session_id: id.to_owned(),
        omit_events: true,
        ..HistoryRequest::default()
    };
    let history =
        |mut client: Client, request| async move { client.get_session_history(request).await };
    let mut history = state.daemon.call(request, history).await?;
    let older = history.executions.len().saturating_sub(EXECUTIONS_MAX);
    history.executions.drain(..older);
    let page = serde_json::json!({
        "session": json::value(&session),
        "history": json::value(&history),
    });
    Ok(format!("{page:#}"))
}
