//! The way to the daemon, in the role of whoever is served. A daemon that went
//! away is sought again, or started, and the same question asked once more.

use crate::client::{self, Client, Context};
use crate::commands::run::resume::{RECONNECTS_MAX, is_lost};
use crate::commands::serve::token_file;
use crate::error::{Failure, Kind};
use glass_proto::HINT_KEY;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use tonic::metadata::errors::InvalidMetadataValue;
use tonic::metadata::{Ascii, MetadataMap, MetadataValue};
use tonic::{Code, Request, Response, Status};

/// Between two attempts to find a daemon.
const RECONNECT_PAUSE: Duration = Duration::from_millis(200);

/// How long a daemon that cannot be reached is sought.
const CONNECT_WAIT: Duration = Duration::from_secs(4);

/// Longest token, in bytes.
const TOKEN_BYTES_MAX: u64 = 256;

/// How the daemon is reached.
pub(in crate::commands) enum Way {
    /// From a process beside it, as an agent: it is sought, and started where none
    /// runs.
    Beside(Arc<Context>),
    /// From inside it, for a caller whose role is known already.
    Within {
        /// Its own socket.
        socket: PathBuf,
        /// What the caller presented.
        token: String,
        /// What a person presents: for answers alone that count as a person's.
        person: String,
    },
}

/// The daemon, wherever it is at the moment.
pub(in crate::commands) struct Daemon {
    way: Way,
    connection: Mutex<Option<Connection>>,
    /// Connections so far.
    count: AtomicU64,
}

/// One connection.
#[derive(Clone)]
pub(super) struct Connection {
    pub client: Client,
    token: MetadataValue<Ascii>,
    /// A person's; absent where the socket knows persons by themselves.
    person: Option<MetadataValue<Ascii>>,
    /// Tells one connection from the next; from 1 on.
    pub number: u64,
}

impl Connection {
    /// A request in the role of whoever is served.
    pub(super) fn request<M>(&self, message: M) -> Request<M> {
        let mut request = Request::new(message);
        let metadata = request.metadata_mut();
        metadata.insert("authorization", self.token.clone());
        request
    }

    /// A request that a person has made. The daemon looks at who connected, so
    /// this makes nobody a person who runs inside a session.
    pub(super) fn persons_request<M>(&self, message: M) -> Request<M> {
        let mut request = Request::new(message);
        if let Some(token) = &self.person {
            let metadata = request.metadata_mut();
            metadata.insert("authorization", token.clone());
        }
        request
    }
}

impl Daemon {
    pub(in crate::commands) fn new(way: Way) -> Daemon {
        Daemon {
            way,
            connection: Mutex::new(None),
            count: AtomicU64::new(0),
        }
    }

    /// Whether it is reached from a process beside it.
    pub(super) fn is_beside(&self) -> bool {
        matches!(self.way, Way::Beside(_))
    }

    /// How often it was found so far.
    pub(super) fn times_found(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Connects before anybody asks. Whoever asks first is told what went wrong.
    pub(in crate::commands) async fn warm_up(&self) {
        drop(self.connection(0).await);
    }

    /// A connection that is not the one with this number, which was lost.
    pub(super) async fn connection(&self, lost: u64) -> Result<Connection, Status> {
        let mut held = self.connection.lock().await;
        if let Some(connection) = held.as_ref().filter(|known| known.number != lost) {
            return Ok(connection.clone());
        }
        *held = None;
        let client = self.connect().await.map_err(status)?;
        let (token, person) = self.tokens().map_err(status)?;
        let connection = Connection {
            client,
            token,
            person,
            number: self.count.fetch_add(1, Ordering::Relaxed) + 1,
        };
        *held = Some(connection.clone());
        Ok(connection)
    }

    async fn connect(&self) -> Result<Client, Failure> {
        match &self.way {
            Way::Beside(context) => seek(context).await,
            Way::Within { socket, .. } => client::dial(socket).await.map_err(|error| {
                let message = format!("the daemon does not hear itself: {error}");
                Failure::new(Kind::Broken, message).hint("it is stopping; try again")
            }),
        }
    }

    fn tokens(&self) -> Result<Presented, Failure> {
        match &self.way {
            Way::Beside(context) => Ok((agents_token(context)?, None)),
            Way::Within { token, person, .. } => {
                let odd = |_| Failure::new(Kind::Broken, "a token is not plain text");
                let token = presented(token).map_err(odd)?;
                Ok((token, Some(presented(person).map_err(odd)?)))
            }
        }
    }

    /// Asks the daemon. What is asked must be harmless to ask twice.
    pub(in crate::commands) async fn call<M, A, F>(
        &self,
        message: M,
        method: impl Fn(Client, Request<M>) -> F,
    ) -> Result<A, Status>
    where
        M: Clone,
        F: Future<Output = Result<Response<A>, Status>>,
    {
        let mut lost = 0;
        let mut tries = 0;
        loop {
            let connection = self.connection(lost).await?;
            let request = connection.request(message.clone());
            match method(connection.client.clone(), request).await {
                Ok(answer) => return Ok(answer.into_inner()),
                Err(status) if is_lost(&status) && tries < RECONNECTS_MAX => {
                    tries += 1;
                    lost = connection.number;
                }
                Err(status) => return Err(status),
            }
        }
    }
}

/// What requests carry: the caller's token, and a person's.
type Presented = (MetadataValue<Ascii>, Option<MetadataValue<Ascii>>);

fn presented(token: &str) -> Result<MetadataValue<Ascii>, InvalidMetadataValue> {
    format!("Bearer {token}").parse()
}

/// Another caller may be starting a daemon in this moment, and ours is then one
/// too many: so a failure counts only when it stays.
async fn seek(context: &Arc<Context>) -> Result<Client, Failure> {
    let deadline = Instant::now() + CONNECT_WAIT;
    loop {
        // A start waits for a process; the others here go on meanwhile.
        let context = Arc::clone(context);
        let runtime = tokio::runtime::Handle::current();
        let connecting = move || runtime.block_on(client::connect(&context));
        let found = tokio::task::spawn_blocking(connecting).await;
        match found.map_err(|_| Failure::new(Kind::Broken, "no thread can be had"))? {
            Err(_) if Instant::now() < deadline => {
                tokio::time::sleep(RECONNECT_PAUSE).await;
            }
            found => return found,
        }
    }
}

fn agents_token(context: &Context) -> Result<MetadataValue<Ascii>, Failure> {
    let data_dir = client::data_dir(&context.dirs, &context.loaded.settings);
    let path = token_file(&data_dir, "agent");
    let unusable = |why: String| {
        let message = format!("the agent's token {}: {why}", path.display());
        Failure::new(Kind::Broken, message)
            .hint("the daemon keeps it in its data directory: is SHELLGLASS_HOME the same?")
    };
    let token = read_token(&path).map_err(|error| unusable(error.to_string()))?;
    presented(&token).map_err(|_| unusable("it is not a token".to_owned()))
}

fn read_token(path: &Path) -> std::io::Result<String> {
    use std::io::Read as _;
    let mut token = String::new();
    let file = std::fs::File::open(path)?;
    file.take(TOKEN_BYTES_MAX).read_to_string(&mut token)?;
    Ok(token.trim().to_owned())
}

/// A failure as a status, so that every way to fail has one type.
fn status(failure: Failure) -> Status {
    let mut metadata = MetadataMap::new();
    if let Some(Ok(hint)) = failure.hint.as_deref().map(str::parse) {
        metadata.insert(HINT_KEY, hint);
    }
    Status::with_metadata(Code::Unavailable, failure.message, metadata)
}

#[cfg(test)]
mod tests {
    use super::{Failure, Kind, status};

    #[test]
    fn a_failure_keeps_its_hint_on_the_way() {
        let failure = Failure::new(Kind::Broken, "no daemon").hint("start one");
        assert_eq!(Failure::from(status(failure.clone())), failure);
    }
}
