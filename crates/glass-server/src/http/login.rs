//! How the page turns the token of its address into a pass.

use super::pass::{PASS_SECONDS, Pass, cookie_name, now_seconds, refusal};
use super::{BODY_DEADLINE, Glass};
use axum::Json;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use glass_model::Role;
use serde_json::{Value, json};
use std::sync::Arc;

/// Bytes of a request for a pass: anybody may send one, and a token is short.
const REQUEST_BYTES_MAX: usize = 4096;

/// Takes `{"token": …}` and gives a cookie, and the key that goes with it.
pub(super) async fn log_in(State(glass): State<Arc<Glass>>, request: Request) -> Response {
    let body = to_bytes(request.into_body(), REQUEST_BYTES_MAX);
    let Ok(body) = tokio::time::timeout(BODY_DEADLINE, body).await else {
        return super::api::too_slow();
    };
    let Ok(body) = body else {
        let (kind, message) = ("OUT_OF_RANGE", "the request is too long");
        return refusal(StatusCode::PAYLOAD_TOO_LARGE, kind, message, "send a token");
    };
    let request: Option<Value> = serde_json::from_slice(&body).ok();
    let token = request.as_ref().and_then(|it| it.get("token")?.as_str());
    let Some(token) = token else {
        let (kind, message) = ("INVALID_ARGUMENT", "the request has no token");
        let hint = r#"send {"token": "…"}"#;
        return refusal(StatusCode::BAD_REQUEST, kind, message, hint);
    };
    let Some(role) = glass.tokens.role(token) else {
        return glass.wrong_token().await;
    };
    let pass = Pass::new(&glass.tokens, role, now_seconds() + PASS_SECONDS);
    let role = match role {
        Role::Person => "person",
        Role::Agent => "agent",
    };
    let cookie = set_cookie(&glass, &pass.cookie, PASS_SECONDS);
    let body = Json(json!({ "key": pass.key, "role": role }));
    ([(header::SET_COOKIE, cookie)], body).into_response()
}

/// Takes the cookie away.
pub(super) async fn log_out(State(glass): State<Arc<Glass>>) -> Response {
    let cookie = set_cookie(&glass, "", 0);
    ([(header::SET_COOKIE, cookie)], StatusCode::NO_CONTENT).into_response()
}

fn set_cookie(glass: &Glass, value: &str, seconds: u64) -> String {
    let name = cookie_name(glass.addresses.port());
    let secure = if glass.addresses.is_secure() {
        "; Secure"
    } else {
        ""
    };
    format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}{secure}")
}
