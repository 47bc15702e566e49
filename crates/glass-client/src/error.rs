//! Why a daemon could not be reached, or did not do what was asked.

use crate::version::Version;
use glass_proto::HINT_KEY;
use std::error::Error;
use std::io;
use std::path::PathBuf;

/// Why nobody could be reached.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// The place cannot be one.
    #[error("'{place}' is not an address of a daemon")]
    Address {
        /// As it was given.
        place: String,
        /// Why not.
        source: tonic::transport::Error,
    },
    /// A token cannot be one.
    #[error("a token has only letters, digits and signs")]
    Token,
    /// Nobody is there, or nobody answers.
    #[error("the daemon at {place} cannot be reached: {}", last_cause(source))]
    Unreachable {
        /// Where.
        place: String,
        /// Why.
        source: tonic::transport::Error,
    },
}

impl DialError {
    pub(crate) fn at_socket(socket: PathBuf, source: tonic::transport::Error) -> DialError {
        let place = socket.display().to_string();
        DialError::Unreachable { place, source }
    }

    /// Whether nobody listens there, so that a daemon may be started.
    pub fn is_absent(&self) -> bool {
        let DialError::Unreachable { source, .. } = self else {
            return false;
        };
        let mut cause: Option<&(dyn Error + 'static)> = Some(source);
        while let Some(error) = cause {
            if let Some(error) = error.downcast_ref::<io::Error>() {
                return matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
                );
            }
            cause = error.source();
        }
        false
    }
}

fn last_cause(error: &tonic::transport::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// Why there is no typed client.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Nobody could be reached.
    #[error(transparent)]
    Dial(#[from] DialError),
    /// It did not say which version it speaks.
    #[error("the daemon does not say what it can do")]
    Capabilities(#[source] CallError),
    /// It speaks another version.
    #[error("the daemon speaks version {theirs} of the wire, and this client {ours}")]
    Version {
        /// What it says.
        theirs: String,
        /// What we can.
        ours: Version,
    },
}

/// Why a call failed. The daemon's own words, with what to do next where it
/// said so.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    /// What kind of failure.
    pub code: tonic::Code,
    /// What happened.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl From<tonic::Status> for CallError {
    fn from(status: tonic::Status) -> CallError {
        let hint = status.metadata().get(HINT_KEY);
        let hint = hint.and_then(|hint| hint.to_str().ok());
        CallError {
            code: status.code(),
            message: status.message().to_owned(),
            hint: hint.map(ToOwned::to_owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CallError;

    #[test]
    fn a_hint_comes_with_the_error() {
        let mut status = tonic::Status::not_found("no such session");
        let hint = "shellglass session list".parse().expect("plain text");
        status.metadata_mut().insert(glass_proto::HINT_KEY, hint);
        let error = CallError::from(status);
        assert_eq!(error.to_string(), "no such session");
        assert_eq!(error.hint.as_deref(), Some("shellglass session list"));
    }
}
