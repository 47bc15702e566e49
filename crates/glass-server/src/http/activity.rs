//! Whether a connection is used: one that nobody uses makes room.

use axum::body::{Body, Bytes, HttpBody};
use axum::http::Request;
use axum::response::Response;
use axum::{BoxError, Router};
use http_body_util::BodyExt as _;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tower::{Service, ServiceExt as _};

/// How long a connection may be without a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Before its first one.
    pub(super) first: Duration,
    /// After its last one.
    pub(super) next: Duration,
}

/// The requests of one connection.
#[derive(Clone)]
pub(super) struct Activity(Arc<Mutex<Requests>>);

struct Requests {
    under_way: usize,
    has_had_one: bool,
    quiet_since: Instant,
}

impl Activity {
    pub(super) fn new() -> Activity {
        Activity(Arc::new(Mutex::new(Requests {
            under_way: 0,
            has_had_one: false,
            quiet_since: Instant::now(),
        })))
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) -> UnderWay {
        let mut requests = self.requests();
        requests.under_way += 1;
        requests.has_had_one = true;
        UnderWay(self.clone())
    }

    /// Waits until it has not been used for too long.
    pub(super) async fn is_forsaken(&self, patience: Patience) {
        loop {
            let rest = {
                let requests = self.requests();
                let longest = match requests.has_had_one {
                    true => patience.next,
                    false => patience.first,
                };
                match requests.under_way {
                    0 => longest.saturating_sub(requests.quiet_since.elapsed()),
                    _ => longest,
                }
            };
            if rest.is_zero() {
                return;
            }
            tokio::time::sleep(rest).await;
        }
    }
}

/// A request that is being answered, until the last byte of that is gone.
struct UnderWay(Activity);

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut requests = self.0.requests();
        requests.under_way -= 1;
        requests.quiet_since = Instant::now();
    }
}

/// A router whose requests are counted.
#[derive(Clone)]
pub(super) struct Counted {
    pub(super) router: Router,
    pub(super) activity: Activity,
}

impl<B> Service<Request<B>> for Counted
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let under_way = self.activity.begin();
        let answer = self.router.clone().oneshot(request);
        Box::pin(async move {
            let response = answer.await?;
            Ok(response.map(|body| {
                Body::new(body.map_frame(move |frame| {
                    // It ends with the body, which owns this.
                    let _under_way = &under_way;
                    frame
                }))
            }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Activity, Patience};
    use std::time::Duration;
    use tokio::time::timeout;

    const NEVER: Duration = Duration::from_secs(3600);
    const SOON: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn a_connection_without_a_first_or_a_next_request_is_forsaken() {
        let activity = Activity::new();
        let (first, next) = (SOON, NEVER);
        activity.is_forsaken(Patience { first, next }).await;
        drop(activity.begin());
        let (first, next) = (NEVER, SOON);
        activity.is_forsaken(Patience { first, next }).await;
    }

    #[tokio::test]
    async fn a_connection_that_is_answered_is_not_forsaken() {
        let activity = Activity::new();
        let request = activity.begin();
        let soon = Patience {
            first: SOON,
            next: SOON,
        };
        let waited = timeout(SOON * 5, activity.is_forsaken(soon)).await;
        assert!(waited.is_err(), "an answer is under way");
        drop(request);
        activity.is_forsaken(soon).await;
    }
}
