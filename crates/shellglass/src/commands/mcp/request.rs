//! From a tool's arguments to the daemon's request.

use super::arguments::{Execute, Sandbox, SandboxKind};
use super::place::Place;
use super::state::State;
use crate::client::Client;
use crate::commands::run::mode;
use crate::error::{Failure, Kind};
use glass_proto::agent::v1::{SandboxPolicy, ShellArgs, sandbox_policy};
use glass_proto::shellglass::v1::{CreateSessionRequest, ExecuteRequest, Session, SessionRef};
use std::path::Path;
use std::sync::atomic::Ordering;
use tonic::Status;

/// Longest name of a client that is shown, in characters.
pub(super) const CLIENT_CHARS_MAX: usize = 40;

/// What a call asks for, whoever asks. Two equal ones are the same call where
/// the first has not begun.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ask {
    /// The session that it runs in, or in the background beside.
    pub session: String,
    pub args: ShellArgs,
    /// Whether it has a terminal of its own.
    pub tty: bool,
}

impl Ask {
    /// What is asked for, in this session. A relative directory is one below
    /// `here`.
    pub(super) fn new(arguments: &Execute, session: String, here: &str) -> Ask {
        let cwd = arguments.cwd.as_ref();
        let working_directory = cwd.map(|cwd| Path::new(here).join(cwd));
        Ask {
            session,
            tty: arguments.tty == Some(true),
            args: ShellArgs {
                command: arguments.command.clone(),
                working_directory: working_directory
                    .map(|path| path.to_string_lossy().into_owned())
                    .unwrap_or_default(),
                timeout: timeout(arguments.timeout_ms),
                requested_sandbox_policy: arguments.sandbox.as_ref().map(policy),
                is_background: arguments.background == Some(true),
                ..ShellArgs::default()
            },
        }
    }

    /// The daemon's request, under this key.
    pub(super) fn request(&self, state: &State, key: String) -> Result<ExecuteRequest, Failure> {
        Ok(ExecuteRequest {
            session_id: self.session.clone(),
            task_id: state.place()?.task.clone(),
            args: Some(ShellArgs {
                tool_call_id: key,
                ..self.args.clone()
            }),
            enable_write_shell_stdin_tool: self.args.is_background,
            tty: self.tty,
            ..ExecuteRequest::default()
        })
    }
}

/// Milliseconds as the contract carries them; 0 is none.
fn timeout(asked: Option<u32>) -> i32 {
    i32::try_from(asked.unwrap_or(0)).unwrap_or(i32::MAX)
}

fn policy(sandbox: &Sandbox) -> SandboxPolicy {
    let kind = match sandbox.kind {
        None => sandbox_policy::Type::Unspecified,
        Some(SandboxKind::None) => sandbox_policy::Type::InsecureNone,
        Some(SandboxKind::Rw) => sandbox_policy::Type::WorkspaceReadwrite,
        Some(SandboxKind::Ro) => sandbox_policy::Type::WorkspaceReadonly,
    };
    SandboxPolicy {
        r#type: kind.into(),
        network_access: sandbox.network,
        additional_readwrite_paths: sandbox.rw.clone(),
        additional_readonly_paths: sandbox.ro.clone(),
        ..SandboxPolicy::default()
    }
}

/// Refuses what cannot work before anything is asked.
pub(super) fn check(state: &State, arguments: &Execute) -> Result<(), Failure> {
    let usage = |message: String| Failure::new(Kind::Usage, message);
    let (bytes, most) = (
        arguments.command.len() as u64,
        state.settings.limits.command_bytes_max,
    );
    if bytes > most {
        return Err(
            usage(format!("the command has {bytes} bytes and may have {most}"))
                .hint("put it into a file and run that"),
        );
    }
    Ok(())
}

impl State {
    /// This connection's session; it is made when first needed. A connection that
    /// another daemon has begun finds the one that it had there.
    pub(super) async fn own_session(&self, client: &str) -> Result<String, Failure> {
        let mut own = self.own.lock().await;
        if let Some(id) = own.as_ref() {
            return Ok(id.clone());
        }
        let place = self.place()?;
        let found = match place.returned.swap(false, Ordering::Relaxed) {
            true => self.left_behind(&place.task).await?,
            false => None,
        };
        let session = match found {
            Some(session) => session,
            None => self.create(client, place).await?,
        };
        self.moved(&session.session_id, &session.working_directory);
        *own = Some(session.session_id.clone());
        Ok(session.session_id)
    }

    async fn left_behind(&self, task: &str) -> Result<Option<Session>, Failure> {
        let mut sessions = self.sessions(false).await?.into_iter();
        Ok(sessions.find(|session| session.task_id == task && !session.background))
    }

    async fn create(&self, client: &str, place: &Place) -> Result<Session, Failure> {
        let defaults = &self.settings.session;
        let shown: String = client.chars().take(CLIENT_CHARS_MAX).collect();
        let request = CreateSessionRequest {
            working_directory: place.directory()?,
            env: defaults.env.clone().into_iter().collect(),
            shell: defaults.shell.clone(),
            mode: mode(defaults.mode).into(),
            name: format!("mcp {shown}").trim_end().to_owned(),
            task_id: place.task.clone(),
            startup: defaults.startup.as_str().to_owned(),
            ..CreateSessionRequest::default()
        };
        let create =
            |mut client: Client, request| async move { client.create_session(request).await };
        Ok(self.daemon.call(request, create).await?)
    }

    /// Where a session is.
    pub(super) async fn directory_of(&self, session: &str) -> Result<String, Status> {
        if let Some(known) = self.directory(session) {
            return Ok(known);
        }
        let request = SessionRef {
            session_id: session.to_owned(),
        };
        let get = |mut client: Client, request| async move { client.get_session(request).await };
        let found = self.daemon.call(request, get).await?;
        self.moved(session, &found.working_directory);
        Ok(found.working_directory)
    }
}

#[cfg(test)]
mod tests {
    use super::{Ask, Execute, timeout};

    fn asked(cwd: Option<&str>) -> String {
        let arguments = Execute {
            cwd: cwd.map(str::to_owned),
            ..Execute::default()
        };
        let ask = Ask::new(&arguments, "s-x".to_owned(), "/here");
        ask.args.working_directory
    }

    #[test]
    fn a_directory_is_where_the_session_is_unless_asked() {
        assert_eq!(asked(None), "");
        assert_eq!(asked(Some("a")), "/here/a");
        assert_eq!(asked(Some("/a")), "/a");
    }

    #[test]
    fn a_timeout_is_what_the_contract_can_carry() {
        assert_eq!(timeout(None), 0);
        assert_eq!(timeout(Some(5)), 5);
        assert_eq!(timeout(Some(u32::MAX)), i32::MAX);
    }
}
