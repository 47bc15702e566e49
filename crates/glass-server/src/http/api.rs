//! `/api/v1/METHOD`: the service's unary methods as protobuf-JSON. A call is
//! translated and handed to the service itself, so it means exactly what it
//! means over gRPC.

use super::pass::refusal;
use super::{BODY_DEADLINE, Glass};
use crate::serve::REQUEST_BYTES_MAX;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest as _, Path, State};
use axum::http::{HeaderMap, Method as Verb, Request, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use glass_proto::{HINT_KEY, Method};
use glass_session::Caller;
use http_body_util::BodyExt as _;
use std::sync::Arc;
use tonic::{Code, Status};
use tower::ServiceExt as _;

/// Bytes before a message of gRPC: whether it is compressed, and its length.
const PREFIX_BYTES: usize = 5;

/// Answers a call. What it has to say is read once it is known who calls: nobody
/// else makes us keep megabytes.
pub(super) async fn call(
    State(glass): State<Arc<Glass>>,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Response {
    let caller = match glass.caller(request.headers()).await {
        Ok(caller) => caller,
        Err(refused) => return refused,
    };
    if request.method() != Verb::POST {
        let allow = [(header::ALLOW, "POST")];
        return (StatusCode::METHOD_NOT_ALLOWED, allow, "use POST\n").into_response();
    }
    let Some(method) = Method::unary(&name) else {
        let message = format!("there is no method '{}' here", name.escape_debug());
        let hint = "the service's unary methods are here; those that stream are not";
        return refusal(StatusCode::NOT_FOUND, "NOT_FOUND", &message, hint);
    };
    // This keeps to the router's limit.
    let body = tokio::time::timeout(BODY_DEADLINE, Bytes::from_request(request, &())).await;
    let body = match body {
        Ok(Ok(body)) => body,
        Ok(Err(refused)) => return refused.into_response(),
        Err(_) => return too_slow(),
    };
    match translated(&glass, &caller, &method, &body).await {
        Ok(json) => ([(header::CONTENT_TYPE, "application/json")], json).into_response(),
        Err(status) => error(&status),
    }
}

/// What a caller is told who takes too long to say what it wants.
pub(super) fn too_slow() -> Response {
    let (kind, message) = ("DEADLINE_EXCEEDED", "the request did not arrive in time");
    refusal(
        StatusCode::REQUEST_TIMEOUT,
        kind,
        message,
        "send it again, at once",
    )
}

async fn translated(
    glass: &Glass,
    caller: &Caller,
    method: &Method,
    body: &[u8],
) -> Result<Vec<u8>, Status> {
    let message = method
        .request(body)
        .map_err(|error| Status::invalid_argument(error.to_string()))?;
    let bytes = message.len();
    let length = u32::try_from(bytes).ok();
    let length = length.filter(|_| bytes <= REQUEST_BYTES_MAX);
    let length = length.ok_or_else(|| Status::out_of_range("the request is too long"))?;
    let mut framed = Vec::with_capacity(PREFIX_BYTES + bytes);
    framed.push(0);
    framed.extend_from_slice(&length.to_be_bytes());
    framed.extend_from_slice(&message);
    let request = Request::post(method.path())
        .header(header::CONTENT_TYPE, "application/grpc")
        .header(header::TE, "trailers")
        .header(
            header::AUTHORIZATION,
            format!("Bearer {}", glass.tokens.of(caller.role)),
        )
        .body(Body::from(framed));
    let request = request.map_err(|error| Status::internal(error.to_string()))?;
    let Ok(response) = glass.grpc.clone().oneshot(request).await;
    let answer = message_of(response).await?;
    method
        .answer(&answer)
        .map_err(|error| Status::internal(error.to_string()))
}

/// The one message of an answer, or its status.
async fn message_of(response: Response) -> Result<Bytes, Status> {
    let broken = || Status::internal("the service's answer has no message");
    let (head, body) = response.into_parts();
    // An error without a message has its status in the headers.
    refused(&head.headers)?;
    let body = body.collect().await;
    let body = body.map_err(|error| Status::internal(error.to_string()))?;
    if let Some(trailers) = body.trailers() {
        refused(trailers)?;
    }
    let bytes = body.to_bytes();
    (bytes.len() >= PREFIX_BYTES)
        .then(|| bytes.slice(PREFIX_BYTES..))
        .ok_or_else(broken)
}

fn refused(headers: &HeaderMap) -> Result<(), Status> {
    match Status::from_header_map(headers) {
        Some(status) if status.code() != Code::Ok => Err(status),
        _ => Ok(()),
    }
}

/// An error as all of them look.
pub(super) fn error(status: &Status) -> Response {
    let (http, kind) = meaning(status.code());
    let hint = status.metadata().get(HINT_KEY);
    let hint = hint.and_then(|hint| hint.to_str().ok()).unwrap_or_default();
    refusal(http, kind, status.message(), hint)
}

/// A code of gRPC as one of HTTP, and its name.
fn meaning(code: Code) -> (StatusCode, &'static str) {
    match code {
        Code::Ok => (StatusCode::OK, "OK"),
        Code::InvalidArgument => (StatusCode::BAD_REQUEST, "INVALID_ARGUMENT"),
        Code::OutOfRange => (StatusCode::BAD_REQUEST, "OUT_OF_RANGE"),
        Code::Unauthenticated => (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED"),
        Code::PermissionDenied => (StatusCode::FORBIDDEN, "PERMISSION_DENIED"),
        Code::NotFound => (StatusCode::NOT_FOUND, "NOT_FOUND"),
        Code::AlreadyExists => (StatusCode::CONFLICT, "ALREADY_EXISTS"),
        Code::Aborted => (StatusCode::CONFLICT, "ABORTED"),
        Code::FailedPrecondition => (StatusCode::CONFLICT, "FAILED_PRECONDITION"),
        Code::ResourceExhausted => (StatusCode::TOO_MANY_REQUESTS, "RESOURCE_EXHAUSTED"),
        Code::Unimplemented => (StatusCode::NOT_IMPLEMENTED, "UNIMPLEMENTED"),
        Code::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE"),
        Code::DeadlineExceeded => (StatusCode::GATEWAY_TIMEOUT, "DEADLINE_EXCEEDED"),
        Code::Cancelled => (StatusCode::REQUEST_TIMEOUT, "CANCELLED"),
        Code::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL"),
        Code::DataLoss => (StatusCode::INTERNAL_SERVER_ERROR, "DATA_LOSS"),
        Code::Unknown => (StatusCode::INTERNAL_SERVER_ERROR, "UNKNOWN"),
    }
}
