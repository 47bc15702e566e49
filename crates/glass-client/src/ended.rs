//! How a command ended.

use glass_proto::agent::v1::ShellResult;
use glass_proto::agent::v1::shell_result::Result as Kind;

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It exited with this code.
    Exited(i32),
    /// It ended, and nobody knows with which code.
    Unknown,
    /// Somebody cancelled it.
    Cancelled,
    /// Its time ran out.
    TimedOut,
    /// It was not allowed to run; why.
    Refused(String),
    /// It could not be started; why.
    NotStarted(String),
}

/// A command that is over, with what it printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How.
    pub ending: Ending,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The execution's handle, by which its output can be read again.
    pub shell_id: Option<u32>,
}

impl Ended {
    /// Whether it exited with 0.
    pub fn is_success(&self) -> bool {
        self.ending == Ending::Exited(0)
    }

    fn without_output(ending: Ending) -> Ended {
        Ended {
            ending,
            stdout: String::new(),
            stderr: String::new(),
            shell_id: None,
        }
    }
}

impl From<ShellResult> for Ended {
    fn from(result: ShellResult) -> Ended {
        match result.result {
            Some(Kind::Success(it)) => Ended {
                ending: Ending::Exited(it.exit_code),
                stdout: it.stdout,
                stderr: it.stderr,
                shell_id: it.shell_id,
            },
            Some(Kind::Failure(it)) => Ended {
                ending: match (it.aborted, it.exit_code_unknown) {
                    (true, _) => Ending::Cancelled,
                    (false, true) => Ending::Unknown,
                    (false, false) => Ending::Exited(it.exit_code),
                },
                stdout: it.stdout,
                stderr: it.stderr,
                shell_id: it.shell_id,
            },
            Some(Kind::Timeout(it)) => Ended {
                ending: Ending::TimedOut,
                stdout: it.stdout,
                stderr: it.stderr,
                shell_id: None,
            },
            Some(Kind::Rejected(it)) => Ended::without_output(Ending::Refused(it.reason)),
            Some(Kind::PermissionDenied(it)) => Ended::without_output(Ending::Refused(it.error)),
            Some(Kind::SpawnError(it)) => Ended::without_output(Ending::NotStarted(it.error)),
            // A kind that a later version has.
            None => Ended::without_output(Ending::Unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ended, Ending};
    use glass_proto::agent::v1::shell_result::Result as Kind;
    use glass_proto::agent::v1::{ShellFailure, ShellResult};

    #[test]
    fn an_unknown_code_is_not_zero() {
        let failure = ShellFailure {
            exit_code_unknown: true,
            ..ShellFailure::default()
        };
        let result = ShellResult {
            result: Some(Kind::Failure(failure)),
            ..ShellResult::default()
        };
        let ended = Ended::from(result);
        assert_eq!(ended.ending, Ending::Unknown);
        assert!(!ended.is_success());
        assert_eq!(Ended::from(ShellResult::default()).ending, Ending::Unknown);
    }
}
