//! What the keeper remembers for us about each of its children: enough for a
//! new daemon to know whose it is.

use glass_model::{SessionId, ShellId};

/// The word for warm shells. Its number is that of the language in which their drivers
/// are spoken to: one that understands another is not spoken to, and ended.
const WARM: &str = "warm2";

/// Whose child a launch is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// A warm shell of a session, in the room of this key. The nonce is what its
    /// reports carry; it lives nowhere on disk.
    Warm {
        session: SessionId,
        nonce: String,
        room: String,
    },
    /// The shell of a session on a terminal, whose execution this is. The nonce is
    /// what its markers carry, where it writes some; it lives nowhere on disk.
    Pty {
        session: SessionId,
        shell_id: ShellId,
        nonce: Option<String>,
    },
    /// The shell of one command.
    Line {
        session: SessionId,
        shell_id: ShellId,
    },
}

impl Tag {
    pub(crate) fn session(&self) -> &SessionId {
        match self {
            Tag::Warm { session, .. } | Tag::Pty { session, .. } | Tag::Line { session, .. } => {
                session
            }
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Tag::Warm {
                session,
                nonce,
                room,
            } => format!("{WARM} {session} {nonce} {room}"),
            Tag::Pty {
                session,
                shell_id,
                nonce: None,
            } => format!("pty {session} {shell_id}"),
            Tag::Pty {
                session,
                shell_id,
                nonce: Some(nonce),
            } => format!("pty {session} {shell_id} {nonce}"),
            Tag::Line { session, shell_id } => format!("line {session} {shell_id}"),
        }
        .into_bytes()
    }

    /// None for a child that another kind of daemon left.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Tag> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut words = text.split(' ');
        let (kind, session, last) = (words.next()?, words.next()?, words.next()?);
        let session = session.parse().ok()?;
        match kind {
            WARM => Some(Tag::Warm {
                session,
                nonce: last.to_owned(),
                room: words.next()?.to_owned(),
            }),
            "pty" => Some(Tag::Pty {
                session,
                shell_id: ShellId(last.parse().ok()?),
                nonce: words.next().map(str::to_owned),
            }),
            "line" => Some(Tag::Line {
                session,
                shell_id: ShellId(last.parse().ok()?),
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Tag;
    use glass_model::{SessionId, ShellId};

    #[test]
    fn tags_come_back_as_they_were() {
        let session = SessionId::from_random([7; 16]);
        for tag in [
            Tag::Warm {
                session: session.clone(),
                nonce: "abc".to_owned(),
                room: "bare".to_owned(),
            },
            Tag::Pty {
                session: session.clone(),
                shell_id: ShellId(12),
                nonce: None,
            },
            Tag::Pty {
                session: session.clone(),
                shell_id: ShellId(12),
                nonce: Some("abc".to_owned()),
            },
            Tag::Line {
                session,
                shell_id: ShellId(12),
            },
        ] {
            assert_eq!(Tag::decode(&tag.encode()), Some(tag));
        }
        let older = format!("warm {} abc bare", SessionId::from_random([7; 16]));
        assert_eq!(Tag::decode(older.as_bytes()), None);
        assert_eq!(Tag::decode(b"pty s-x 1"), None);
        assert_eq!(Tag::decode(b"\xff"), None);
    }
}
