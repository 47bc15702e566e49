//! `/mcp`: who asks is found out here; what is answered is somebody else's.

use super::Glass;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use glass_model::Role;
use std::sync::Arc;
use tower::ServiceExt as _;

/// What answers the callers of each role.
#[derive(Clone)]
pub struct Mcp {
    /// Those who present an agent's token.
    pub agent: Router,
    /// Those who present a person's.
    pub person: Router,
}

/// Hands a call to the one that answers its caller's role.
pub(super) async fn call(State(glass): State<Arc<Glass>>, request: Request) -> Response {
    let caller = match glass.caller(request.headers()).await {
        Ok(caller) => caller,
        Err(mut refused) => {
            // Clients of MCP find out by this what to present.
            let headers = refused.headers_mut();
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return refused;
        }
    };
    let router = match caller.role {
        Role::Agent => &glass.mcp.agent,
        Role::Person => &glass.mcp.person,
    };
    let Ok(response) = router.clone().oneshot(request).await;
    response
}
