//! Resources that a client wants to be told about: a session, or what a command
//! writes. It is told that something is new and not what; then it reads.

use super::output::PIECE_BYTES_MAX;
use super::resources::About;
use super::state::State;
use crate::client::Client;
use crate::commands::run::resume::{RECONNECTS_MAX, is_lost};
use crate::error::{Failure, Kind};
use glass_proto::shellglass::v1::{Overview, Session, SessionRef, WatchSessionsRequest};
use rmcp::RoleServer;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionContext, SubscriptionSink};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{AbortHandle, JoinSet};
use tonic::Status;

/// Resources that one client may watch at once.
pub(super) const WATCHED_MAX: usize = 32;

/// Between two news of one resource. What happens meanwhile is one.
const NEWS_PAUSE: Duration = Duration::from_millis(500);

/// How long the daemon is asked to wait for something new, in milliseconds.
const WAIT_MS: u32 = 20_000;

/// More than any output has, in bytes.
const BEYOND: u64 = 1 << 48;

/// Who is told.
#[derive(Clone)]
pub(super) enum Listener {
    /// A client that named one resource.
    Peer(Peer<RoleServer>),
    /// A client that listens for as long as its request lasts.
    Sink(SubscriptionSink),
}

impl Listener {
    /// Says that a resource is not what it was; whether anybody listens.
    async fn tell(&self, uri: &str) -> bool {
        match self {
            Listener::Peer(peer) => {
                let news = ResourceUpdatedNotificationParam::new(uri);
                peer.notify_resource_updated(news).await.is_ok()
            }
            Listener::Sink(sink) => sink.notify_resource_updated(uri).await.is_ok(),
        }
    }
}

/// A resource that is watched until this is dropped.
pub(super) struct Watch(AbortHandle);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Watches a resource for a client that may see it.
pub(super) async fn begin(
    state: &Arc<State>,
    uri: &str,
    listener: Listener,
) -> Result<Watch, Failure> {
    let about = About::of(uri).ok_or_else(|| {
        let message = format!("no resource is called '{}'", uri.escape_debug());
        Failure::new(Kind::Failed, message)
    })?;
    // Whatever happens from here on is news.
    let seen = look(state, &about).await?;
    let (state, uri) = (Arc::clone(state), uri.to_owned());
    let watching = async move {
        // It ends with the resource, or with the daemon for good.
        drop(match seen {
            Seen::Output(shell_id, end) => {
                follow_output(&state, shell_id, end, &uri, &listener).await
            }
            Seen::Session(session) => follow_session(&state, *session, &uri, &listener).await,
        });
    };
    Ok(Watch(tokio::spawn(watching).abort_handle()))
}

/// What a resource was when it was looked at.
enum Seen {
    /// A command, and how much it had written.
    Output(u32, u64),
    Session(Box<Session>),
}

/// What there is now, if we may see it.
async fn look(state: &State, about: &About) -> Result<Seen, Status> {
    match about {
        About::Output(shell_id) => {
            state.piece(*shell_id, 0, 1, 0).await?;
            let end = state.end_before(*shell_id, BEYOND).await?;
            Ok(Seen::Output(*shell_id, end))
        }
        About::Session(id) => {
            let get =
                |mut client: Client, request| async move { client.get_session(request).await };
            let session_id = id.clone();
            let session = state.daemon.call(SessionRef { session_id }, get).await?;
            Ok(Seen::Session(Box::new(session)))
        }
    }
}

async fn follow_output(
    state: &State,
    shell_id: u32,
    mut end: u64,
    uri: &str,
    listener: &Listener,
) -> Result<(), Status> {
    let mut was_running = true;
    loop {
        let piece = state.piece(shell_id, end, PIECE_BYTES_MAX, WAIT_MS).await?;
        let is_news = piece.next > end || (was_running && !piece.running);
        if is_news {
            end = piece.next;
            if piece.bytes.len() as u64 >= PIECE_BYTES_MAX {
                // Nobody is told of each part of what is there already.
                end = state.end_before(shell_id, BEYOND).await?;
            }
            if !listener.tell(uri).await {
                return Ok(());
            }
        } else if !piece.running {
            return Ok(());
        }
        was_running = piece.running;
        tokio::time::sleep(NEWS_PAUSE).await;
    }
}

async fn follow_session(
    state: &State,
    mut last: Session,
    uri: &str,
    listener: &Listener,
) -> Result<(), Status> {
    let mut lost = 0;
    for _ in 0..=RECONNECTS_MAX {
        let connection = state.daemon.connection(lost).await?;
        let mut client = connection.client.clone();
        let request = WatchSessionsRequest {
            session_id: last.session_id.clone(),
        };
        let ended = match client.watch_sessions(connection.request(request)).await {
            Ok(stream) => tell_changes(stream.into_inner(), &mut last, uri, listener).await,
            Err(status) => Err(status),
        };
        match ended {
            Err(status) if is_lost(&status) => lost = connection.number,
            ended => return ended,
        }
    }
    Ok(())
}

async fn tell_changes(
    mut stream: tonic::Streaming<Overview>,
    last: &mut Session,
    uri: &str,
    listener: &Listener,
) -> Result<(), Status> {
    while let Some(overview) = stream.message().await? {
        let now = overview.sessions.into_iter().find_map(|it| it.session);
        let Some(now) = now.filter(|now| now != last) else {
            continue;
        };
        *last = now;
        if !listener.tell(uri).await {
            return Ok(());
        }
        tokio::time::sleep(NEWS_PAUSE).await;
    }
    // The session has ended.
    listener.tell(uri).await;
    Ok(())
}

/// What of a client's wishes can be watched.
pub(super) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let uris = requested.resource_subscriptions.iter().flatten();
    let ours = uris.filter(|uri| About::of(uri).is_some());
    let mut filter = SubscriptionFilter::new();
    filter.resource_subscriptions = Some(ours.take(WATCHED_MAX).cloned().collect());
    filter
}

/// Tells a client until its request ends.
pub(super) async fn listen(state: &Arc<State>, context: &SubscriptionContext) {
    let uris = context.accepted().resource_subscriptions.iter().flatten();
    let mut beginning = JoinSet::new();
    for uri in uris {
        let (state, sink) = (Arc::clone(state), context.sink().clone());
        let uri = uri.clone();
        beginning.spawn(async move {
            let listener = Listener::Sink(sink);
            let begun = begin(&state, &uri, listener.clone()).await;
            // The client was told that it is listening before we looked.
            if begun.is_ok() {
                listener.tell(&uri).await;
            }
            begun
        });
    }
    let mut watches = Vec::new();
    let listening = async {
        while let Some(begun) = beginning.join_next().await {
            // What is not there is not news.
            watches.extend(begun.ok().and_then(Result::ok));
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = listening => {}
        () = context.cancelled() => {}
    }
}
