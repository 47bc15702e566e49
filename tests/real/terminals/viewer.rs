//! A client of `Attach`, and everything that it was shown.

use glass_proto::shellglass::v1::attach_input::Input;
use glass_proto::shellglass::v1::attach_output::Output;
use glass_proto::shellglass::v1::{
    AttachInput, AttachOpen, AttachOutput, CreateSessionRequest, Resize, SessionMode,
};
use shellglass_tests::{Client, Daemon, PATIENCE, TestSession};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Status, Streaming};

/// One view of a session.
pub struct Viewer {
    input: mpsc::Sender<AttachInput>,
    stream: Streaming<AttachOutput>,
    /// The bytes so far.
    pub bytes: Vec<u8>,
    /// Everything else so far.
    pub others: Vec<Output>,
}

/// What opens a view of a session that was measured as 80 by 30.
pub fn open(session: &TestSession) -> AttachOpen {
    AttachOpen {
        session_id: session.id.clone(),
        cols: 80,
        rows: 30,
        ..AttachOpen::default()
    }
}

impl Viewer {
    /// Opens a view, or says why there is none.
    pub async fn try_open(client: &Client, open: AttachOpen) -> Result<Viewer, Status> {
        Viewer::present(client, open, Request::new).await
    }

    /// The same with a request that presents something.
    pub async fn present(
        client: &Client,
        open: AttachOpen,
        request: impl FnOnce(ReceiverStream<AttachInput>) -> Request<ReceiverStream<AttachInput>>,
    ) -> Result<Viewer, Status> {
        let (input, receiver) = mpsc::channel(64);
        let first = AttachInput {
            input: Some(Input::Open(open)),
        };
        input.send(first).await.unwrap();
        let request = request(ReceiverStream::new(receiver));
        let stream = client.clone().attach(request).await?.into_inner();
        Ok(Viewer {
            input,
            stream,
            bytes: Vec::new(),
            others: Vec::new(),
        })
    }

    /// Opens a view.
    pub async fn open(client: &Client, open: AttachOpen) -> Viewer {
        let opened = Viewer::try_open(client, open).await;
        opened.expect("the view opens")
    }

    /// Takes one message; none at the end.
    pub async fn step(&mut self) -> Option<Output> {
        let next = tokio::time::timeout(PATIENCE, self.stream.message()).await;
        let Ok(message) = next else {
            panic!("nothing more is shown after {:?}", self.text());
        };
        let message = message.expect("a view does not fail")?;
        let output = message.output.expect("a message says something");
        match &output {
            Output::Data(bytes) => self.bytes.extend_from_slice(bytes),
            other => self.others.push(other.clone()),
        }
        Some(output)
    }

    /// Reads until the replay is done.
    pub async fn ready(&mut self) {
        let is_ready = |other: &Output| matches!(other, Output::Ready(_));
        while !self.others.iter().any(is_ready) {
            self.step().await.expect("the view goes on");
        }
    }

    /// Reads until this was shown.
    pub async fn until(&mut self, text: &str) {
        while !self.text().contains(text) {
            let step = self.step().await;
            assert!(step.is_some(), "no '{text}' in {:?}", self.text());
        }
    }

    /// Reads to the end; gives the exit code.
    pub async fn end(&mut self) -> Option<i32> {
        while self.step().await.is_some() {}
        match self.others.last() {
            Some(Output::Exited(exited)) => exited.code,
            other => panic!("the view did not end: {other:?}"),
        }
    }

    /// What was shown, as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Forgets what was shown.
    pub fn forget(&mut self) {
        self.bytes.clear();
    }

    /// Reads until this was shown, and forgets it with what came before it.
    pub async fn forget_through(&mut self, text: &str) {
        self.until(text).await;
        let is_it = |window: &[u8]| window == text.as_bytes();
        let at = self.bytes.windows(text.len()).position(is_it);
        self.bytes = self.bytes.split_off(at.map_or(0, |at| at + text.len()));
    }

    /// Types.
    pub async fn type_in(&self, keys: &str) {
        let data = Input::Data(keys.as_bytes().to_vec().into());
        self.send(data).await;
    }

    /// Changes the size.
    pub async fn resize(&self, cols: u32, rows: u32) {
        self.send(Input::Resize(Resize { cols, rows })).await;
    }

    /// Says something to the view.
    pub async fn send(&self, input: Input) {
        let message = AttachInput { input: Some(input) };
        self.input
            .send(message)
            .await
            .expect("the view takes input");
    }
}

/// A session on a terminal of 80 by 30, without start files.
pub async fn terminal(daemon: &Daemon, shell: &str) -> TestSession {
    TestSession::create(daemon, terminal_request(daemon, shell)).await
}

/// What makes one.
pub fn terminal_request(daemon: &Daemon, shell: &str) -> CreateSessionRequest {
    CreateSessionRequest {
        shell: shell.to_owned(),
        mode: SessionMode::Pty.into(),
        startup: "none".to_owned(),
        working_directory: daemon.home().to_string_lossy().into_owned(),
        env: [("PS1".to_owned(), "> ".to_owned())].into(),
        ..CreateSessionRequest::default()
    }
}
