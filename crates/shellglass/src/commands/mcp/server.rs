//! The protocol's methods: each reads its arguments and asks whoever knows.

use super::answer::Answer;
use super::arguments::{self, parse};
use super::place::Place;
use super::state::State;
use super::watching::{self, Listener};
use super::{execute, read, resources, sessions, stdin, tools, wait};
use crate::error::{Failure, Kind};
use axum::http::request::Parts;
#[allow(deprecated, reason = "clients of earlier revisions have it")]
use rmcp::model::SetLevelRequestParams;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};
use tokio::runtime::Handle;

/// The newest revision that has connections. Over HTTP later ones have none, and
/// a shell that keeps its state belongs to one.
const NEWEST_WITH_CONNECTIONS: ProtocolVersion = ProtocolVersion::V_2025_11_25;

/// How messages come and go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Over {
    Stdio,
    Http,
}

/// One client's server.
pub(super) struct Server {
    state: Arc<State>,
    tools: Arc<Vec<Tool>>,
    over: Over,
}

impl Drop for Server {
    /// A client that has gone over HTTP ends its server; a process ends itself.
    fn drop(&mut self) {
        if let (Over::Http, Ok(runtime)) = (self.over, Handle::try_current()) {
            let state = Arc::clone(&self.state);
            runtime.spawn(async move { state.leave().await });
        }
    }
}

impl Server {
    /// Serves whoever started this process.
    pub(super) fn over_stdio(state: Arc<State>) -> Server {
        Server::new(state, Over::Stdio)
    }

    /// Serves a client of the daemon's.
    pub(super) fn over_http(state: Arc<State>) -> Server {
        Server::new(state, Over::Http)
    }

    fn new(state: Arc<State>, over: Over) -> Server {
        static TOOLS: LazyLock<Arc<Vec<Tool>>> = LazyLock::new(|| Arc::new(tools::all()));
        Server {
            state,
            tools: Arc::clone(&TOOLS),
            over,
        }
    }

    async fn answer(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<Answer, Failure> {
        let state = self.state.as_ref();
        let (name, given) = (request.name.as_ref(), request.arguments);
        match name {
            "execute_command" => {
                let answers = request.input_responses;
                execute::execute(state, parse(name, given)?, answers, context).await
            }
            "read_output" => read::read(state, parse(name, given)?, context).await,
            "write_stdin" => stdin::write(state, parse(name, given)?, context).await,
            "wait" => wait::wait(state, parse(name, given)?, context).await,
            "list_sessions" => sessions::list(state, parse(name, given)?).await,
            "cancel" => sessions::cancel(state, parse(name, given)?).await,
            "dispose_session" => sessions::dispose(state, parse(name, given)?).await,
            "check_command" => {
                sessions::check(state, parse::<arguments::CheckCommand>(name, given)?).await
            }
            // Names are looked up before.
            other => Err(Failure::new(Kind::Usage, format!("no tool {other}"))),
        }
    }
}

impl Server {
    /// Refuses a request over HTTP that belongs to no connection: one that carries
    /// all that a later revision wants is served without one, and its header could
    /// name any.
    fn has_connection(&self, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let wanted = context
            .meta
            .missing_required_keys(&ProtocolVersion::V_2026_07_28);
        match self.over == Over::Http && wanted.is_empty() {
            true => Err(ErrorData::invalid_request("begin with initialize", None)),
            false => Ok(()),
        }
    }
}

/// Why nothing was read of what may be there.
fn broken(failure: &Failure) -> ErrorData {
    ErrorData::internal_error(failure.to_string(), None)
}

/// What a resource's failure is for the protocol.
fn not_read(failure: &Failure) -> ErrorData {
    ErrorData::resource_not_found(failure.to_string(), None)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let builder = ServerCapabilities::builder().enable_tools();
        let builder = builder.enable_resources().enable_resources_subscribe();
        #[allow(deprecated, reason = "clients of earlier revisions have it")]
        let capabilities = builder.enable_logging().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("shellglass", env!("CARGO_PKG_VERSION")))
            .with_instructions(tools::INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(match self.over {
            Over::Stdio => ProtocolVersion::KNOWN_VERSIONS,
            Over::Http => ProtocolVersion::known_up_to(&NEWEST_WITH_CONNECTIONS),
        })
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !self.tools.iter().any(|tool| tool.name == request.name) {
            let names: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_ref()).collect();
            let name = request.name.escape_debug();
            let message = format!("no tool is called '{name}'; there are {}", names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        }
        self.has_connection(&context)?;
        if let Some(parts) = context.extensions.get::<Parts>() {
            self.state.settle(|| Place::of_request(parts));
        }
        // A mistake is a result, too: a model reads results and can do better.
        let answer = self.answer(request, &context).await;
        let answer = answer.unwrap_or_else(Answer::from);
        Ok(answer.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.has_connection(&context)?;
        // Reading takes as long as a tool may, so it waits for its turn as they do.
        let turn = self.state.turn(&context).await;
        let _turn = turn.map_err(|failure| broken(&failure))?;
        let found = resources::list(&self.state).await;
        let found = found.map_err(|failure| broken(&failure))?;
        Ok(ListResourcesResult::with_all_items(found))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(
            resources::templates(),
        ))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.has_connection(&context)?;
        let turn = self.state.turn(&context).await;
        let _turn = turn.map_err(|failure| broken(&failure))?;
        let found = resources::read(&self.state, &request.uri).await;
        match found.map_err(|failure| not_read(&failure))? {
            Some(contents) => Ok(ReadResourceResult::new(vec![contents]).into()),
            None => {
                let uri = request.uri.escape_debug();
                let message = format!("no resource is called '{uri}'");
                Err(ErrorData::resource_not_found(message, None))
            }
        }
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(watching::accepted(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.has_connection(context.request_context())?;
        watching::listen(&self.state, &context).await;
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.has_connection(&context)?;
        let uri = request.uri.as_str();
        let too_many = || {
            let message = format!(
                "{} resources are watched; unsubscribe from some",
                watching::WATCHED_MAX
            );
            ErrorData::invalid_request(message, None)
        };
        if !self.state.watched.has_room(uri) {
            return Err(too_many());
        }
        let turn = self.state.turn(&context).await;
        let _turn = turn.map_err(|failure| broken(&failure))?;
        let listener = Listener::Peer(context.peer.clone());
        let begun = watching::begin(&self.state, uri, listener).await;
        let watch = begun.map_err(|failure| not_read(&failure))?;
        match self.state.watched.add(uri, watch) {
            true => Ok(()),
            false => Err(too_many()),
        }
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.has_connection(&context)?;
        self.state.watched.remove(&request.uri);
        Ok(())
    }

    #[allow(deprecated, reason = "clients of earlier revisions have it")]
    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.has_connection(&context)?;
        self.state.wanted_logs.set(request.level);
        Ok(())
    }
}
