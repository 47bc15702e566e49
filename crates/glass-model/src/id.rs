//! Newtypes for everything that is passed around by name or number.

use std::fmt;
use std::str::FromStr;

/// A session, as people and clients name it: `s-` and 16 lower-case letters or
/// digits. Used as a file name, so nothing else is accepted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(String);

/// Letters and digits after the `s-` of a session id.
const SESSION_ID_CHARS: usize = 16;

/// A name that is not an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdError {
    /// What was given.
    pub given: String,
}

impl fmt::Display for IdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not a session id", self.given.escape_debug())
    }
}

impl std::error::Error for IdError {}

impl SessionId {
    /// Makes an id from random bytes; the caller brings the randomness.
    pub fn from_random(random: [u8; SESSION_ID_CHARS]) -> SessionId {
        const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
        let mut name = String::with_capacity(2 + SESSION_ID_CHARS);
        name.push_str("s-");
        for byte in random {
            name.push(char::from(ALPHABET[usize::from(byte % 32)]));
        }
        SessionId(name)
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionId {
    type Err = IdError;

    fn from_str(given: &str) -> Result<SessionId, IdError> {
        let valid = given.strip_prefix("s-").is_some_and(|rest| {
            rest.len() == SESSION_ID_CHARS
                && rest
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        });
        if valid {
            Ok(SessionId(given.to_owned()))
        } else {
            Err(IdError {
                given: given.chars().take(64).collect(),
            })
        }
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The handle of one execution, running or ended; unique in a data directory
/// for ever, so that a stale handle never names another command. Never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShellId(pub u32);

impl fmt::Display for ShellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The position of an event in its session: 0, 1, 2, … without gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventIndex(pub u64);

impl EventIndex {
    /// The one after this.
    pub fn next(self) -> EventIndex {
        EventIndex(self.0 + 1)
    }
}

/// A child of the keeper, unique for that keeper's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LaunchId(pub u64);

#[cfg(test)]
mod tests {
    use super::SessionId;

    #[test]
    fn a_made_id_parses_and_a_path_does_not() {
        let id = SessionId::from_random([200; 16]);
        assert_eq!(id.as_str().parse::<SessionId>().as_ref(), Ok(&id));
        for bad in [
            "",
            "s-",
            "s-../../../../etc/p",
            "x-abcdefghijklmnop",
            "s-ABCDEFGHIJKLMNOP",
        ] {
            assert!(bad.parse::<SessionId>().is_err(), "{bad}");
        }
    }
}
