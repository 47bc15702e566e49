//! `/metrics`: how the daemon is, as Prometheus reads it.
//!
//! No label has a text of somebody's: whoever may see this learns numbers.

use super::numbers::{Page, process};
use super::{Glass, SOCKETS_MAX};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
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
    let longest = sessions.iter().map(|view| view.queued).max().unwrap_or(0);
    let open = SOCKETS_MAX - glass.sockets.available_permits();
    let approvals = glass.engine.approvals(&caller).len();
    let mut page = Page::default();
    page.version(env!("CARGO_PKG_VERSION"));
    for (name, help, value) in [
        ("sessions", "Sessions that live.", sessions.len()),
        ("sessions_busy", "Sessions in which a command runs.", busy),
        (
            "executions_queued",
            "Commands that wait for their turn.",
            queued,
        ),
        (
            "session_queue_longest",
            "Commands that wait in the session where most do.",
            longest,
        ),
        (
            "approvals_pending",
            "Commands that wait for a person.",
            approvals,
        ),
        ("websockets", "Views and event streams that are open.", open),
    ] {
        page.gauge(name, help, value as u64);
    }
    for family in glass.engine.figures() {
        page.family(&family);
    }
    process(&mut page);
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], page.text()).into_response()
}
