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
    let mut page = Page::default();
    page.version(env!("CARGO_PKG_VERSION"));
    for level in glass.engine.levels(&caller) {
        page.gauge(level.name, level.help, level.value);
    }
    let open = SOCKETS_MAX - glass.sockets.available_permits();
    let help = "Views and event streams that are open.";
    page.gauge("websockets", help, open as u64);
    for family in glass.engine.figures() {
        page.family(&family);
    }
    process(&mut page);
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], page.text()).into_response()
}
