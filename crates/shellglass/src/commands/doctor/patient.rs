//! The daemon that is examined: one of its own, in a directory of its own, with
//! the configuration in force but for what would reach beyond it: hooks, which
//! are the user's programs, and questions, which nobody answers.

use crate::client::{self, Client, Context};
use crate::config::{self, HookSettings, Level, Loaded, Settings};
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

/// Variables that name directories of the user's in which shells leave things.
const ELSEWHERE: [&str; 6] = [
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "ZDOTDIR",
    "HISTFILE",
];

/// What it says on its standard output, in its home.
const SAID: &str = "said";

/// What it says on its standard error, there too.
const LOG: &str = "log";

/// A daemon that is there to be examined.
pub(super) struct Patient {
    pub(super) home: PathBuf,
    pub(super) client: Client,
    /// What it was told.
    pub(super) settings: Settings,
    process: Child,
}

impl Patient {
    /// Starts one.
    pub(super) async fn start(context: &Context) -> Result<Patient, Failure> {
        let home = std::env::temp_dir().join(format!("shellglass-doctor-{}", std::process::id()));
        crate::dirs::make_private(&home)?;
        let mut process = match spawn(context, &home) {
            Ok(process) => process,
            Err(error) => {
                drop(std::fs::remove_dir_all(&home));
                return Err(broken(&error));
            }
        };
        let socket = home.join("run/daemon.sock");
        let until = Instant::now() + START_WITHIN;
        loop {
            match client::dial(&socket).await {
                Ok(client) => {
                    return Ok(Patient {
                        home,
                        client,
                        settings: context.loaded.settings.clone(),
                        process,
                    });
                }
                Err(error) if has_ended(&mut process) || Instant::now() >= until => {
                    // Nothing of it may stay.
                    drop(process.kill());
                    drop(process.wait());
                    let log = std::fs::read_to_string(home.join(LOG)).unwrap_or_default();
                    drop(std::fs::remove_dir_all(&home));
                    return Err(told(&log).unwrap_or_else(|| broken(&error)));
                }
                Err(_) => tokio::time::sleep(LOOK_EVERY).await,
            }
        }
    }

    /// Where its page is, and the token of a person: what it said when it was
    /// ready.
    pub(super) async fn page(&self) -> Option<(String, String)> {
        let until = Instant::now() + START_WITHIN;
        loop {
            let said = std::fs::read_to_string(self.home.join(SAID)).unwrap_or_default();
            if let Some(page) = place(&said) {
                return Some(page);
            }
            if Instant::now() >= until || said.ends_with('\n') {
                return None;
            }
            tokio::time::sleep(LOOK_EVERY).await;
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
        // Its keeper lives for a second more, and may still make something there.
        let until = Instant::now() + STOP_WITHIN;
        while std::fs::remove_dir_all(&self.home).is_err()
            && self.home.exists()
            && Instant::now() < until
        {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

fn spawn(context: &Context, home: &Path) -> std::io::Result<Child> {
    let config = home.join("examined.toml");
    std::fs::write(&config, config::render(&examined(context)))?;
    let said = std::fs::File::create(home.join(SAID))?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("serve").arg("--config").arg(config);
    apart(&mut command, home);
    // Shells keep histories and more in the home directory: not in the user's.
    command.env("HOME", home);
    for name in ELSEWHERE {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(said);
    command.stderr(std::fs::File::create(home.join(LOG))?);
    command.spawn()
}

/// Makes a command line one of the patient's: nothing of our own variables
/// reaches it but where it lives. What they say is in the settings already.
pub(super) fn apart(command: &mut Command, home: &Path) {
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"SHELLGLASS") {
            command.env_remove(name);
        }
    }
    command.env("SHELLGLASS_HOME", home);
}

/// The settings in force, made harmless.
fn examined(context: &Context) -> Loaded {
    let mut settings: Settings = context.loaded.settings.clone();
    settings.daemon.data_dir.clear();
    settings.daemon.socket.clear();
    settings.daemon.listen = "127.0.0.1:0".parse().expect("an address");
    settings.daemon.listen_without_tls.clear();
    settings.daemon.tls_certificate.clear();
    settings.daemon.tls_key.clear();
    settings.hooks = HookSettings::default();
    settings.policy.person = Level::Off;
    // Nobody is to hold anything for it.
    settings.keeper.idle_seconds = 1;
    Loaded {
        settings,
        origins: config::Origins::new(),
    }
}

/// The page's address and the token, in the line of a daemon that is ready.
fn place(said: &str) -> Option<(String, String)> {
    let (_, page) = said.trim_end_matches('\n').split_once(" and http://")?;
    let (address, token) = page.split_once("/#token=")?;
    let is_whole = said.ends_with('\n');
    is_whole.then(|| (address.to_owned(), token.to_owned()))
}

/// Why it did not come up, in its own words, which are the last in its log.
fn told(log: &str) -> Option<Failure> {
    let (_, words) = log.trim_end().rsplit_once("error: ")?;
    Some(match words.split_once("\nhint: ") {
        Some((message, hint)) => Failure::new(Kind::Failed, message).hint(hint),
        None => Failure::new(Kind::Failed, words),
    })
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

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn the_page_is_known_from_the_line_of_a_daemon_that_is_ready() {
        let line = "shellglass: listening on unix:/x/y and http://127.0.0.1:7/#token=abc\n";
        let page = ("127.0.0.1:7".to_owned(), "abc".to_owned());
        assert_eq!(place(line), Some(page));
        // A half of it is no token.
        assert_eq!(place(line.trim_end()), None);
        assert_eq!(place("shellglass: listening on unix:/x/y\n"), None);
    }
}
