//! A client that does not give up: it connects again and asks again, with the
//! same key, until it has its answer.

use glass_proto::shellglass::v1::shell_exec_client::ShellExecClient;
use glass_proto::shellglass::v1::{self as wire, session_event::Event as Kind};
use shellglass_tests::{Client, Summary, summary};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tonic::{Code, Status};

/// Longest wait for one answer, over any number of daemons.
pub const STUBBORNNESS: Duration = Duration::from_secs(60);

/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

/// A client of whichever daemon has the socket.
#[derive(Clone)]
pub struct Stubborn {
    socket: PathBuf,
    patience: Duration,
}

impl Stubborn {
    pub fn new(socket: &Path) -> Stubborn {
        Stubborn {
            socket: socket.to_owned(),
            patience: STUBBORNNESS,
        }
    }

    /// One that waits for what takes as long as a test.
    pub fn patient(&self) -> Stubborn {
        Stubborn {
            patience: STUBBORNNESS * 10,
            ..self.clone()
        }
    }

    async fn connect(&self) -> Result<Client, Status> {
        let uri = format!("unix:{}", self.socket.display());
        let endpoint = tonic::transport::Endpoint::try_from(uri).unwrap();
        let channel = endpoint.connect().await;
        let channel = channel.map_err(|error| Status::unavailable(error.to_string()))?;
        Ok(ShellExecClient::new(channel).max_decoding_message_size(64 << 20))
    }

    /// Calls until a daemon has answered.
    pub async fn call<T, F>(&self, what: &str, call: impl Fn(Client) -> F) -> T
    where
        F: Future<Output = Result<tonic::Response<T>, Status>>,
    {
        let deadline = Instant::now() + self.patience;
        loop {
            let attempt = async { call(self.connect().await?).await };
            let left = deadline.saturating_duration_since(Instant::now());
            let answer = tokio::time::timeout(left, attempt).await;
            match answer.unwrap_or_else(|_| panic!("no answer: {what}")) {
                Ok(answer) => return answer.into_inner(),
                Err(status) => assert!(
                    is_lost_connection(&status) && Instant::now() < deadline,
                    "{what}: {status:?}"
                ),
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Makes a session without start files.
    pub async fn create(&self, shell: &str, mode: wire::SessionMode, cwd: &Path) -> String {
        let request = wire::CreateSessionRequest {
            shell: shell.to_owned(),
            mode: mode.into(),
            startup: "none".to_owned(),
            working_directory: cwd.to_string_lossy().into_owned(),
            ..wire::CreateSessionRequest::default()
        };
        let create = |mut client: Client| {
            let request = request.clone();
            async move { client.create_session(request).await }
        };
        self.call("a session is made", create).await.session_id
    }

    /// Runs a command under a key, to its end.
    pub async fn run(&self, session: &str, command: &str, key: &str) -> Summary {
        self.run_request(request(session, command, key)).await
    }

    /// Sends a request that has a key, to its end.
    pub async fn run_request(&self, request: wire::ExecuteRequest) -> Summary {
        let run = |mut client: Client| {
            let request = request.clone();
            async move { client.run(request).await }
        };
        summary(self.call(&format!("{request:.300?}"), run).await)
    }

    pub async fn session(&self, id: &str) -> wire::Session {
        let session_id = id.to_owned();
        let reference = wire::SessionRef { session_id };
        let get = |mut client: Client| {
            let reference = reference.clone();
            async move { client.get_session(reference).await }
        };
        self.call("the session is known", get).await
    }

    /// All events of a session that are kept. Fails on a gap.
    pub async fn history(&self, session: &str) -> Vec<wire::SessionEvent> {
        let mut events: Vec<wire::SessionEvent> = Vec::new();
        loop {
            let from_index = events.last().map_or(0, |last| last.index + 1);
            let read = |mut client: Client| {
                let request = wire::HistoryRequest {
                    session_id: session.to_owned(),
                    from_index,
                    ..wire::HistoryRequest::default()
                };
                async move { client.get_session_history(request).await }
            };
            let page = self.call("the history is read", read).await;
            let first = events.first().map_or(page.first_index, |event| event.index);
            events.extend(page.events);
            for (event, index) in events.iter().zip(first..) {
                assert_eq!(event.index, index, "an index has no gaps");
            }
            if page.next_index.is_none() {
                return events;
            }
        }
    }

    /// What the history says of each execution.
    pub async fn told(&self, session: &str) -> HashMap<u32, Told> {
        told(self.history(session).await)
    }
}

/// A request that runs a command under a key.
pub fn request(session: &str, command: &str, key: &str) -> wire::ExecuteRequest {
    let args = glass_proto::agent::v1::ShellArgs {
        command: command.to_owned(),
        tool_call_id: key.to_owned(),
        ..glass_proto::agent::v1::ShellArgs::default()
    };
    wire::ExecuteRequest {
        session_id: session.to_owned(),
        args: Some(args),
        ..wire::ExecuteRequest::default()
    }
}

/// Whether an error says only that the daemon went away.
fn is_lost_connection(status: &Status) -> bool {
    let message = status.message();
    match status.code() {
        Code::Unavailable | Code::Cancelled => true,
        Code::Unknown | Code::Internal => {
            message.contains("transport") || message.contains("h2") || message.contains("stream")
        }
        _ => false,
    }
}

/// What a history says of one execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub pids: Vec<u32>,
    pub exits: Vec<Option<i32>>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub dropped_bytes: u64,
}

/// Sorts events by their execution.
pub fn told(events: Vec<wire::SessionEvent>) -> HashMap<u32, Told> {
    let mut executions: HashMap<u32, Told> = HashMap::new();
    for event in events {
        let told = executions.entry(event.shell_id).or_default();
        match event.event.expect("an event has a kind") {
            Kind::CommandStart(start) => told.pids.push(start.pid),
            Kind::Exit(exit) => told.exits.push(exit.code),
            Kind::Stdout(out) => told.stdout.extend(out.raw.unwrap_or(out.data.into())),
            Kind::Stderr(err) => told.stderr.extend(err.raw.unwrap_or(err.data.into())),
            Kind::Dropped(dropped) => told.dropped_bytes += dropped.bytes,
            _ => {}
        }
    }
    executions
}
