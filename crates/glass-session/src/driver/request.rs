//! What we say to a driver.
//!
//! bash takes a head of one size, which may be all of a request, or has the lengths
//! of what follows, or is followed by a fixed number of fields, each ended by a NUL;
//! zsh and fish, for which every field costs, a header and the fields that it
//! announces; a POSIX shell, which cannot read a NUL, lines of shell code. Short
//! requests matter, because a shell takes a socket byte by byte.

use super::quote;
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
pub const FIELD_BYTES_MAX: usize = 128 * 1024;

/// Most variables that one command may have.
const VARIABLES_MAX: usize = 1024;

/// One command for a driver.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Its number: larger than that of every request before it to the same
    /// shell, and never 0.
    pub seq: u64,
    /// What the report has to carry; letters, digits and hyphens.
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
    /// A nonce that has other than letters, digits and hyphens, or a sequence number of 0.
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
pub fn encode_run(
    kind: ShellKind,
    _dir: &Path,
    request: &Request<'_>,
) -> Result<Encoded, RequestError> {
    check(request)?;
    let long = request.command.len() > INLINE_BYTES_MAX;
    let mut around = around(kind, request.env);
    if kind == ShellKind::Bash && names_parked_descriptor(request.command) {
        around.before.extend_from_slice(BASH_FREE_DESCRIPTORS);
    }
    let seq = request.seq.to_string();
    let slot = request.slot.to_string();
    let fields = Fields {
        kind: letter(long, request.command),
        seq: &seq,
        nonce: request.nonce,
        slot: &slot,
        call: request.tool_call_id,
        cwd: request.cwd.unwrap_or_default(),
        around: &around,
        command: if long { "" } else { request.command },
    };
    let message = match kind {
        ShellKind::Bash => measured(&fields).unwrap_or_else(|| separated(&fields)),
        ShellKind::Zsh | ShellKind::Fish => announced(&fields),
        ShellKind::Posix => lines(&fields),
        ShellKind::Nu | ShellKind::Other => return Err(RequestError::NotDriven),
    };
    Ok(Encoded {
        message,
        file: long.then(|| request.command.as_bytes().to_vec()),
    })
}

/// Which state of a shell is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Any.
    Whole,
    /// One that is another than when it was asked for last. Where it is the same,
    /// the driver may leave no file.
    Changed,
}

/// Encodes a request for the shell's state, to be found in the file
/// [`state_name`](super::state_name) once the driver reports it.
pub fn encode_snapshot(kind: ShellKind, seq: u64, wanted: Wanted) -> Vec<u8> {
    let fields = Fields {
        kind: "s",
        seq: &seq.to_string(),
        nonce: "0",
        slot: "0",
        call: "",
        cwd: b"",
        around: &Around::default(),
        command: match (kind, wanted) {
            (ShellKind::Bash, Wanted::Changed) => "changed",
            _ => "",
        },
    };
    match kind {
        ShellKind::Bash => separated(&fields),
        ShellKind::Zsh | ShellKind::Fish => announced(&fields),
        ShellKind::Posix | ShellKind::Nu | ShellKind::Other => lines(&fields),
    }
}

/// bash parks what it closes for a command at the first free descriptors from
/// 10 on, and quietly undoes an `exec` of the command's that names one of
/// those. This takes them, so that bash parks elsewhere.
const BASH_FREE_DESCRIPTORS: &[u8] = b"\
{ builtin : <&10; } || exec 10</dev/null\n\
{ builtin : <&11; } || exec 11</dev/null\n\
{ builtin : <&12; } || exec 12</dev/null\n\
{ builtin : <&13; } || exec 13</dev/null\n\
{ builtin : <&14; } || exec 14</dev/null\n";

/// Whether the command seems to redirect one of the descriptors from 10 to 14.
fn names_parked_descriptor(command: &str) -> bool {
    command
        .as_bytes()
        .windows(3)
        .any(|three| matches!(three, [b'1', b'0'..=b'4', b'<' | b'>']))
}

struct Fields<'a> {
    kind: &'a str,
    seq: &'a str,
    nonce: &'a str,
    slot: &'a str,
    call: &'a str,
    cwd: &'a [u8],
    around: &'a Around,
    command: &'a str,
}

impl Fields<'_> {
    fn all(&self) -> [&[u8]; 9] {
        [
            self.kind.as_bytes(),
            self.seq.as_bytes(),
            self.nonce.as_bytes(),
            self.slot.as_bytes(),
            self.call.as_bytes(),
            self.cwd,
            &self.around.before,
            &self.around.after,
            self.command.as_bytes(),
        ]
    }
}

/// What kind of request it is: whether its command is in a file, and whether
/// it may set a trap, which the driver then looks for.
fn letter(long: bool, command: &str) -> &'static str {
    let trap = command.contains("trap") || command.contains("TRAP");
    match (long, trap) {
        (false, false) => "r",
        (false, true) => "t",
        (true, false) => "f",
        (true, true) => "g",
    }
}

/// Bytes of the head of a request to bash, for which one call is enough. bash pays for
/// every byte, so it has room for commands as people type them and not for more.
const BASH_HEAD_BYTES: usize = 128;

/// Most digits of a request's number in the head of a request to bash.
const BASH_SEQ_DIGITS: usize = 10;

/// Bytes of a nonce of the usual length, for which a driver need not count.
pub const NONCE_BYTES: usize = 10;

/// A command that wants nothing special, so that bash can take it in blocks. bash counts in
/// characters, and some that nobody can see are special to it; so only where a
/// character is a byte and can be seen. None where that cannot be done.
fn measured(fields: &Fields<'_>) -> Option<Vec<u8>> {
    let Around { before, after } = fields.around;
    let special = [before, after, fields.cwd]
        .iter()
        .any(|text| !text.is_empty());
    let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    let parts = [fields.slot, fields.nonce, fields.call, fields.command];
    if fields.kind != "r" || special || !parts.iter().all(|part| part.bytes().all(plain)) {
        return None;
    }
    if fields.slot.len() != 1
        || fields.nonce.len() != NONCE_BYTES
        || fields.seq.len() > BASH_SEQ_DIGITS
    {
        return None;
    }
    short(fields).or_else(|| longer(fields))
}

/// A head that has all of a command, at its end: then bash need not be told how long it is.
/// None where that does not fit, and where bash has to forget a tool call id.
fn short(fields: &Fields<'_>) -> Option<Vec<u8>> {
    let Fields {
        seq,
        slot,
        nonce,
        call,
        command,
        ..
    } = fields;
    let command_at = BASH_HEAD_BYTES.checked_sub(command.len())?;
    let call_bytes = call.len();
    let before = format!("{seq:>10}{slot}{nonce}{call_bytes:>3}{command_at:>3}{call}");
    if call.is_empty() || before.len() > command_at {
        return None;
    }
    Some(format!("{before:<command_at$}{command}").into_bytes())
}

/// The fields one after the other, after a head that says how long they are. Its number
/// is 0, which makes bash look for what it is. None where a length has too many digits.
fn longer(fields: &Fields<'_>) -> Option<Vec<u8>> {
    let parts = [fields.slot, fields.nonce, fields.call, fields.command];
    let all: usize = parts.iter().map(|part| part.len()).sum();
    let command_at = all - fields.command.len();
    let lengths = format!("{all:>5}{command_at:>3}");
    if lengths.len() > 8 {
        return None;
    }
    let head = format!("{:>10}l{:>10}{lengths}", 0, fields.seq);
    let mut message = format!("{head:<BASH_HEAD_BYTES$}").into_bytes();
    message.extend(parts.iter().flat_map(|part| part.bytes()));
    Some(message)
}

/// Every field, ended by a NUL, after a head that is a number of 0 and blank.
fn separated(fields: &Fields<'_>) -> Vec<u8> {
    let head = format!("{:>10}", 0);
    let mut message = format!("{head:<BASH_HEAD_BYTES$}").into_bytes();
    for field in fields.all() {
        message.extend_from_slice(field);
        message.push(0);
    }
    message
}

/// A header, the fields that it announces, and the command, each ended by a
/// NUL.
fn announced(fields: &Fields<'_>) -> Vec<u8> {
    let plain_call = fields.call.bytes().all(|byte| byte.is_ascii_graphic());
    let mut extras = String::new();
    let mut after_header = Vec::new();
    let mut announce = |letter, bytes: &[u8]| {
        extras.extend(letter);
        after_header.extend_from_slice(bytes);
        after_header.push(0);
    };
    if !plain_call {
        announce(Some('i'), fields.call.as_bytes());
    }
    if !fields.cwd.is_empty() {
        announce(Some('d'), fields.cwd);
    }
    if !fields.around.before.is_empty() {
        announce(Some('v'), &fields.around.before);
        announce(None, &fields.around.after);
    }
    announce(None, fields.command.as_bytes());
    if extras.is_empty() {
        extras.push('-');
    }
    let Fields {
        kind,
        seq,
        nonce,
        slot,
        ..
    } = fields;
    let call = if plain_call { fields.call } else { "" };
    let mut message = format!("{kind} {seq} {nonce} {slot} {extras} {call}\0").into_bytes();
    message.append(&mut after_header);
    message
}

/// The number of the lines that follow, and then a call of a function.
fn lines(fields: &Fields<'_>) -> Vec<u8> {
    let mut call = b"__sg_take".to_vec();
    for field in fields.all() {
        call.push(b' ');
        call.extend(quote(ShellKind::Posix, field));
    }
    call.push(b'\n');
    let count = call.iter().filter(|&&byte| byte == b'\n').count();
    let mut message = format!("{count}\n").into_bytes();
    message.append(&mut call);
    message
}

fn check(request: &Request<'_>) -> Result<(), RequestError> {
    let plain = !request.nonce.is_empty()
        && request
            .nonce
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
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

/// What the driver's own variables begin with. Whoever could set those could
/// have another command run than the one that was judged.
const OWN_PREFIX: &str = "__sg";

/// Whether a command can be given a variable of this name.
pub(crate) fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|first| first == b'_' || first.is_ascii_alphabetic())
        && bytes.all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
        && !is_own(name)
}

/// Whether a name is one of the driver's own, or an exported function's that
/// would pass for one.
pub(crate) fn is_own(name: &str) -> bool {
    let name = name.strip_prefix("BASH_FUNC_").unwrap_or(name);
    name.to_ascii_lowercase().starts_with(OWN_PREFIX)
}
