//! Connections over TCP, HTTP/1.1 and HTTP/2 alike.

use super::Tls;
use super::activity::{Activity, Counted, Patience};
use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Connections at once; more wait to be accepted.
const CONNECTIONS_MAX: usize = 1024;

/// Time for a client to say what it wants.
const HEADERS_DEADLINE: Duration = Duration::from_secs(15);

/// How long a connection may be without a request: before its first one, and
/// after its last one.
const PATIENCE: Patience = Patience {
    first: HEADERS_DEADLINE,
    next: Duration::from_secs(600),
};

/// Time for a connection that is let go to say so.
const FAREWELL_DEADLINE: Duration = Duration::from_secs(5);

/// Bytes of the head of a request, at most.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// How often a connection of HTTP/2 is asked whether its client is there, and
/// how long that may take.
const PING_EVERY: Duration = Duration::from_secs(30);
const PING_DEADLINE: Duration = Duration::from_secs(30);

/// Requests at once on a connection of HTTP/2; more wait for these to end.
const STREAMS_MAX: u32 = 32;

/// Pause after a connection that could not be accepted: the reason, such as too
/// many open files, does not go away at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Time for a client to agree on keys.
const HANDSHAKE_DEADLINE: Duration = Duration::from_secs(10);

/// Serves for ever.
pub(crate) async fn serve(listener: TcpListener, tls: Option<Tls>, router: Router) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let builder = Arc::new(builder());
    loop {
        let permit = room.clone().acquire_owned().await;
        let permit = permit.expect("the semaphore is never closed");
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection over TCP failed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // What is typed and shown must not wait for more.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection cannot be made prompt");
        }
        let (builder, router, tls) = (builder.clone(), router.clone(), tls.clone());
        tokio::spawn(async move {
            match tls {
                None => attend(&builder, stream, router).await,
                Some(tls) => match timeout(HANDSHAKE_DEADLINE, tls.accept(stream)).await {
                    Ok(Ok(stream)) => attend(&builder, stream, router).await,
                    Ok(Err(error)) => tracing::debug!(%error, "no keys were agreed on"),
                    Err(_) => tracing::debug!("no keys were agreed on in time"),
                },
            }
            drop(permit);
        });
    }
}

async fn attend<S>(builder: &Builder<TokioExecutor>, stream: S, router: Router)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let activity = Activity::new();
    let service = TowerToHyperService::new(Counted {
        router,
        activity: activity.clone(),
    });
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let served = tokio::select! {
        served = connection.as_mut() => served,
        () = activity.is_forsaken(PATIENCE) => {
            connection.as_mut().graceful_shutdown();
            let ended = timeout(FAREWELL_DEADLINE, connection).await;
            ended.unwrap_or(Ok(()))
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a connection over TCP ended");
    }
}

fn builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_DEADLINE)
        .max_buf_size(HEAD_BYTES_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .initial_stream_window_size(crate::serve::WINDOW_BYTES)
        .initial_connection_window_size(crate::serve::WINDOW_BYTES)
        .max_header_list_size(u32::try_from(HEAD_BYTES_MAX).expect("a small number"))
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_DEADLINE);
    builder
}
