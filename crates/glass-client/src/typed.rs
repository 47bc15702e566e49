//! A small typed client.

use crate::ended::Ended;
use crate::error::{CallError, OpenError};
use crate::follow::Following;
use crate::reach::{Calls, dial, dial_tcp};
use crate::version::{Version, WIRE_VERSION};
use glass_proto::agent::v1::ShellArgs;
use glass_proto::shellglass::v1::{
    CreateSessionRequest, Empty, ExecuteRequest, SessionMode, SessionRef,
};
use std::path::Path;
use std::time::Duration;

/// A daemon that understands us.
#[derive(Clone, Debug)]
pub struct Shellglass {
    calls: Calls,
    version: Version,
}

/// A command that is to run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Order {
    /// The command, as one shell string.
    pub command: String,
    /// The session; none for one of its own.
    pub session: Option<String>,
    /// The directory; none for the session's.
    pub directory: Option<String>,
    /// Time allowed; none for no limit of ours.
    pub timeout: Option<Duration>,
    /// The same key finds the same execution again, also after a crash.
    pub key: Option<String>,
}

impl From<&str> for Order {
    fn from(command: &str) -> Order {
        Order {
            command: command.to_owned(),
            ..Order::default()
        }
    }
}

/// How a session is made; what is not said is the daemon's to decide.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionOptions {
    /// Where it begins.
    pub directory: String,
    /// The shell's name or path.
    pub shell: String,
    /// A name for people.
    pub name: String,
    /// How commands are run.
    pub mode: SessionMode,
}

/// A session of the daemon's. It lives until it is disposed of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: String,
}

impl Session {
    /// A command in this session.
    pub fn order(&self, command: &str) -> Order {
        Order {
            session: Some(self.id.clone()),
            ..Order::from(command)
        }
    }
}

impl Shellglass {
    /// The daemon at this socket.
    pub async fn open(socket: &Path) -> Result<Shellglass, OpenError> {
        Shellglass::over(dial(socket).await?).await
    }

    /// The daemon at this address (`http://127.0.0.1:7583`), with a token.
    pub async fn open_tcp(address: &str, token: &str) -> Result<Shellglass, OpenError> {
        Shellglass::over(dial_tcp(address, token).await?).await
    }

    /// The daemon behind calls that work already.
    pub async fn over(mut calls: Calls) -> Result<Shellglass, OpenError> {
        let answer = calls.get_capabilities(Empty {}).await;
        let answer = answer.map_err(|status| OpenError::Capabilities(status.into()))?;
        let theirs = answer.into_inner().version;
        match Version::parse(&theirs) {
            Some(version) if version.understands(WIRE_VERSION) => Ok(Shellglass { calls, version }),
            _ => Err(OpenError::Version {
                theirs,
                ours: WIRE_VERSION,
            }),
        }
    }

    /// The version of the wire that the daemon speaks.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The contract's own client, for everything that is not here.
    pub fn calls(&mut self) -> &mut Calls {
        &mut self.calls
    }

    /// Makes a session.
    pub async fn session(&mut self, options: SessionOptions) -> Result<Session, CallError> {
        let request = CreateSessionRequest {
            working_directory: options.directory,
            shell: options.shell,
            name: options.name,
            mode: options.mode.into(),
            ..CreateSessionRequest::default()
        };
        let answer = self.calls.create_session(request).await?;
        Ok(Session {
            id: answer.into_inner().session_id,
        })
    }

    /// Ends a session, with what runs in it.
    pub async fn dispose(&mut self, session: Session) -> Result<(), CallError> {
        let session_id = session.id;
        self.calls
            .dispose_session(SessionRef { session_id })
            .await?;
        Ok(())
    }

    /// Runs a command to its end.
    pub async fn run(&mut self, order: impl Into<Order>) -> Result<Ended, CallError> {
        let answer = self.calls.run(request(order.into())).await?;
        Ok(answer.into_inner().into())
    }

    /// Runs a command and follows it: output as it arrives, then its end.
    pub async fn follow(&mut self, order: impl Into<Order>) -> Result<Following, CallError> {
        let answer = self.calls.execute(request(order.into())).await?;
        Ok(Following::new(answer.into_inner()))
    }
}

fn request(order: Order) -> ExecuteRequest {
    let timeout_ms = order.timeout.map(|timeout| timeout.as_millis().max(1));
    let timeout = timeout_ms.map_or(0, |ms| i32::try_from(ms).unwrap_or(i32::MAX));
    let ephemeral = order.session.is_none().then(|| CreateSessionRequest {
        working_directory: order.directory.clone().unwrap_or_default(),
        ..CreateSessionRequest::default()
    });
    ExecuteRequest {
        session_id: order.session.unwrap_or_default(),
        args: Some(ShellArgs {
            command: order.command,
            working_directory: order.directory.unwrap_or_default(),
            timeout,
            tool_call_id: order.key.unwrap_or_default(),
            ..ShellArgs::default()
        }),
        ephemeral,
        ..ExecuteRequest::default()
    }
}

#[cfg(test)]
mod tests {
    use super::{Order, request};
    use std::time::Duration;

    #[test]
    fn a_short_time_is_not_none() {
        let order = |timeout| Order {
            timeout: Some(timeout),
            ..Order::from("true")
        };
        let of = |timeout| request(order(timeout)).args.expect("arguments").timeout;
        assert_eq!(of(Duration::from_micros(1)), 1);
        assert_eq!(of(Duration::MAX), i32::MAX);
        let request = request(Order::from("true"));
        assert!(request.ephemeral.is_some());
    }
}
