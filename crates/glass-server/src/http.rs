//! The page and its API, on the port that gRPC over TCP has.
//!
//! Theory of operation. Every request passes the *guard* first: whoever does not
//! name one of our own addresses, or comes from another origin, is refused,
//! whatever else is true. Then a *pass* is looked for: a token, or the two halves
//! that the page gets for one. Static files and `/healthz` need none. What a view
//! shows is read by cursor, so a slow client is behind and nothing else.

mod activity;
mod api;
mod assets;
mod events;
mod guard;
mod guesses;
mod listen;
mod login;
mod mcp;
mod metrics;
mod numbers;
mod pass;
mod recording;
mod socket;
mod terminal;
mod tls;

use crate::auth::Tokens;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{any, get, post};
use glass_session::Engine;
use guesses::Guesses;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tonic::service::Routes;

pub(crate) use guard::{Addresses, Scheme};
pub(crate) use listen::serve;
pub use mcp::Mcp;
pub use tls::{Tls, TlsError};

/// How long what a caller has to say may take to arrive. Whatever takes longer is
/// not waited for.
const BODY_DEADLINE: std::time::Duration = std::time::Duration::from_secs(30);

/// Views and event streams that may be open at once.
const SOCKETS_MAX: usize = 256;

/// What all requests share.
pub(crate) struct Glass {
    pub(crate) engine: Engine,
    pub(crate) tokens: Tokens,
    addresses: Addresses,
    guesses: Guesses,
    /// Room for sockets; each holds a permit.
    sockets: Arc<Semaphore>,
    /// The service itself, for the API.
    grpc: Router,
    mcp: Mcp,
}

impl Glass {
    /// What is served under these addresses; `grpc` is the service.
    pub(crate) fn new(
        engine: Engine,
        tokens: Tokens,
        addresses: Addresses,
        grpc: Routes,
        mcp: Mcp,
    ) -> Arc<Glass> {
        Arc::new(Glass {
            engine,
            tokens,
            addresses,
            guesses: Guesses::default(),
            sockets: Arc::new(Semaphore::new(SOCKETS_MAX)),
            grpc: grpc.into_axum_router(),
            mcp,
        })
    }

    /// Everything that is served over TCP.
    pub(crate) fn router(self: Arc<Glass>) -> Router {
        let grpc = self.grpc.clone();
        let page = Router::new()
            .route("/healthz", get(|| async { "ok\n" }))
            .route("/api/session", post(login::log_in).delete(login::log_out))
            .route("/api/v1/{method}", any(api::call))
            .route("/api/v1/ExportRecording", get(recording::export))
            .route("/ws/events", get(events::open))
            .route("/ws/terminal", get(terminal::open))
            .route("/mcp", any(mcp::call))
            .route("/metrics", get(metrics::show))
            .fallback(assets::serve)
            .layer(DefaultBodyLimit::max(crate::serve::REQUEST_BYTES_MAX))
            .layer(middleware::from_fn_with_state(self.clone(), guard::check))
            .with_state(self.clone());
        Router::new().fallback_service(guard::Switch {
            page,
            grpc,
            glass: self,
        })
    }
}
