//! The daemon that is examined: one of its own, in a directory of its own, with
//! the configuration in force.

use crate::client::{self, Client, Context};
use crate::error::{Failure, Kind};
use glass_proto::agent::v1::{SandboxPolicy, ShellArgs, ShellResult};
use glass_proto::shellglass::v1::{CreateSessionRequest, ExecuteRequest, SessionMode, SessionRef};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time for the daemon to answer, and to stop.
const START_WITHIN: Duration = Duration::from_secs(10);
const STOP_WITHIN: Duration = Duration::from_secs(5);

/// Between two looks at it.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Time for one try, in milliseconds.
const TRY_MS: i32 = 10_000;

/// A daemon that is there to be examined.
pub(super) struct Patient {
    pub(super) home: PathBuf,
    pub(super) client: Client,
    process: Child,
}

impl Patient {
    /// Starts one.
    pub(super) async fn start(context: &Context) -> Result<Patient, Failure> {
        let home = std::env::temp_dir().join(format!("shellglass-doctor-{}", std::process::id()));
        crate::dirs::make_private(&home)?;
        let program = std::env::current_exe().map_err(|error| broken(&error))?;
        let mut command = Command::new(program);
        command
            .arg("serve")
            .env("SHELLGLASS_HOME", &home)
            // Nobody is to hold anything for it.
            .env("SHELLGLASS_KEEPER_IDLE_SECONDS", "1")
            .env("SHELLGLASS_DAEMON_LISTEN", "none")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let config = context.dirs.config_file();
        if config.exists() {
            command.arg("--config").arg(config);
        }
        let mut process = command.spawn().map_err(|error| broken(&error))?;
        let socket = home.join("run/daemon.sock");
        let until = Instant::now() + START_WITHIN;
        loop {
            match client::dial(&socket).await {
                Ok(client) => {
                    return Ok(Patient {
                        home,
                        client,
                        process,
                    });
                }
                Err(error) if has_ended(&mut process) || Instant::now() >= until => {
                    // Nothing of it may stay.
                    drop(process.kill());
                    drop(process.wait());
                    drop(std::fs::remove_dir_all(&home));
                    return Err(broken(&error));
                }
                Err(_) => tokio::time::sleep(LOOK_EVERY).await,
            }
        }
    }

    /// Where commands are tried.
    pub(super) fn workspace(&self) -> Result<PathBuf, Failure> {
        let path = self.home.join("workspace");
        std::fs::create_dir_all(&path).map_err(|error| broken(&error))?;
        Ok(path)
    }

    /// A session, and what a command in it comes to.
    pub(super) async fn run(
        &mut self,
        shell: &str,
        mode: SessionMode,
        policy: SandboxPolicy,
        command: &str,
    ) -> Result<ShellResult, Failure> {
        let request = CreateSessionRequest {
            working_directory: text(&self.workspace()?),
            shell: shell.to_owned(),
            mode: mode.into(),
            startup: "none".to_owned(),
            sandbox_policy: Some(policy),
            ..CreateSessionRequest::default()
        };
        let session = self.client.create_session(request).await?.into_inner();
        let session_id = session.session_id;
        let request = ExecuteRequest {
            session_id: session_id.clone(),
            args: Some(ShellArgs {
                command: command.to_owned(),
                timeout: TRY_MS,
                ..ShellArgs::default()
            }),
            ..ExecuteRequest::default()
        };
        let result = self.client.run(request).await;
        self.client
            .dispose_session(SessionRef { session_id })
            .await?;
        Ok(result?.into_inner())
    }

    /// Ends it, with everything that it started.
    pub(super) async fn stop(mut self) {
        let pid = rustix::process::Pid::from_child(&self.process);
        // One that has gone by itself is what we want.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let until = Instant::now() + STOP_WITHIN;
        while !has_ended(&mut self.process) {
            if Instant::now() >= until {
                drop(self.process.kill());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        // What its keeper still has there goes with the keeper, in a second.
        drop(std::fs::remove_dir_all(&self.home));
    }
}

fn has_ended(process: &mut Child) -> bool {
    !matches!(process.try_wait(), Ok(None))
}

pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn broken(error: &dyn std::error::Error) -> Failure {
    Failure::new(Kind::Failed, error.to_string())
        .hint("`shellglass serve` in another terminal shows what it has to say")
}
