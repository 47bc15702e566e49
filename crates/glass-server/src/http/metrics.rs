//! `/metrics`: a few numbers, as Prometheus reads them.

use super::{Glass, SOCKETS_MAX};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use std::fmt::Write as _;
use std::sync::Arc;

/// Shows them.
pub(super) async fn show(State(glass): State<Arc<Glass>>, headers: HeaderMap) -> Response {
    let caller = match glass.caller(&headers).await {
        Ok(caller) => caller,
        Err(refused) => return refused,
    };
    let sessions = glass.engine.overview(&caller);
    let busy = sessions
        .iter()
        .filter(|view| view.running.is_some())
        .count();
    let queued: usize = sessions.iter().map(|view| view.queued).sum();
    let open = SOCKETS_MAX - glass.sockets.available_permits();
    let mut text = String::new();
    for (name, help, value) in [
        ("sessions", "Sessions that live.", sessions.len()),
        ("sessions_busy", "Sessions in which a command runs.", busy),
        (
            "executions_queued",
            "Commands that wait for their turn.",
            queued,
        ),
        (
            "approvals_pending",
            "Commands that wait for a person.",
            glass.engine.approvals(&caller).len(),
        ),
        ("websockets", "Views and event streams that are open.", open),
    ] {
        writeln!(
            text,
            "# HELP shellglass_{name} {help}\n# TYPE shellglass_{name} gauge\n\
             shellglass_{name} {value}"
        )
        .expect("a String takes everything");
    }
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}
