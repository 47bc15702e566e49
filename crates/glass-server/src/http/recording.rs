//! `GET /api/v1/ExportRecording?sessionId=…`: a session as an asciicast, streamed.

use super::Glass;
use super::api;
use crate::{recording, status};
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use std::sync::Arc;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;

/// The parameter that names the session. Ids are plain, so nothing is decoded.
const SESSION: &str = "sessionId=";

/// Sends a recording.
pub(super) async fn export(
    State(glass): State<Arc<Glass>>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let caller = match glass.caller(&headers).await {
        Ok(caller) => caller,
        Err(refused) => return refused,
    };
    let query = query.unwrap_or_default();
    let mut parameters = query.split('&');
    let id = parameters.find_map(|parameter| parameter.strip_prefix(SESSION));
    let chunks = match recording::open(&glass.engine, &caller, id.unwrap_or_default()) {
        Ok(chunks) => chunks,
        Err(error) => return api::error(&status::lookup(error)),
    };
    let body = ReceiverStream::new(chunks).map(|chunk| chunk.map_err(axum::BoxError::from));
    let kind = [(header::CONTENT_TYPE, "application/x-asciicast")];
    (kind, Body::from_stream(body)).into_response()
}
