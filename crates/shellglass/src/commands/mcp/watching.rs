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
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::{AbortHandle, JoinSet};
use tonic::Status;

/// Resources that one client may watch at once.
pub(super) const WATCHED_MAX: usize = 32;

/// Between two news of one resource. What happens meanwhile is one.
const NEWS_PAUSE: Duration = Duration::from_millis(500);

/// How long the daemon is asked to wait for something new, in milliseconds.
const WAIT_MS: u32 = 20_000;

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

impl Watch {
    /// Whether there is nothing to be told any more.
    fn is_over(&self) -> bool {
        self.0.is_finished()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The resources that one client watches, by their names.
#[derive(Default)]
pub(super) struct Watched(Mutex<BTreeMap<String, Watch>>);

impl Watched {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Watch>> {
        // What is inside is whole after every statement, whoever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this one may be watched beside the others.
    pub(super) fn has_room(&self, uri: &str) -> bool {
        let mut watched = self.lock();
        watched.retain(|_, watch| !watch.is_over());
        watched.len() < WATCHED_MAX || watched.contains_key(uri)
    }

    /// Adds one. Says whether there was room: others may have come while this one
    /// was begun.
    pub(super) fn add(&self, uri: &str, watch: Watch) -> bool {
        let mut watched = self.lock();
        let fits = watched.len() < WATCHED_MAX || watched.contains_key(uri);
        if fits {
            watched.insert(uri.to_owned(), watch);
        }
        fits
    }

    /// The client does not watch a resource any more.
    pub(super) fn remove(&self, uri: &str) {
        self.lock().remove(uri);
    }

    /// The client has gone.
    pub(super) fn clear(&self) {
        self.lock().clear();
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
            Seen::Output(output) => follow_output(&state, output, &uri, &listener).await,
            Seen::Session(session) => follow_session(&state, *session, &uri, &listener).await,
        });
    };
    Ok(Watch(tokio::spawn(watching).abort_handle()))
}

/// What a resource was when it was looked at.
enum Seen {
    Output(Output),
    Session(Box<Session>),
}

/// What is known of what a command writes.
struct Output {
    shell_id: u32,
    end: u64,
    running: bool,
}

/// What there is now, if we may see it.
async fn look(state: &State, about: &About) -> Result<Seen, Status> {
    match about {
        About::Output(shell_id) => {
            let shell_id = *shell_id;
            let running = state.piece(shell_id, 0, 1, 0).await?.running;
            let end = state.end(shell_id).await?;
            Ok(Seen::Output(Output {
                shell_id,
                end,
                running,
            }))
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
    output: Output,
    uri: &str,
    listener: &Listener,
) -> Result<(), Status> {
    let Output {
        shell_id,
        mut end,
        running: mut was_running,
    } = output;
    loop {
        let piece = state.piece(shell_id, end, PIECE_BYTES_MAX, WAIT_MS).await?;
        let is_news = piece.next > end || (was_running && !piece.running);
        if is_news {
            end = piece.next;
            if piece.bytes.len() as u64 >= PIECE_BYTES_MAX {
                // Nobody is told of each part of what is there already.
                end = state.end(shell_id).await?;
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

#[cfg(test)]
mod tests {
    use super::{WATCHED_MAX, Watch, Watched};
    use std::future::{pending, ready};

    fn endless() -> Watch {
        Watch(tokio::spawn(pending::<()>()).abort_handle())
    }

    #[tokio::test]
    async fn what_is_watched_has_its_place_until_it_is_over() {
        let watched = Watched::default();
        let over = tokio::spawn(ready(()));
        for number in 1..WATCHED_MAX {
            assert!(watched.add(&number.to_string(), endless()));
        }
        assert!(watched.add("over", Watch(over.abort_handle())));
        over.await.expect("it ends by itself");
        // Two were let in, and there is room for one.
        assert!(watched.has_room("a") && watched.has_room("b"));
        assert!(watched.add("a", endless()));
        let late = endless();
        let late_task = late.0.clone();
        assert!(!watched.add("b", late) && !watched.has_room("b"));
        assert!(watched.lock().values().all(|watch| !watch.is_over()));
        assert!(watched.add("a", endless()), "it takes its own place");
        watched.remove("1");
        assert!(watched.has_room("b"));
        while !late_task.is_finished() {
            tokio::task::yield_now().await;
        }
    }
}
