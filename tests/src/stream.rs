//! What `Execute` streams, gathered with every byte as it was.

use crate::{PATIENCE, TestSession, eventually};
use glass_proto::agent::v1::ShellStream;
use glass_proto::agent::v1::shell_stream::Event;
use glass_proto::shellglass::v1::{
    self as wire, ExecuteRequest, HistoryRequest, ReadOutputRequest, SessionEvent,
};

/// An execution, seen through its stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Streamed {
    /// Absent where it is not known.
    pub code: Option<u32>,
    /// The bytes of standard output.
    pub stdout: Vec<u8>,
    /// The bytes of standard error.
    pub stderr: Vec<u8>,
    /// Whether somebody ended it.
    pub aborted: bool,
    /// Whether the session's shell was begun anew.
    pub shell_replaced: bool,
    /// Why it never ran.
    pub spawn_error: Option<String>,
    /// The handle.
    pub shell_id: u32,
    /// The process that ran it.
    pub pid: u32,
    /// How many ends the stream had; exactly one is right.
    pub ends: usize,
    /// Where the session is afterwards.
    pub cwd: String,
}

impl Streamed {
    /// Standard output as text.
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text.
    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    fn add(&mut self, event: Event) {
        match event {
            Event::Start(start) => (self.shell_id, self.pid) = (start.shell_id, start.pid),
            Event::Stdout(part) => self
                .stdout
                .extend(part.raw.unwrap_or_else(|| part.data.into())),
            Event::Stderr(part) => self
                .stderr
                .extend(part.raw.unwrap_or_else(|| part.data.into())),
            Event::Exit(exit) => {
                self.ends += 1;
                self.code = (!exit.code_unknown).then_some(exit.code);
                self.aborted = exit.aborted;
                self.cwd = exit.cwd;
                self.shell_replaced = exit.exit_details.is_some_and(|d| d.shell_replaced);
            }
            Event::SpawnError(error) => {
                self.ends += 1;
                self.spawn_error = Some(error.error);
            }
            other => panic!("an unexpected item in a stream: {other:?}"),
        }
    }
}

/// An execution that is accepted: it is in the journal, and runs when those
/// before it have ended.
pub struct Submitted {
    command: String,
    stream: tonic::Streaming<ShellStream>,
}

impl Submitted {
    /// Waits for its end.
    pub async fn end(mut self) -> Streamed {
        let gathering = async {
            let mut gathered = Streamed::default();
            while let Some(item) = self.stream.message().await.expect("the stream holds") {
                gathered.add(item.event.expect("an item says what it is"));
            }
            gathered
        };
        match tokio::time::timeout(PATIENCE * 2, gathering).await {
            Ok(gathered) => gathered,
            Err(_) => panic!("this command does not end: {}", self.command),
        }
    }
}

impl TestSession {
    /// Runs a command and gathers its stream.
    pub async fn stream(&self, command: &str) -> Streamed {
        self.stream_request(self.request(command)).await
    }

    /// Gathers the stream of a request.
    pub async fn stream_request(&self, request: ExecuteRequest) -> Streamed {
        self.submit_request(request).await.end().await
    }

    /// Has a command accepted, and does not wait for it.
    pub async fn submit(&self, command: &str) -> Submitted {
        self.submit_request(self.request(command)).await
    }

    /// Has a request accepted, and does not wait for it.
    pub async fn submit_request(&self, request: ExecuteRequest) -> Submitted {
        let command = request.args.as_ref().map(|args| args.command.clone());
        let mut client = self.client.clone();
        let answer = tokio::time::timeout(PATIENCE, client.execute(request)).await;
        let answer = answer.expect("execute answers in time");
        Submitted {
            command: command.unwrap_or_default(),
            stream: answer.expect("the command is accepted").into_inner(),
        }
    }

    /// Stops what runs, or one execution. Says what the service answered.
    pub async fn cancel(&self, shell_id: Option<u32>) -> bool {
        let request = wire::CancelRequest {
            session_id: self.id.clone(),
            shell_id,
            ..wire::CancelRequest::default()
        };
        let mut client = self.client.clone();
        let answer = tokio::time::timeout(PATIENCE, client.cancel(request)).await;
        let answer = answer.expect("cancel answers in time").expect("it answers");
        answer.into_inner().cancelled
    }

    /// Ends the session.
    pub async fn dispose(&self) {
        let request = wire::SessionRef {
            session_id: self.id.clone(),
        };
        let mut client = self.client.clone();
        let answer = tokio::time::timeout(PATIENCE, client.dispose_session(request)).await;
        answer
            .expect("dispose answers in time")
            .expect("it answers");
    }

    /// Everything that an execution has written until now.
    pub async fn output_of(&self, shell_id: u32) -> String {
        let request = ReadOutputRequest {
            shell_id,
            offset: Some(0),
            ..ReadOutputRequest::default()
        };
        let answer = self.client.clone().read_output(request).await;
        answer.expect("output is read").into_inner().output
    }

    /// Waits until an execution has written exactly this.
    pub async fn expect_output(&self, shell_id: u32, expected: &str) {
        let deadline = std::time::Instant::now() + PATIENCE;
        loop {
            let output = self.output_of(shell_id).await;
            if output == expected {
                return;
            }
            let late = std::time::Instant::now() > deadline;
            assert!(
                !late,
                "execution {shell_id} wrote {output:?}, not {expected:?}"
            );
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }

    /// Every event of the session until now.
    pub async fn events(&self) -> Vec<SessionEvent> {
        let mut events = Vec::new();
        let mut from_index = 0;
        loop {
            let request = HistoryRequest {
                session_id: self.id.clone(),
                from_index,
                ..HistoryRequest::default()
            };
            let answer = self.client.clone().get_session_history(request).await;
            let page = answer.expect("there is a history").into_inner();
            events.extend(page.events);
            match page.next_index {
                Some(next) => from_index = next,
                None => return events,
            }
        }
    }

    /// What the session remarked about itself with this word.
    pub async fn remarks(&self, status: &str) -> Vec<String> {
        let events = self.events().await;
        let remark = |event: SessionEvent| match event.event {
            Some(wire::session_event::Event::Status(said)) if said.status == status => {
                Some(said.detail)
            }
            _ => None,
        };
        events.into_iter().filter_map(remark).collect()
    }
}

/// Waits until a file is there.
pub async fn exists(path: &std::path::Path) {
    eventually(&format!("{} exists", path.display()), || path.exists()).await;
}
