//! Where a connection's commands run, and under which name.

use crate::commands::run::{directory, resume::fresh_key};
use crate::error::Failure;
use axum::http::request::Parts;
use std::sync::atomic::AtomicBool;

/// The header that names a connection over HTTP.
const SESSION_HEADER: &str = "mcp-session-id";

/// The argument of the address that says where commands begin.
const DIRECTORY_ARGUMENT: &str = "cwd";

/// Characters of a connection's name that others may see. Who knows these does
/// not know the name.
const SHOWN_CHARS: usize = 13;

/// Where a connection's commands run.
pub(super) struct Place {
    /// Names the connection's calls and its session.
    pub task: String,
    /// Whether the connection may have had a session before.
    pub returned: AtomicBool,
    /// Where its session begins, unless that is where we are.
    directory: Option<String>,
}

impl Place {
    /// That of the process that serves one client.
    pub(super) fn of_this_process() -> Result<Place, Failure> {
        Ok(Place {
            task: fresh_key()?.replacen("run-", "mcp-", 1),
            returned: AtomicBool::new(false),
            directory: None,
        })
    }

    /// That of a client over HTTP. It is the same in the next daemon.
    pub(super) fn of_request(parts: &Parts) -> Place {
        let name = parts.headers.get(SESSION_HEADER);
        let name = name.and_then(|name| name.to_str().ok()).unwrap_or_default();
        Place {
            task: task_of(name),
            returned: AtomicBool::new(true),
            // Nothing is the daemon's own place.
            directory: Some(asked_directory(parts.uri.query().unwrap_or_default())),
        }
    }

    /// Where its session begins; nothing is where the daemon is.
    pub(super) fn directory(&self) -> Result<String, Failure> {
        match &self.directory {
            Some(given) => Ok(given.clone()),
            None => directory(None),
        }
    }
}

/// The task of a connection of this name.
pub(super) fn task_of(name: &str) -> String {
    let shown: String = name.chars().take(SHOWN_CHARS).collect();
    format!("mcp-{shown}")
}

/// The directory that an address asks for. One that is not whole, or none, is
/// for the daemon to refuse or to choose.
fn asked_directory(query: &str) -> String {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let asked = pairs.find(|(name, _)| *name == DIRECTORY_ARGUMENT);
    asked.map(|(_, value)| decoded(value)).unwrap_or_default()
}

/// A text in which addresses have `%2F` for `/` and `+` for a blank.
fn decoded(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'%', [high, low, after @ ..]) if let Some(byte) = hex(*high, *low) => {
                bytes.push(byte);
                rest = after;
            }
            (b'+', _) => bytes.push(b' '),
            (byte, _) => bytes.push(*byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::{Place, asked_directory, decoded};

    #[test]
    fn an_address_says_where_commands_begin() {
        for (query, directory) in [
            ("", ""),
            ("cwd=/a", "/a"),
            ("x=1&cwd=%2Fhome%2fme%2Fmy+work%21", "/home/me/my work!"),
            ("cwd=/100%&cwd=/b", "/100%"),
            ("cwd=%e2%82%ac%zz%4", "€%zz%4"),
            ("cwd", ""),
        ] {
            assert_eq!(asked_directory(query), directory, "{query}");
        }
    }

    #[test]
    fn a_connection_is_named_without_giving_its_name_away() {
        let request = axum::http::Request::get("/mcp?cwd=/w")
            .header("mcp-session-id", "0123abcd-4567-4def-8123-0123456789ab")
            .body(())
            .expect("a request");
        let place = Place::of_request(&request.into_parts().0);
        assert_eq!(place.task, "mcp-0123abcd-4567");
        assert_eq!(place.directory().expect("given"), "/w");
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_written_is_read(text: String) {
            let written: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
            proptest::prop_assert_eq!(decoded(&written), text);
        }

        #[test]
        fn nothing_is_a_trap(text: String) {
            proptest::prop_assert!(decoded(&text).len() <= text.len() * 3);
        }
    }
}
