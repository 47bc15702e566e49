//! The same server over streamable HTTP, inside the daemon.
//!
//! Who may ask is settled before a request comes here: `glass-server` looks at
//! its Host, its Origin and its token, and hands it to the router of the role
//! that the token stands for. Each role has connections of its own, so a
//! connection's name is worth nothing to the other one.

mod bodies;
mod connections;
mod remembered;

use super::daemon::Way;
use super::farewells::Farewells;
use super::server::Server;
use super::state::State;
use crate::config::Settings;
use axum::Router;
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::Response;
use bodies::{BODY_BYTES_MAX, Bodies};
use connections::Connections;
use glass_model::Role;
use glass_server::{Mcp, Tokens};
use remembered::Remembered;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How often a silent stream says that it lives.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// What the daemon knows of itself.
pub(in crate::commands) struct Within<'a> {
    /// The configuration in force.
    pub settings: &'a Settings,
    /// Its own socket.
    pub socket: &'a Path,
    /// Where it keeps what must outlive it.
    pub data_dir: &'a Path,
    /// Who presents what.
    pub tokens: &'a Tokens,
}

/// What answers at `/mcp`.
pub(in crate::commands) fn mount(within: &Within<'_>) -> Mcp {
    let settings = Arc::new(within.settings.clone());
    let bodies = Bodies::new();
    let router = |role: Role| {
        let (name, token) = match role {
            Role::Agent => ("agent", &within.tokens.agent),
            Role::Person => ("person", &within.tokens.person),
        };
        let doorway = Doorway {
            settings: Arc::clone(&settings),
            socket: within.socket.to_owned(),
            role,
            token: token.clone(),
            person: within.tokens.person.clone(),
            farewells: Arc::default(),
        };
        let file = within.data_dir.join(format!("mcp-{name}.json"));
        bodies.before(doorway.router(Remembered::read(file)))
    };
    Mcp {
        agent: router(Role::Agent),
        person: router(Role::Person),
    }
}

/// A connection that was ended is gone now; clients take a mere "accepted" for a
/// failure.
async fn farewell(request: Request, next: Next) -> Response {
    let is_farewell = request.method() == Method::DELETE;
    let mut response = next.run(request).await;
    if is_farewell && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    response
}

/// Where the clients of a role come in.
struct Doorway {
    settings: Arc<Settings>,
    socket: PathBuf,
    role: Role,
    token: String,
    person: String,
    farewells: Arc<Farewells>,
}

impl Doorway {
    fn router(self, remembered: Remembered) -> Router {
        let mut config = StreamableHttpServerConfig::default()
            // The guard in front of us knows our names better.
            .disable_allowed_hosts()
            .with_max_request_body_bytes(BODY_BYTES_MAX)
            .with_sse_keep_alive(Some(KEEP_ALIVE));
        config.session_store = Some(Arc::new(remembered));
        let connections = Arc::new(Connections::new(Arc::clone(&self.farewells)));
        let service = StreamableHttpService::new(move || Ok(self.server()), connections, config);
        Router::new()
            .fallback_service(service)
            .layer(middleware::from_fn(farewell))
    }

    fn server(&self) -> Server {
        let way = Way::Within {
            socket: self.socket.clone(),
            token: self.token.clone(),
            person: self.person.clone(),
        };
        let state = State::new(Arc::clone(&self.settings), self.role, way);
        let state = state.with_farewells(Arc::clone(&self.farewells));
        Server::over_http(Arc::new(state))
    }
}
