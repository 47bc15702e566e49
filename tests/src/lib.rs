//! What the tests of the real program share: a daemon of their own in a
//! directory of their own, a client that knows nothing but the contract, and
//! waiting for conditions instead of for time.
#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a failing test panics"
)]

mod defaults;
mod stream;

pub use stream::{Streamed, Submitted, exists};

pub mod calls;
pub mod program;

use glass_proto::agent::v1::{self as agent, shell_result::Result as Kind};
use glass_proto::shellglass::v1::shell_exec_client::ShellExecClient;
use glass_proto::shellglass::v1::{self as wire, CreateSessionRequest, ExecuteRequest};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tonic::transport::Channel;

/// A client of the service.
pub type Client = ShellExecClient<Channel>;

/// Longest wait for anything that should come at once, on a loaded machine.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The program under test: `SHELLGLASS_BIN`, or the one beside this test.
pub fn program() -> PathBuf {
    if let Some(given) = std::env::var_os("SHELLGLASS_BIN") {
        return given.into();
    }
    let test = std::env::current_exe().expect("a running test has a path");
    let target = test
        .ancestors()
        .nth(2)
        .expect("tests live in target/PROFILE/deps");
    let program = target.join("shellglass");
    assert!(
        program.exists(),
        "{} is not built; use `make test`",
        program.display()
    );
    program
}

/// Nushell, by its path: no package of the system's has it.
pub fn nu() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("../.tools/nu-0.115.1/nu");
    let path = path.canonicalize();
    let path = path.expect("nu is there; `scripts/deps test` installs it");
    path.to_string_lossy().into_owned()
}

/// A daemon with directories, keeper and sessions of its own; all of them end
/// with it.
pub struct Daemon {
    home: TempDir,
    child: Option<Child>,
    setup: Setup,
}

/// How a daemon is started, where a test wants more than a configuration.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// The configuration as TOML.
    pub config: String,
    /// Further variables.
    pub variables: Vec<(String, String)>,
    /// Further arguments.
    pub arguments: Vec<String>,
    /// What is put in front of the program: a command line that executes it.
    pub launcher: Vec<String>,
    /// Another program than the one under test.
    pub program: Option<PathBuf>,
}

impl Daemon {
    /// Starts one with the configuration given as TOML.
    pub fn start(config: &str) -> Daemon {
        Daemon::start_with(config, &[], &[])
    }

    /// Starts one with further variables and arguments.
    pub fn start_with(config: &str, variables: &[(&str, &str)], arguments: &[&str]) -> Daemon {
        let home = tempfile::Builder::new()
            .prefix("sg-")
            .tempdir_in("/tmp")
            .unwrap();
        Daemon::start_in(home, config, variables, arguments)
    }

    /// Starts one in a directory that exists.
    pub fn start_in(
        home: TempDir,
        config: &str,
        variables: &[(&str, &str)],
        arguments: &[&str],
    ) -> Daemon {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let setup = Setup {
            config: defaults::without_walls(config),
            variables: variables.iter().map(own).collect(),
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
            ..Setup::default()
        };
        Daemon::set_up(home, setup)
    }

    /// Starts one in a directory that exists, with everything said.
    pub fn set_up(home: TempDir, mut setup: Setup) -> Daemon {
        setup.config = defaults::asking_nobody(setup.config);
        std::fs::create_dir_all(home.path().join("config")).unwrap();
        std::fs::write(home.path().join("config/config.toml"), &setup.config).unwrap();
        let mut daemon = Daemon {
            home,
            child: None,
            setup,
        };
        daemon.spawn();
        daemon.wait_until_ready();
        daemon
    }

    /// Its home directory.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Its Unix socket.
    pub fn socket(&self) -> PathBuf {
        self.home().join("run/daemon.sock")
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    /// What it has logged, for messages of failing tests.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.home().join("log")).unwrap_or_default()
    }

    /// A command line of the program that talks to this daemon.
    pub fn command(&self) -> Command {
        let program = self.setup.program.clone().unwrap_or_else(program);
        let mut command = Command::new(program);
        command.env("SHELLGLASS_HOME", self.home());
        command
    }

    /// Starts the process and does not wait for it.
    pub fn spawn(&mut self) {
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.home().join("log"))
            .unwrap();
        let mut words = self.setup.launcher.clone();
        let program = self.setup.program.clone().unwrap_or_else(program);
        words.push(program.to_string_lossy().into_owned());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command.env("SHELLGLASS_HOME", self.home());
        // The start files of whoever runs the tests are none of their business,
        // and a shell that is ended while it reads them could leave its mark.
        command.env("HOME", self.home());
        // Neither is where they have things built.
        command.env_remove("CARGO_TARGET_DIR");
        command.arg("serve").args(&self.setup.arguments);
        for (name, value) in &self.setup.variables {
            command.env(name, value);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        self.child = Some(command.spawn().unwrap());
    }

    /// Sets a variable for the next start.
    pub fn set_variable(&mut self, name: &str, value: Option<&str>) {
        let variables = &mut self.setup.variables;
        variables.retain(|(known, _)| known != name);
        if let Some(value) = value {
            variables.push((name.to_owned(), value.to_owned()));
        }
    }

    /// Waits until its socket answers.
    pub fn wait_until_ready(&mut self) {
        let socket = self.socket();
        let deadline = Instant::now() + PATIENCE;
        while std::os::unix::net::UnixStream::connect(&socket).is_err() {
            let ended = self.child.as_mut().unwrap().try_wait().unwrap();
            assert!(
                ended.is_none(),
                "the daemon ended ({ended:?}):\n{}",
                self.log()
            );
            assert!(
                Instant::now() < deadline,
                "the daemon is not ready:\n{}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Whether the process has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.child
            .as_mut()
            .is_none_or(|child| child.try_wait().unwrap().is_some())
    }

    /// Kills the process alone, as a crash would.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Kills the process and starts another one on the same directories.
    pub fn crash_and_restart(&mut self) {
        self.kill();
        self.spawn();
        self.wait_until_ready();
    }

    /// A connected client.
    pub async fn client(&self) -> Client {
        connect(&self.socket()).await
    }

    /// The keeper's process, found as the ancestor of the daemon's sessions.
    pub fn keeper_pid(&self) -> Option<u32> {
        let home = self.home().to_string_lossy().into_owned();
        processes()
            .into_iter()
            .find(|(_, line)| line.contains(" keeper") && line.contains(&home))
            .map(|(pid, _)| pid)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- the daemon's log ---\n{}", self.log());
        }
        self.kill();
        end_everything_under(self.home());
        assert_no_panic(&self.log());
    }
}

/// Nothing that a test does may make the daemon panic.
fn assert_no_panic(log: &str) {
    // A test that fails already has shown the log.
    let is_new = !std::thread::panicking();
    assert!(
        !is_new || !log.contains("panicked at"),
        "the daemon panicked:\n{log}"
    );
}

/// Ends whatever a test's daemon has left: its keeper and what runs below it.
fn end_everything_under(home: &Path) {
    let home = home.to_string_lossy().into_owned();
    for _ in 0..50 {
        let left: Vec<u32> = processes()
            .into_iter()
            .filter(|(pid, line)| line.contains(&home) || is_in(*pid, &home))
            .map(|(pid, _)| pid)
            .filter(|pid| *pid != std::process::id())
            .collect();
        if left.is_empty() {
            return;
        }
        for pid in left {
            if let Some(pid) = i32::try_from(pid)
                .ok()
                .and_then(rustix::process::Pid::from_raw)
            {
                // It may be gone already.
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a process has its working directory there, or was started by a daemon
/// there.
fn is_in(pid: u32, home: &str) -> bool {
    // The end of two names: `HOME` and `SHELLGLASS_HOME`.
    let marked = format!("HOME={home}\0");
    std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(home))
        || std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
            let mut windows = environment.windows(marked.len());
            windows.any(|window| window == marked.as_bytes())
        })
}

/// Every process with its command line, words separated by blanks.
pub fn processes() -> Vec<(u32, String)> {
    let entries = std::fs::read_dir("/proc").unwrap();
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            Some((pid, String::from_utf8_lossy(&line).replace('\0', " ")))
        })
        .collect()
}

/// Connects to a daemon's Unix socket.
pub async fn connect(socket: &Path) -> Client {
    let channel = glass_client::channel(socket)
        .await
        .expect("the daemon's socket answers");
    ShellExecClient::new(channel).max_decoding_message_size(64 << 20)
}

/// Waits until a condition holds.
pub async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(
            Instant::now() < deadline,
            "this did not come to pass: {what}"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The parts of a result that most tests look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Absent where the result says that it is not known.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Who ended it, if somebody did.
    pub aborted: bool,
    /// Whether its time ran out.
    pub timed_out: bool,
    /// Why it never ran.
    pub spawn_error: Option<String>,
    /// The signal's name.
    pub signal: String,
    /// Whether the session's shell was begun anew.
    pub shell_replaced: bool,
    /// The handle.
    pub shell_id: u32,
}

/// Sums a result up.
pub fn summary(result: agent::ShellResult) -> Summary {
    match result.result.expect("a result has a kind") {
        Kind::Success(ok) => Summary {
            code: Some(ok.exit_code),
            stdout: ok.stdout,
            stderr: ok.stderr,
            signal: ok.signal,
            shell_replaced: ok
                .exit_details
                .is_some_and(|details| details.shell_replaced),
            shell_id: ok.shell_id.unwrap_or(0),
            ..Summary::default()
        },
        Kind::Failure(failed) => Summary {
            code: (!failed.exit_code_unknown).then_some(failed.exit_code),
            stdout: failed.stdout,
            stderr: failed.stderr,
            aborted: failed.aborted,
            signal: failed.signal,
            shell_replaced: failed
                .exit_details
                .is_some_and(|details| details.shell_replaced),
            shell_id: failed.shell_id.unwrap_or(0),
            ..Summary::default()
        },
        Kind::Timeout(late) => Summary {
            stdout: late.stdout,
            stderr: late.stderr,
            aborted: true,
            timed_out: true,
            ..Summary::default()
        },
        Kind::SpawnError(error) => Summary {
            spawn_error: Some(error.error),
            ..Summary::default()
        },
        other => panic!("an unexpected kind of result: {other:?}"),
    }
}

/// A session for a test.
pub struct TestSession {
    /// The client that made it.
    pub client: Client,
    /// Its id.
    pub id: String,
}

impl TestSession {
    /// Makes a session.
    pub async fn create(daemon: &Daemon, request: CreateSessionRequest) -> TestSession {
        let mut client = daemon.client().await;
        let session = client
            .create_session(request)
            .await
            .expect("a session is made")
            .into_inner();
        TestSession {
            client,
            id: session.session_id,
        }
    }

    /// Makes a session with this shell and mode, without start files.
    pub async fn with(daemon: &Daemon, shell: &str, mode: wire::SessionMode) -> TestSession {
        let request = CreateSessionRequest {
            shell: shell.to_owned(),
            mode: mode.into(),
            startup: "none".to_owned(),
            working_directory: daemon.home().to_string_lossy().into_owned(),
            ..CreateSessionRequest::default()
        };
        TestSession::create(daemon, request).await
    }

    /// The request that runs a command here.
    pub fn request(&self, command: &str) -> ExecuteRequest {
        let args = agent::ShellArgs {
            command: command.to_owned(),
            ..agent::ShellArgs::default()
        };
        ExecuteRequest {
            session_id: self.id.clone(),
            args: Some(args),
            ..ExecuteRequest::default()
        }
    }

    /// Runs a command to its end.
    pub async fn run(&self, command: &str) -> Summary {
        self.try_run(self.request(command))
            .await
            .expect("the command is accepted")
    }

    /// Sends a request to its end.
    pub async fn try_run(&self, request: ExecuteRequest) -> Result<Summary, tonic::Status> {
        let mut client = self.client.clone();
        let result = tokio::time::timeout(PATIENCE * 2, client.run(request)).await;
        Ok(summary(
            result.expect("the command ends in time")?.into_inner(),
        ))
    }

    /// Runs a command and stops it when `when` holds.
    pub async fn cancel_when(&self, command: &str, when: impl FnMut() -> bool) -> Summary {
        let running = self.try_run(self.request(command));
        let mut client = self.client.clone();
        let session_id = self.id.clone();
        let stopping = async move {
            eventually("the command is under way", when).await;
            let request = wire::CancelRequest {
                session_id,
                shell_id: None,
                ..wire::CancelRequest::default()
            };
            client.cancel(request).await.expect("cancel answers");
        };
        let (result, ()) = tokio::join!(running, stopping);
        result.expect("the command is accepted")
    }
}
