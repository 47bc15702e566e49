//! What clients send, taken whole before anybody looks at it: so much at once,
//! over all connections, and so long.

use axum::Router;
use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_stream::StreamExt as _;

/// The longest request over HTTP: twice the longest command, for the memory that
/// reading it takes is the daemon's.
pub(super) const BODY_BYTES_MAX: usize = 8 << 20;

/// What all requests that are being read or answered may have together.
const ALL_BODIES_BYTES_MAX: usize = 64 << 20;

/// What room is counted in.
const UNIT_BYTES: usize = 1 << 10;

/// How long a request may take to arrive, and to wait for room.
const BODY_WAIT: Duration = Duration::from_secs(30);

/// What is read of a request that is refused for its length, in bytes, and for how long.
const PASSED_OVER_BYTES_MAX: usize = 64 << 20;
const PASSED_OVER_WAIT: Duration = Duration::from_secs(5);

/// What a client is told to wait when there was no room, in seconds.
const RETRY_SECONDS: HeaderValue = HeaderValue::from_static("2");

/// Room for what clients send.
#[derive(Clone)]
pub(super) struct Bodies(Arc<Semaphore>);

impl Bodies {
    pub(super) fn new() -> Bodies {
        Bodies::with_room(ALL_BODIES_BYTES_MAX)
    }

    fn with_room(bytes: usize) -> Bodies {
        Bodies(Arc::new(Semaphore::new(bytes / UNIT_BYTES)))
    }

    /// Lets a router's requests in as there is room.
    pub(super) fn before(&self, router: Router) -> Router {
        router.layer(middleware::from_fn_with_state(self.clone(), admit))
    }

    /// Takes a body whole, with room for it, if it comes in time.
    async fn take(&self, body: Body, wait: Duration) -> Result<(Bytes, Room), StatusCode> {
        let taken = tokio::time::timeout(wait, self.take_all(body)).await;
        taken.unwrap_or(Err(StatusCode::SERVICE_UNAVAILABLE))
    }

    async fn take_all(&self, body: Body) -> Result<(Bytes, Room), StatusCode> {
        let mut room = Room::default();
        let mut taken = Vec::new();
        let mut chunks = body.into_data_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|_| StatusCode::BAD_REQUEST)?;
            if taken.len() + chunk.len() > BODY_BYTES_MAX {
                drop((taken, room));
                // Late is as good as whole: it is refused either way.
                let _ = tokio::time::timeout(PASSED_OVER_WAIT, pass_over(chunks)).await;
                return Err(StatusCode::PAYLOAD_TOO_LARGE);
            }
            room.grow(&self.0, taken.len() + chunk.len()).await?;
            taken.extend_from_slice(&chunk);
        }
        Ok((taken.into(), room))
    }
}

/// Reads the rest of a request and keeps nothing of it: many clients hear no answer
/// while they send, and of one that closes on them they see only that.
async fn pass_over(mut rest: BodyDataStream) {
    let mut left = PASSED_OVER_BYTES_MAX;
    while let Some(Ok(chunk)) = rest.next().await {
        left = left.saturating_sub(chunk.len());
        if left == 0 {
            return;
        }
    }
}

/// The room that one request has.
#[derive(Default)]
struct Room {
    permit: Option<OwnedSemaphorePermit>,
}

impl Room {
    async fn grow(&mut self, all: &Arc<Semaphore>, bytes: usize) -> Result<(), StatusCode> {
        let has = self.permit.as_ref().map_or(0, |room| room.num_permits());
        let wanted = bytes.div_ceil(UNIT_BYTES).saturating_sub(has);
        if wanted == 0 {
            return Ok(());
        }
        let wanted = u32::try_from(wanted).map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
        let more = Arc::clone(all).acquire_many_owned(wanted).await;
        let more = more.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
        match &mut self.permit {
            Some(permit) => permit.merge(more),
            None => self.permit = Some(more),
        }
        Ok(())
    }
}

async fn admit(State(bodies): State<Bodies>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    match bodies.take(body, BODY_WAIT).await {
        Ok((body, _room)) => next.run(Request::from_parts(head, body.into())).await,
        Err(status) => {
            let mut response = status.into_response();
            if status == StatusCode::SERVICE_UNAVAILABLE {
                let headers = response.headers_mut();
                headers.insert(header::RETRY_AFTER, RETRY_SECONDS);
            }
            response
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BODY_BYTES_MAX, BODY_WAIT, Bodies, Body, Bytes, StatusCode};
    use std::convert::Infallible;
    use std::time::Duration;
    use tokio_stream::wrappers::ReceiverStream;

    #[tokio::test]
    async fn a_request_is_taken_as_it_is_and_no_longer_than_it_may_be() {
        let bodies = Bodies::new();
        let sent = vec![b'x'; BODY_BYTES_MAX];
        let (body, _room) = bodies
            .take(sent.clone().into(), BODY_WAIT)
            .await
            .expect("whole");
        assert!(body == sent);
        let longer = vec![b'x'; BODY_BYTES_MAX + 1];
        let refused = bodies.take(longer.into(), BODY_WAIT).await;
        assert_eq!(refused.err(), Some(StatusCode::PAYLOAD_TOO_LARGE));
    }

    #[tokio::test]
    async fn what_does_not_arrive_is_let_go_and_its_room_is_free() {
        let bodies = Bodies::with_room(4 << 10);
        let (slow, receiver) = tokio::sync::mpsc::channel::<Result<Bytes, Infallible>>(4);
        let first = slow.send(Ok(vec![b'x'; 4 << 10].into())).await;
        first.expect("there is room in the channel");
        let body = Body::from_stream(ReceiverStream::new(receiver));
        // It holds all the room there is while the other one waits for some.
        let short = Duration::from_millis(50);
        let (slow_one, other) = tokio::join!(bodies.take(body, short), async {
            tokio::task::yield_now().await;
            bodies.take("y".into(), BODY_WAIT).await
        });
        assert_eq!(slow_one.err(), Some(StatusCode::SERVICE_UNAVAILABLE));
        let (body, room) = other.expect("room came free");
        assert_eq!((&body[..], bodies.0.available_permits()), (&b"y"[..], 3));
        drop(room);
        assert_eq!(bodies.0.available_permits(), 4);
        drop(slow);
    }
}
