//! What we say to a driver.
//!
//! A request is a fixed number of fields, each ended by a NUL, or, for a POSIX
//! shell, which cannot read a NUL, lines of shell code. Short fields matter:
//! a shell takes a socket byte by byte.

use super::variables::{Around, around};
use glass_model::ShellKind;
use std::path::Path;

/// Longest command that travels inside a request, in bytes. A longer one is
/// put in a file, because a shell takes a socket byte by byte.
pub const INLINE_BYTES_MAX: usize = 4 * 1024;

/// Longest command, in bytes.
pub const COMMAND_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Longest variable's value, nonce, directory or tool call id, in bytes. The
/// kernel takes no argument or variable over 128 KiB.
const FIELD_BYTES_MAX: usize = 128 * 1024;

/// Most variables that one command may have.
const VARIABLES_MAX: usize = 1024;

/// One command for a driver.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Its number: larger than that of every request before it to the same
    /// shell, and never 0.
    pub seq: u64,
    /// What the report has to carry; letters and digits.
    pub nonce: &'a str,
    /// Which output pipes it writes to. The once driver ignores it.
    pub slot: u32,
    /// The value of `SHELLGLASS_TOOL_CALL_ID`; unset when empty.
    pub tool_call_id: &'a str,
    /// A directory to enter first. The shell stays in it afterwards.
    pub cwd: Option<&'a [u8]>,
    /// Variables for this command alone.
    pub env: &'a [(String, String)],
    /// The command's text.
    pub command: &'a str,
}

/// A request, as bytes for the request socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// What to write to the socket, in one piece.
    pub message: Vec<u8>,
    /// What the file [`command_name`](super::command_name) has to hold before
    /// the message is sent, if anything.
    pub file: Option<Vec<u8>>,
}

/// Why a command cannot be handed to a shell.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// A NUL, which no shell can hold in a string.
    #[error("the {what} has a NUL byte at offset {offset}")]
    NulByte {
        /// What has it.
        what: &'static str,
        /// Where in it.
        offset: usize,
    },
    /// A variable's name that is not one.
    #[error("{name:?} is not the name of a variable")]
    BadName {
        /// The name.
        name: String,
    },
    /// A nonce that is not letters and digits, or a sequence number of 0.
    #[error("the request's nonce or number cannot be used")]
    BadNonce,
    /// Something too long.
    #[error("the {what} has {length} bytes, and {limit} are allowed")]
    TooLong {
        /// What is too long.
        what: &'static str,
        /// How long it is.
        length: usize,
        /// How long it may be.
        limit: usize,
    },
    /// A shell for which there is no driver.
    #[error("this shell cannot be driven")]
    NotDriven,
}

/// Encodes a command for the driver of a shell of this kind, warm or once.
///
/// `dir` is the session's directory, the one that [`argv`](super::argv) had.
pub fn encode_run(
    kind: ShellKind,
    dir: &Path,
    request: &Request<'_>,
) -> Result<Encoded, RequestError> {
    let _ = dir;
    check(request)?;
    let long = request.command.len() > INLINE_BYTES_MAX;
    let file = long.then(|| request.command.as_bytes().to_vec());
    let around = around(kind, request.env);
    let message = match kind {
        ShellKind::Other => return Err(RequestError::NotDriven),
        _ => fields(request, &around, long),
    };
    Ok(Encoded { message, file })
}

/// Encodes a request for the shell's state, to be found in the file
/// [`state_name`](super::state_name) once the driver reports it.
pub fn encode_snapshot(kind: ShellKind, seq: u64) -> Vec<u8> {
    let _ = kind;
    format!("s\0{seq}\0\0\0\0\0\0\0\0").into_bytes()
}

fn fields(request: &Request<'_>, around: &Around, long: bool) -> Vec<u8> {
    let trap = request.command.contains("trap");
    let kind = match (long, trap) {
        (false, false) => "r",
        (false, true) => "t",
        (true, false) => "R",
        (true, true) => "T",
    };
    let command = if long { "" } else { request.command };
    let seq = request.seq.to_string();
    let slot = request.slot.to_string();
    let fields: [&[u8]; 9] = [
        kind.as_bytes(),
        seq.as_bytes(),
        request.nonce.as_bytes(),
        slot.as_bytes(),
        request.tool_call_id.as_bytes(),
        request.cwd.unwrap_or_default(),
        &around.before,
        &around.after,
        command.as_bytes(),
    ];
    let mut message = Vec::with_capacity(fields.iter().map(|field| field.len() + 1).sum());
    for field in fields {
        message.extend_from_slice(field);
        message.push(0);
    }
    message
}

fn check(request: &Request<'_>) -> Result<(), RequestError> {
    let plain =
        !request.nonce.is_empty() && request.nonce.bytes().all(|b| b.is_ascii_alphanumeric());
    if !plain || request.seq == 0 {
        return Err(RequestError::BadNonce);
    }
    check_bytes("command", request.command.as_bytes(), COMMAND_BYTES_MAX)?;
    check_bytes("nonce", request.nonce.as_bytes(), 128)?;
    check_bytes(
        "tool call id",
        request.tool_call_id.as_bytes(),
        FIELD_BYTES_MAX,
    )?;
    check_bytes(
        "working directory",
        request.cwd.unwrap_or_default(),
        FIELD_BYTES_MAX,
    )?;
    if request.env.len() > VARIABLES_MAX {
        let length = request.env.len();
        return Err(RequestError::TooLong {
            what: "list of variables",
            length,
            limit: VARIABLES_MAX,
        });
    }
    for (name, value) in request.env {
        if !is_name(name) {
            return Err(RequestError::BadName { name: name.clone() });
        }
        check_bytes("value of a variable", value.as_bytes(), FIELD_BYTES_MAX)?;
    }
    Ok(())
}

fn check_bytes(what: &'static str, bytes: &[u8], limit: usize) -> Result<(), RequestError> {
    if let Some(offset) = bytes.iter().position(|&byte| byte == 0) {
        return Err(RequestError::NulByte { what, offset });
    }
    let length = bytes.len();
    if length > limit {
        return Err(RequestError::TooLong {
            what,
            length,
            limit,
        });
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|first| first == b'_' || first.is_ascii_alphabetic())
        && bytes.all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}
