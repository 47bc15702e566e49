//! The connections of one role's clients: so many and no more. Where there is no
//! room, the one that was quiet for longest goes; what is remembered of it brings
//! it back when its client asks again.

use crate::commands::mcp::farewells::Farewells;
use crate::commands::mcp::place::task_of;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::WorkerTransport;
use rmcp::transport::common::server_side_http::ServerSseMessage;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, LocalSessionWorker,
};
use rmcp::transport::streamable_http_server::session::{RestoreOutcome, SessionId, SessionManager};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio_stream::Stream;

/// Connections at once.
const CONNECTIONS_MAX: usize = 128;

/// How long a connection may be quiet. A person may think for a while, and a
/// connection costs little.
const QUIET_MAX: Duration = Duration::from_secs(60 * 60);

/// Messages that wait for a client to read them, for each of its calls: a report
/// every second for as long as a call may take, and its answer.
const MESSAGES_MAX: usize = 64;

/// How long an answer is kept for a client that lost it on the way.
const ANSWER_KEPT: Duration = Duration::from_secs(10);

/// How long a connection that has to go may take.
const CLOSE_WAIT: Duration = Duration::from_secs(1);

/// The connections of one role's clients.
pub(super) struct Connections {
    inner: LocalSessionManager,
    farewells: Arc<Farewells>,
    used: Mutex<HashMap<SessionId, Instant>>,
}

type Transport = WorkerTransport<LocalSessionWorker>;

impl Connections {
    pub(super) fn new(farewells: Arc<Farewells>) -> Connections {
        let mut inner = LocalSessionManager::default();
        inner.session_config.keep_alive = Some(QUIET_MAX);
        inner.session_config.channel_capacity = MESSAGES_MAX;
        inner.session_config.completed_cache_ttl = ANSWER_KEPT;
        Connections {
            inner,
            farewells,
            used: Mutex::default(),
        }
    }

    fn used(&self, change: impl FnOnce(&mut HashMap<SessionId, Instant>)) {
        change(&mut self.used.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn note(&self, id: &SessionId) {
        self.used(|used| {
            if let Some(at) = used.get_mut(id) {
                *at = Instant::now();
            }
        });
    }

    /// Makes room for another one, and takes it.
    async fn take(&self, id: SessionId) {
        let mut gone = None;
        self.farewells.forget(&task_of(&id));
        self.used(|used| {
            if used.len() >= CONNECTIONS_MAX {
                let oldest = used.iter().min_by_key(|(_, at)| **at);
                gone = oldest.map(|(id, _)| id.clone());
            }
            if let Some(gone) = &gone {
                used.remove(gone);
            }
            used.insert(id, Instant::now());
        });
        if let Some(gone) = gone {
            // One that is stuck is out of the list all the same.
            let closing = self.inner.close_session(&gone);
            drop(tokio::time::timeout(CLOSE_WAIT, closing).await);
        }
    }
}

impl SessionManager for Connections {
    type Error = LocalSessionManagerError;
    type Transport = Transport;

    async fn create_session(&self) -> Result<(SessionId, Transport), Self::Error> {
        let (id, transport) = self.inner.create_session().await?;
        self.take(id.clone()).await;
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.note(id);
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.used(|used| {
            used.remove(id);
        });
        self.farewells.said(&task_of(id));
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.create_stream(id, message).await
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.resume(id, last_event_id).await
    }

    async fn restore_session(
        &self,
        id: SessionId,
    ) -> Result<RestoreOutcome<Transport>, Self::Error> {
        self.take(id.clone()).await;
        self.inner.restore_session(id).await
    }
}

#[cfg(test)]
mod tests {
    use super::{CONNECTIONS_MAX, Connections, Farewells, task_of};
    use rmcp::transport::streamable_http_server::session::SessionManager as _;
    use std::sync::Arc;

    #[tokio::test]
    async fn the_quietest_connection_makes_room() {
        let farewells = Arc::new(Farewells::default());
        let connections = Connections::new(Arc::clone(&farewells));
        let mut ids = Vec::new();
        // Who holds the other ends is of no matter here.
        let mut transports = Vec::new();
        for _ in 0..CONNECTIONS_MAX {
            let (id, transport) = connections.create_session().await.expect("room");
            ids.push(id);
            transports.push(transport);
        }
        assert!(connections.has_session(&ids[0]).await.expect("known"));
        let (last, _transport) = connections.create_session().await.expect("room");
        assert!(connections.has_session(&last).await.expect("known"));
        assert!(connections.has_session(&ids[0]).await.expect("known"));
        assert!(!connections.has_session(&ids[1]).await.expect("known"));
        // It did not say that it wants nothing more.
        assert!(!farewells.has(&task_of(&ids[1])));
        connections.close_session(&last).await.expect("closed");
        assert!(farewells.has(&task_of(&last)));
    }
}
