//! Errors at the edge: what kind, what happened, what to do next.

use crate::config::ConfigError;
use crate::ink::Ink;
use glass_proto::HINT_KEY;
use std::fmt;
use std::process::ExitCode;
use tonic::{Code, Status};

/// The exit statuses of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What was asked for did not work.
    Failed,
    /// The command line makes no sense.
    Usage,
    /// The command's time ran out.
    Timeout,
    /// Shellglass itself failed.
    Broken,
    /// The command may not run.
    Refused,
    /// The command was cancelled.
    Cancelled,
}

impl Kind {
    /// Its exit status.
    pub(crate) fn status(self) -> u8 {
        match self {
            Kind::Failed => 1,
            Kind::Usage => 2,
            Kind::Timeout => 124,
            Kind::Broken => 125,
            Kind::Refused => 126,
            Kind::Cancelled => 130,
        }
    }
}

/// What a person reads when a command of ours fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Which exit status.
    pub kind: Kind,
    /// What happened.
    pub message: String,
    /// What to type next.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure of this kind.
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Failure {
        Failure {
            kind,
            message: message.into(),
            hint: None,
        }
    }

    /// The same with a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// As `run` has it: 1 would be taken for the command's own status, so what
    /// is not the command's is 125.
    pub(crate) fn of_run(mut self) -> Failure {
        if self.kind == Kind::Failed {
            self.kind = Kind::Broken;
        }
        self
    }

    /// Says it on standard error and gives the exit status.
    pub(crate) fn report(&self) -> ExitCode {
        let ink = Ink::of(&std::io::stderr());
        eprintln!("{} {}", ink.red("error:"), self.message);
        if let Some(hint) = &self.hint {
            eprintln!("{} {hint}", ink.dim("hint:"));
        }
        ExitCode::from(self.kind.status())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

/// An error and what caused it, in one line.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.ends_with(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Failure {
        let hint = error.hint();
        Failure::new(Kind::Failed, error.to_string()).hint(hint)
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Failure {
        let kind = match status.code() {
            Code::PermissionDenied | Code::Unauthenticated => Kind::Refused,
            Code::Cancelled => Kind::Cancelled,
            Code::Unavailable | Code::Internal | Code::Unknown | Code::DataLoss => Kind::Broken,
            _ => Kind::Failed,
        };
        let message = match status.message() {
            "" => status.code().description().to_owned(),
            message => message.to_owned(),
        };
        let hint = status
            .metadata()
            .get(HINT_KEY)
            .and_then(|value| value.to_str().ok());
        Failure {
            kind,
            message,
            hint: hint.map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Failure, Kind};
    use tonic::{Code, Status};

    #[test]
    fn a_status_becomes_message_and_hint() {
        let mut status = Status::new(Code::NotFound, "no session s-x");
        let hint = "`shellglass session list` shows those there are";
        status
            .metadata_mut()
            .insert("shellglass-hint", hint.parse().expect("ASCII"));
        let failure = Failure::from(status);
        assert_eq!(failure.kind, Kind::Failed);
        assert_eq!(
            failure.to_string(),
            format!("error: no session s-x\nhint: {hint}")
        );
    }

    #[test]
    fn exit_statuses_are_those_of_the_contract() {
        for (code, status) in [
            (Code::NotFound, 1),
            (Code::PermissionDenied, 126),
            (Code::Unavailable, 125),
            (Code::Cancelled, 130),
        ] {
            assert_eq!(
                Failure::from(Status::new(code, "x")).kind.status(),
                status,
                "{code}"
            );
        }
        assert_eq!(Failure::new(Kind::Failed, "x").of_run().kind.status(), 125);
        assert_eq!(Failure::new(Kind::Refused, "x").of_run().kind.status(), 126);
    }
}
