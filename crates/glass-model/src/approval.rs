//! Commands that wait for a person, and what the person says.

use crate::{Role, SandboxPolicy, SessionId, ShellId};
use std::fmt;
use std::str::FromStr;

/// Names what waits. An execution is asked about at most once, so this is its
/// handle in other clothes, and stays the same when the daemon is restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ApprovalId(pub ShellId);

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ask-{}", self.0.0)
    }
}

impl FromStr for ApprovalId {
    type Err = ();

    fn from_str(text: &str) -> Result<ApprovalId, ()> {
        let digits = text.strip_prefix("ask-").unwrap_or(text);
        // What is read must be what is written: no signs, no zeros in front.
        let number: u32 = digits.parse().map_err(|_| ())?;
        (number.to_string() == digits)
            .then_some(ApprovalId(ShellId(number)))
            .ok_or(())
    }
}

/// A command that waits for a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Approval {
    /// Its name.
    pub id: ApprovalId,
    /// Where it would run.
    pub session: SessionId,
    /// The task that it belongs to, or empty.
    pub task: String,
    /// The command's text.
    pub command: String,
    /// The directory that it would run in.
    pub cwd: String,
    /// The rights that it would have.
    pub sandbox: SandboxPolicy,
    /// Who asked for it.
    pub asked_by: Role,
    /// Why it is asked about.
    pub reason: String,
    /// Whether it is about what an agent has chosen for the session, too: an
    /// answer for the session takes that as it is.
    pub about_session: bool,
    /// What would be remembered of it; empty where nothing can be.
    pub prefixes: Vec<Vec<String>>,
    /// When it was asked, in milliseconds since 1970.
    pub asked_ms: i64,
    /// When nobody's answer counts as a refusal.
    pub deadline_ms: Option<i64>,
}

/// For how long an answer holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApprovalScope {
    /// For this command alone.
    #[default]
    Once,
    /// For commands like it in this session.
    Session,
    /// For commands like it.
    Always,
}

/// What a person says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Whether it may run.
    pub approve: bool,
    /// Why, for the one who asked; may be empty.
    pub reason: String,
    /// For how long it holds.
    pub scope: ApprovalScope,
}

#[cfg(test)]
mod tests {
    use super::ApprovalId;
    use crate::ShellId;

    #[test]
    fn only_its_own_name_names_it() {
        let id = ApprovalId(ShellId(17));
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!("17".parse(), Ok(id));
        for other in [
            "",
            "ask-",
            "ask-017",
            "ask-+17",
            "ask--1",
            "ask-99999999999",
            "ask-17 ",
        ] {
            assert_eq!(other.parse::<ApprovalId>(), Err(()), "{other}");
        }
    }
}
