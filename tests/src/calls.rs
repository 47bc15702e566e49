//! Calls of the service, and everything that they answer.

use crate::{Client, PATIENCE, TestSession};
use glass_proto::agent::v1::shell_result::Result as Kind;
use glass_proto::agent::v1::shell_stream::Event as Item;
use glass_proto::agent::v1::{self as agent};
use glass_proto::shellglass::v1::{self as wire, CreateSessionRequest, ExecuteRequest};
use std::path::Path;
use tonic::metadata::MetadataValue;
use tonic::{Code, Request, Status, Streaming};

/// Everything that one `Execute` stream said.
#[derive(Clone, Debug, Default)]
pub struct Told(pub Vec<Item>);

impl Told {
    /// The start, which comes first and once.
    pub fn start(&self) -> &agent::ShellStreamStart {
        let starts = self.0.iter().filter(|item| matches!(item, Item::Start(_)));
        assert_eq!(starts.count(), 1, "{self:?}");
        match &self.0[0] {
            Item::Start(start) => start,
            other => panic!("something came before the start: {other:?}"),
        }
    }

    /// The exit, which comes last and once.
    pub fn exit(&self) -> &agent::ShellStreamExit {
        let exits = self.0.iter().filter(|item| matches!(item, Item::Exit(_)));
        assert_eq!(exits.count(), 1, "{self:?}");
        match self.0.last() {
            Some(Item::Exit(exit)) => exit,
            other => panic!("something came after the exit: {other:?}"),
        }
    }

    /// The exact bytes of standard output.
    pub fn stdout(&self) -> Vec<u8> {
        let outputs = self.0.iter().filter_map(|item| match item {
            Item::Stdout(output) => Some(exact(&output.data, output.raw.as_deref())),
            _ => None,
        });
        outputs.flatten().collect()
    }

    /// The exact bytes of standard error.
    pub fn stderr(&self) -> Vec<u8> {
        let outputs = self.0.iter().filter_map(|item| match item {
            Item::Stderr(output) => Some(exact(&output.data, output.raw.as_deref())),
            _ => None,
        });
        outputs.flatten().collect()
    }

    /// What standard output has as text, piece by piece, and whether bytes
    /// stood beside it.
    pub fn stdout_pieces(&self) -> Vec<(String, bool)> {
        let pieces = self.0.iter().filter_map(|item| match item {
            Item::Stdout(output) => Some((output.data.clone(), output.raw.is_some())),
            _ => None,
        });
        pieces.collect()
    }
}

/// The bytes that a piece of output stands for.
pub fn exact(data: &str, raw: Option<&[u8]>) -> Vec<u8> {
    raw.unwrap_or(data.as_bytes()).to_vec()
}

/// The token of a role, as a daemon in this home keeps it.
pub fn token(home: &Path, role: &str) -> String {
    let text = std::fs::read_to_string(home.join(format!("data/{role}.token")));
    text.expect("the daemon keeps its tokens").trim().to_owned()
}

/// A request that presents a token.
pub fn with_token<T>(message: T, token: &str) -> Request<T> {
    let mut request = Request::new(message);
    let value: MetadataValue<_> = format!("Bearer {token}").parse().unwrap();
    request.metadata_mut().insert("authorization", value);
    request
}

/// The next item of a stream, or none at its end.
pub async fn next<T>(stream: &mut Streaming<T>) -> Option<T> {
    let next = tokio::time::timeout(PATIENCE, stream.message()).await;
    next.expect("a stream goes on in time")
        .expect("a stream does not fail")
}

/// Reads an `Execute` stream to its end.
pub async fn told(client: &Client, request: ExecuteRequest) -> Result<Told, Status> {
    let mut stream = client.clone().execute(request).await?.into_inner();
    Ok(rest(&mut stream).await)
}

/// What is left of an `Execute` stream.
pub async fn rest(stream: &mut Streaming<agent::ShellStream>) -> Told {
    let mut told = Told::default();
    while let Some(message) = next(stream).await {
        told.0
            .push(message.event.expect("a message of a stream has an event"));
    }
    told
}

/// Checks that a call failed with this code and says what to do; gives its
/// message.
pub fn refused<T: std::fmt::Debug>(result: Result<T, Status>, code: Code) -> String {
    let status = result.expect_err("the call is refused");
    assert_eq!(status.code(), code, "{status:?}");
    let hint = status.metadata().get(glass_proto::HINT_KEY);
    assert!(
        hint.is_some_and(|hint| !hint.is_empty()),
        "no hint: {status:?}"
    );
    assert!(!status.message().is_empty(), "no message: {status:?}");
    status.message().to_owned()
}

/// A result that must be a success.
pub fn success(result: agent::ShellResult) -> agent::ShellSuccess {
    match result.result {
        Some(Kind::Success(success)) => success,
        other => panic!("not a success: {other:?}"),
    }
}

/// A result that must be a failure.
pub fn failure(result: agent::ShellResult) -> agent::ShellFailure {
    match result.result {
        Some(Kind::Failure(failure)) => failure,
        other => panic!("not a failure: {other:?}"),
    }
}

/// Why a result says that its command was not allowed to run.
pub fn rejected(result: agent::ShellResult) -> String {
    match result.result {
        Some(Kind::Rejected(rejected)) => rejected.reason,
        other => panic!("not rejected: {other:?}"),
    }
}

impl TestSession {
    /// Makes a session as the caller with this token.
    pub async fn create_as(client: &Client, request: CreateSessionRequest, token: &str) -> Self {
        let mut client = client.clone();
        let made = client.create_session(with_token(request, token)).await;
        let id = made.expect("a session is made").into_inner().session_id;
        TestSession { client, id }
    }

    /// The whole result of a request.
    pub async fn result(&self, request: ExecuteRequest) -> agent::ShellResult {
        let mut client = self.client.clone();
        let result = tokio::time::timeout(PATIENCE * 2, client.run(request)).await;
        let result = result.expect("the command ends in time");
        result.expect("the command is accepted").into_inner()
    }

    /// Everything that a command's stream says.
    pub async fn told(&self, command: &str) -> Told {
        let told = told(&self.client, self.request(command)).await;
        told.expect("the command is accepted")
    }

    /// Starts a command and gives its stream once it has begun.
    pub async fn begin(&self, command: &str) -> (u32, Streaming<agent::ShellStream>) {
        self.begin_request(self.request(command)).await
    }

    /// Starts a request and gives its stream once it has begun.
    pub async fn begin_request(
        &self,
        request: ExecuteRequest,
    ) -> (u32, Streaming<agent::ShellStream>) {
        let accepted = self.client.clone().execute(request).await;
        let mut stream = accepted.expect("the command is accepted").into_inner();
        match next(&mut stream).await.and_then(|message| message.event) {
            Some(Item::Start(start)) => (start.shell_id, stream),
            other => panic!("a stream begins with its start, not with {other:?}"),
        }
    }

    /// The request with these arguments instead of the usual ones.
    pub fn with_args(
        &self,
        command: &str,
        change: impl FnOnce(&mut agent::ShellArgs),
    ) -> ExecuteRequest {
        let mut request = self.request(command);
        change(request.args.get_or_insert_default());
        request
    }

    /// The session as the service shows it.
    pub async fn shown(&self) -> wire::Session {
        let reference = self.reference();
        let shown = self.client.clone().get_session(reference).await;
        shown.expect("the session is shown").into_inner()
    }

    /// What names the session.
    pub fn reference(&self) -> wire::SessionRef {
        wire::SessionRef {
            session_id: self.id.clone(),
        }
    }

    /// The session's whole history.
    pub async fn history(&self) -> wire::SessionHistory {
        let request = wire::HistoryRequest {
            session_id: self.id.clone(),
            ..wire::HistoryRequest::default()
        };
        let history = self.client.clone().get_session_history(request).await;
        history.expect("a history can be read").into_inner()
    }

    /// The session's events from an index on.
    pub async fn subscribe(&self, from_index: u64) -> Streaming<wire::SessionEvent> {
        let request = wire::SubscribeRequest {
            session_id: self.id.clone(),
            from_index,
        };
        let stream = self.client.clone().subscribe(request).await;
        stream.expect("a session can be watched").into_inner()
    }

    /// Waits until exactly so many commands wait for a person, and gives them.
    pub async fn until_waiting(&self, count: usize) -> Vec<wire::Approval> {
        let deadline = std::time::Instant::now() + PATIENCE;
        loop {
            let listed = self.client.clone().list_approvals(wire::Empty {}).await;
            let waiting = listed.expect("what waits is told").into_inner().approvals;
            if waiting.len() == count {
                return waiting;
            }
            assert!(std::time::Instant::now() < deadline, "{waiting:#?}");
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }

    /// Answers the one command that waits for a person, and gives the question.
    pub async fn answer(&self, approve: bool, scope: wire::ApprovalScope) -> wire::Approval {
        let asked = self.until_waiting(1).await.remove(0);
        let answer = wire::ResolveApprovalRequest {
            approval_id: asked.approval_id.clone(),
            approve,
            scope: scope.into(),
            ..wire::ResolveApprovalRequest::default()
        };
        let resolved = self.client.clone().resolve_approval(answer).await;
        resolved.expect("the answer is taken");
        asked
    }

    /// Waits until the session is as wanted.
    pub async fn until(&self, what: &str, holds: impl Fn(&wire::Session) -> bool) -> wire::Session {
        let deadline = std::time::Instant::now() + PATIENCE;
        loop {
            let shown = self.shown().await;
            if holds(&shown) {
                return shown;
            }
            assert!(std::time::Instant::now() < deadline, "{what}: {shown:?}");
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }
}
