//! Background shells: they read what is written to them, outlive their session,
//! their task and the daemon, and leave nothing when they are ended.

mod bad_input;
mod cli;
mod crash;
mod gate;
mod input;
mod pages;
mod sessions;
mod waiting;
mod walls;

use glass_proto::agent::v1::background_shell_spawn_result::Result as Spawned;
use glass_proto::agent::v1::write_shell_stdin_result::Result as Written;
use glass_proto::agent::v1::{self as agent};
use glass_proto::shellglass::v1::{self as wire, SessionMode};
use shellglass_tests::{Client, Daemon, PATIENCE, TestSession};
use std::path::PathBuf;
use std::time::Instant;

/// A daemon, a session, and background commands of it.
struct Behind {
    daemon: Daemon,
    session: TestSession,
}

impl Behind {
    async fn start(config: &str) -> Behind {
        let daemon = Daemon::start(config);
        let work = daemon.home().join("work");
        std::fs::create_dir(&work).expect("a directory");
        let request = wire::CreateSessionRequest {
            shell: "bash".to_owned(),
            mode: SessionMode::Pipe.into(),
            startup: "none".to_owned(),
            working_directory: work.to_string_lossy().into_owned(),
            ..wire::CreateSessionRequest::default()
        };
        let session = TestSession::create(&daemon, request).await;
        Behind { daemon, session }
    }

    async fn restart(&mut self) {
        self.daemon.crash_and_restart();
        self.session.client = self.daemon.client().await;
    }

    /// Where its session began.
    fn dir(&self) -> PathBuf {
        self.daemon.home().join("work")
    }

    fn client(&self) -> Client {
        self.session.client.clone()
    }

    fn request(&self, command: &str) -> wire::SpawnBackgroundRequest {
        wire::SpawnBackgroundRequest {
            session_id: self.session.id.clone(),
            args: Some(agent::BackgroundShellSpawnArgs {
                command: command.to_owned(),
                enable_write_shell_stdin_tool: true,
                ..agent::BackgroundShellSpawnArgs::default()
            }),
            ..wire::SpawnBackgroundRequest::default()
        }
    }

    async fn answer(&self, request: wire::SpawnBackgroundRequest) -> Spawned {
        let mut client = self.client();
        let answer = tokio::time::timeout(PATIENCE, client.spawn_background(request)).await;
        let answer = answer.expect("it answers in time").expect("it is accepted");
        answer.into_inner().result.expect("an answer has a kind")
    }

    /// Starts a command whose standard input is open.
    async fn spawn(&self, command: &str) -> u32 {
        match self.answer(self.request(command)).await {
            Spawned::Success(success) => success.shell_id,
            other => panic!("not started: {other:?}"),
        }
    }

    async fn write(&self, shell_id: u32, chars: &str) -> Written {
        let args = agent::WriteShellStdinArgs {
            shell_id,
            chars: chars.to_owned(),
        };
        let answer = self.client().write_stdin(args).await;
        let answer = answer.expect("the call is accepted").into_inner();
        answer.result.expect("an answer has a kind")
    }

    /// Writes, and gives how much output there was before.
    async fn wrote(&self, shell_id: u32, chars: &str) -> u64 {
        match self.write(shell_id, chars).await {
            Written::Success(success) => {
                assert_eq!(success.shell_id, shell_id);
                success.output_offset_before_input_written
            }
            Written::Error(error) => panic!("not written: {error:?}"),
        }
    }

    /// Why something was not written.
    async fn not_written(&self, shell_id: u32, chars: &str) -> String {
        match self.write(shell_id, chars).await {
            Written::Success(success) => panic!("written: {success:?}"),
            Written::Error(error) => {
                assert!(error.error.contains("\nhint: "), "no hint: {error:?}");
                error.error
            }
        }
    }

    async fn wait(&self, request: wire::WaitRequest) -> wire::WaitResponse {
        let mut client = self.client();
        let answer = tokio::time::timeout(PATIENCE * 2, client.wait(request)).await;
        let answer = answer.expect("it answers in time").expect("it is accepted");
        answer.into_inner()
    }

    /// Waits for the end, and gives the code.
    async fn ended(&self, shell_id: u32) -> Option<i32> {
        let answer = self.wait(exit(shell_id)).await;
        assert_eq!(answer.reason, "exit", "{answer:?}");
        answer.exit_code
    }

    /// Everything that an execution has written.
    async fn output(&self, shell_id: u32) -> String {
        let request = wire::ReadOutputRequest {
            shell_id,
            offset: Some(0),
            ..wire::ReadOutputRequest::default()
        };
        let page = self.client().read_output(request).await;
        page.expect("output can be read").into_inner().output
    }

    /// Waits until an execution has written something.
    async fn until_written(&self, shell_id: u32, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let output = self.output(shell_id).await;
            if output.contains(text) {
                return;
            }
            assert!(Instant::now() < deadline, "no {text:?} in {output:?}");
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }

    async fn cancel(&self, shell_id: u32) -> bool {
        let request = wire::CancelRequest {
            shell_id: Some(shell_id),
            ..wire::CancelRequest::default()
        };
        let answer = self.client().cancel(request).await;
        answer.expect("cancel answers").into_inner().cancelled
    }

    /// The background sessions that are listed.
    async fn listed(&self) -> Vec<wire::Session> {
        let request = wire::ListSessionsRequest::default();
        let list = self.client().list_sessions(request).await;
        let sessions = list.expect("sessions are listed").into_inner().sessions;
        let all = sessions.into_iter();
        all.filter(|session| session.background).collect()
    }
}

/// A wait for the end.
fn exit(shell_id: u32) -> wire::WaitRequest {
    wire::WaitRequest {
        shell_id,
        exit: true,
        timeout_ms: 30_000,
        ..wire::WaitRequest::default()
    }
}

/// A port that nobody listens on.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.local_addr().expect("it has an address").port()
}
