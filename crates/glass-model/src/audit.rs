//! Who asked for what, what was decided about it, and what became of it.

use std::fmt;
use std::str::FromStr;

use crate::{Answer, Approval, ApprovalId, ApprovalScope, Verdict};

/// One thing to be answered for later. Entries are written once, in order, and
/// never changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// The session, as its id is written; empty where there was none.
    pub session: String,
    /// The execution's handle; 0 where there was none.
    pub shell_id: u32,
    /// The task of the one who asked, or empty.
    pub task: String,
    /// Who asked for the command: `person`, `agent`, or `agent:` and its task.
    pub asked_by: String,
    /// What happened.
    pub what: AuditKind,
    /// The command's text; empty where an earlier entry of the same execution
    /// has it.
    pub command: String,
    /// Anything more that a person should know, or empty.
    pub detail: String,
}

/// Begins the detail of an entry that tells, beside what happened, by what the
/// command was allowed.
const ALLOWED_BY: &str = "allowed: ";

impl AuditEntry {
    /// The detail of an entry about a command that was allowed.
    pub fn allowed_by(by: &str) -> String {
        format!("{ALLOWED_BY}{by}")
    }

    /// What this entry says was decided, and by whom. A question is told with
    /// the entry that a person is asked, and an *allow* with the one that the
    /// command ran, or that it ended before it did.
    pub fn decision(&self) -> Option<(Verdict, &str)> {
        match &self.what {
            AuditKind::Decided { verdict, by, .. } => Some((*verdict, by)),
            AuditKind::Asked { .. } => Some((Verdict::Ask, &self.detail)),
            AuditKind::Ran { .. } | AuditKind::Ended { .. } => {
                let by = self.detail.strip_prefix(ALLOWED_BY)?;
                Some((Verdict::Allow, by))
            }
            AuditKind::Answered { .. } => None,
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditKind {
    /// It was decided that the command must not run. What was decided otherwise
    /// is told with what became of it: see [`AuditEntry::decision`].
    Decided {
        /// May it?
        verdict: Verdict,
        /// Who says so: `built-in: git status`, `user: …`, `hook: …`,
        /// `ignore file`, `unchecked`.
        by: String,
        /// Why.
        reason: String,
    },
    /// A person is asked.
    Asked {
        /// The approval's name.
        approval_id: String,
        /// Why.
        reason: String,
        /// When the question lapses, in milliseconds since 1970; 0 is never.
        deadline_ms: i64,
    },
    /// The question has its answer.
    Answered {
        /// The approval's name.
        approval_id: String,
        /// Whether it may run.
        approved: bool,
        /// Who answered: `person`, `deadline`, `cancelled`, `restart`.
        by: String,
        /// How far the answer reaches: `once`, `session`, `always`.
        scope: String,
        /// Why, as far as somebody said.
        reason: String,
    },
    /// The command was handed to a shell.
    Ran {
        /// Where.
        cwd: String,
        /// Behind which walls, in a few words.
        sandbox: String,
    },
    /// The execution is over.
    Ended {
        /// Its exit code, where that is known.
        code: Option<i32>,
        /// How: `exited`, `signal SIGKILL`, `cancelled`, `timed out`,
        /// `rejected: …`, `did not run: …`, `unknown`.
        how: String,
    },
}

impl AuditKind {
    /// A person is asked.
    pub fn asked(approval: &Approval) -> AuditKind {
        AuditKind::Asked {
            approval_id: approval.id.to_string(),
            reason: approval.reason.clone(),
            deadline_ms: approval.deadline_ms.unwrap_or(0),
        }
    }

    /// A question has its answer, or needs none any more.
    pub fn answered(id: ApprovalId, answer: &Answer, by: &str) -> AuditKind {
        let scope = match answer.scope {
            ApprovalScope::Once => "once",
            ApprovalScope::Session => "session",
            ApprovalScope::Always => "always",
        };
        AuditKind::Answered {
            approval_id: id.to_string(),
            approved: answer.approve,
            by: by.to_owned(),
            scope: scope.to_owned(),
            reason: answer.reason.clone(),
        }
    }
}

impl AuditKind {
    /// In one word, for people and for JSON.
    pub fn name(&self) -> &'static str {
        match self {
            AuditKind::Decided { .. } => "decided",
            AuditKind::Asked { .. } => "asked",
            AuditKind::Answered { .. } => "answered",
            AuditKind::Ran { .. } => "ran",
            AuditKind::Ended { .. } => "ended",
        }
    }
}

/// Bytes of a hash of the audit.
pub const AUDIT_HASH_BYTES: usize = 32;

/// What ties an entry to all that came before it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct AuditHash(pub [u8; AUDIT_HASH_BYTES]);

impl fmt::Display for AuditHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for AuditHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AuditHash({self})")
    }
}

impl FromStr for AuditHash {
    type Err = AuditHashError;

    fn from_str(given: &str) -> Result<AuditHash, AuditHashError> {
        let mut hash = [0; AUDIT_HASH_BYTES];
        // Digits alone: numbers may have a sign, and texts other alphabets.
        let is_hex = given.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hex || given.len() != 2 * AUDIT_HASH_BYTES {
            return Err(AuditHashError);
        }
        for (byte, at) in hash.iter_mut().zip((0..).step_by(2)) {
            let digits = given.get(at..at + 2).ok_or(AuditHashError)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| AuditHashError)?;
        }
        Ok(AuditHash(hash))
    }
}

/// A text that is not a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditHashError;

impl fmt::Display for AuditHashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a hash has {} hexadecimal digits", 2 * AUDIT_HASH_BYTES)
    }
}

impl std::error::Error for AuditHashError {}

/// An entry in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    /// Its number: 1, 2, 3, … without gaps.
    pub number: u64,
    /// The hash of the entry before it.
    pub prev_hash: AuditHash,
    /// Its own, which depends on that one.
    pub hash: AuditHash,
    /// The entry.
    pub entry: AuditEntry,
}

/// What was found when the whole chain was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditCheck {
    /// Entries that are in order, from the first on.
    pub entries: u64,
    /// The number of the oldest entry that is kept; the next one's, where there
    /// is none.
    pub first: u64,
    /// The number of the last entry of those in order; one less than `first`
    /// where there is none.
    pub last: u64,
    /// Its hash. Noted elsewhere, it proves later that nothing was rewritten.
    pub head: AuditHash,
    /// The first place where the chain does not hold.
    pub broken: Option<AuditBreak>,
}

/// A place where the chain does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditBreak {
    /// The entry's number.
    pub number: u64,
    /// What is wrong with it.
    pub why: String,
}

#[cfg(test)]
mod tests {
    use super::{AUDIT_HASH_BYTES, AuditHash};

    #[test]
    fn a_hash_is_read_as_it_is_written_and_nothing_else_is_one() {
        let hash = AuditHash(std::array::from_fn(|at| (at * 9) as u8));
        let text = hash.to_string();
        assert_eq!(text.len(), 2 * AUDIT_HASH_BYTES);
        assert_eq!(text.parse(), Ok(hash));
        assert_eq!(text.to_uppercase().parse(), Ok(hash));
        let signed = format!("+1{}", &text[2..]);
        let long = format!("{text}00");
        let wide = "é".repeat(AUDIT_HASH_BYTES);
        for bad in ["", &text[2..], &signed, &long, &wide] {
            assert!(bad.parse::<AuditHash>().is_err(), "{bad}");
        }
    }
}
