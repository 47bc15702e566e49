//! Reads the payload of one operating system command.

use super::fields::{assignment, code, cut, text, value_of};
use super::{Body, Confidence, Marker, Nonce, Protocol, Trust};
use crate::escape::{percent_decode, unescape_633};

/// Where a marker stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Its first byte.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
}

/// What a payload means, before its place is known.
struct Meaning {
    kind: &'static str,
    body: Body,
    trust: Trust,
    /// Whether it has exactly the form that its protocol gives it.
    exact: bool,
}

/// How the payloads of markers begin.
const PREFIXES: [&[u8]; 6] = [b"133;", b"633;", b"7;", b"9;9;", b"1337;", b"3008;"];

/// Whether a payload that begins like this can become a marker.
pub(super) fn may_begin_marker(begin: &[u8]) -> bool {
    PREFIXES.iter().any(|prefix| {
        let shared = prefix.len().min(begin.len());
        prefix[..shared] == begin[..shared]
    })
}

/// The family of a payload, and what follows its number.
fn protocol(payload: &[u8]) -> Option<(Protocol, &[u8])> {
    match payload {
        [b'6', b'3', b'3', b';', rest @ ..] => Some((Protocol::Osc633, rest)),
        [b'1', b'3', b'3', b';', rest @ ..] => Some((Protocol::Osc133, rest)),
        [b'7', b';', rest @ ..] => Some((Protocol::Osc7, rest)),
        [b'9', b';', b'9', b';', rest @ ..] => Some((Protocol::Osc9, rest)),
        [b'1', b'3', b'3', b'7', b';', rest @ ..] => Some((Protocol::Osc1337, rest)),
        [b'3', b'0', b'0', b'8', b';', rest @ ..] => Some((Protocol::Osc3008, rest)),
        _ => None,
    }
}

/// The marker with this payload, if it is one.
pub(super) fn marker(payload: &[u8], place: Place, nonce: Option<&Nonce>) -> Option<Marker> {
    let (protocol, rest) = protocol(payload)?;
    let (kind, arguments) = cut(rest);
    let meaning = match protocol {
        Protocol::Osc133 => osc_133(kind, arguments, nonce)?,
        Protocol::Osc633 => osc_633(kind, arguments, nonce)?,
        Protocol::Osc7 => foreign("cwd", cwd_url(rest)?, true),
        Protocol::Osc9 => foreign("cwd", cwd_path(unquoted(rest))?, true),
        Protocol::Osc1337 => osc_1337(rest)?,
        Protocol::Osc3008 => osc_3008(rest)?,
    };
    let has_kind = matches!(protocol, Protocol::Osc133 | Protocol::Osc633);
    let shown = if has_kind {
        arguments.unwrap_or_default()
    } else {
        rest
    };
    Some(Marker {
        offset: place.offset,
        bytes: place.bytes,
        protocol,
        kind: meaning.kind,
        payload: text(shown),
        confidence: confidence(&meaning),
        body: meaning.body,
        trust: meaning.trust,
    })
}

fn confidence(meaning: &Meaning) -> Confidence {
    let elsewhere = matches!(&meaning.body, Body::Cwd { host: Some(host), .. }
        if !host.is_empty() && host != "localhost");
    match meaning.trust {
        _ if !meaning.exact => Confidence::Low,
        Trust::Trusted => Confidence::High,
        Trust::Untrusted if elsewhere => Confidence::Low,
        Trust::Untrusted => Confidence::Medium,
    }
}

/// A marker of a protocol that has no place for a nonce.
fn foreign(kind: &'static str, body: Body, exact: bool) -> Meaning {
    Meaning {
        kind,
        body,
        trust: Trust::Untrusted,
        exact,
    }
}

fn trust(nonce: Option<&Nonce>, field: Option<&[u8]>) -> Trust {
    match (nonce, field) {
        (Some(nonce), Some(field)) if nonce.is(field) => Trust::Trusted,
        _ => Trust::Untrusted,
    }
}

/// Options of OSC 133 that are in use somewhere. What follows `C;` and is none
/// of them is the command itself.
const OPTIONS_133: [&str; 13] = [
    "aid",
    "cl",
    "k",
    "err",
    "redraw",
    "special_key",
    "click_events",
    "cmdline",
    "cmdline_url",
    "history_id",
    "session_id",
    "prompt_kind",
    "nonce",
];

fn osc_133(kind: &[u8], arguments: Option<&[u8]>, nonce: Option<&Nonce>) -> Option<Meaning> {
    let options = arguments.unwrap_or_default();
    let (kind, body, exact) = match kind {
        b"A" => ("A", Body::PromptStart, true),
        b"N" => ("N", Body::PromptStart, true),
        b"P" => match value_of(options, "k") {
            // Continuation, secondary and right prompts begin no command.
            Some(b"c" | b"s" | b"r") => ("P", Body::Other, true),
            _ => ("P", Body::PromptStart, true),
        },
        b"B" => ("B", Body::PromptEnd, true),
        b"I" => ("I", Body::PromptEnd, true),
        b"C" => {
            let (command, exact) = command_133(options);
            ("C", Body::OutputStart { command }, exact)
        }
        b"D" => {
            let (first, _) = cut(options);
            let code = code(first);
            ("D", Body::Finished { code }, code.is_some())
        }
        b"L" => ("L", Body::Other, true),
        _ => return None,
    };
    Some(Meaning {
        kind,
        body,
        trust: trust(nonce, value_of(options, "nonce")),
        exact,
    })
}

/// The command of `133;C`, and whether the protocol says how to read it.
/// `cmdline` and `cmdline_url` take the rest of the payload.
fn command_133(options: &[u8]) -> (Option<String>, bool) {
    let key = assignment(options).map(|(key, _)| key);
    let is_option = |key: &[u8]| OPTIONS_133.iter().any(|known| known.as_bytes() == key);
    if options.is_empty() {
        return (None, true);
    }
    if !key.is_some_and(is_option) {
        return (Some(text(options)), false);
    }
    if let Some(encoded) = rest_of(options, b"cmdline_url=") {
        return (Some(text(&percent_decode(encoded))), true);
    }
    match rest_of(options, b"cmdline=") {
        Some(quoted) => (Some(text(quoted)), false),
        None => (None, true),
    }
}

/// What follows `key`, which stands at the beginning of a field.
fn rest_of<'a>(options: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let mut rest = options;
    loop {
        if let Some(value) = rest.strip_prefix(key) {
            return Some(value);
        }
        rest = cut(rest).1?;
    }
}

/// OSC 633: the nonce is the field after those that the kind has.
fn osc_633(kind: &[u8], arguments: Option<&[u8]>, nonce: Option<&Nonce>) -> Option<Meaning> {
    let (first, after) = match arguments {
        Some(arguments) => {
            let (first, after) = cut(arguments);
            (Some(first), after)
        }
        None => (None, None),
    };
    let value = first.unwrap_or_default();
    let (kind, body, nonce_field, exact) = match kind {
        b"A" => ("A", Body::PromptStart, first, true),
        b"B" => ("B", Body::PromptEnd, first, true),
        b"C" => ("C", Body::OutputStart { command: None }, first, true),
        b"D" => {
            let code = code(value);
            let exact = code.is_some() || value.is_empty();
            ("D", Body::Finished { code }, after, exact)
        }
        b"E" => {
            let command = text(&unescape_633(value));
            // A `;` that was not escaped makes fields that nobody meant.
            let exact = !after.is_some_and(|after| after.contains(&b';'));
            ("E", Body::CommandLine { command }, after, exact)
        }
        b"P" => ("P", property(value)?, after, true),
        b"F" => ("F", Body::Other, first, true),
        b"G" => ("G", Body::Other, first, true),
        b"H" => ("H", Body::Other, first, true),
        b"I" => ("I", Body::Other, first, true),
        b"EnvJson" => ("EnvJson", Body::Other, None, true),
        b"EnvSingleStart" => ("EnvSingleStart", Body::Other, None, true),
        b"EnvSingleEntry" => ("EnvSingleEntry", Body::Other, None, true),
        b"EnvSingleDelete" => ("EnvSingleDelete", Body::Other, None, true),
        b"EnvSingleEnd" => ("EnvSingleEnd", Body::Other, None, true),
        b"SetMark" => ("SetMark", Body::Other, None, true),
        _ => return None,
    };
    Some(Meaning {
        kind,
        body,
        trust: trust(nonce, nonce_field),
        exact,
    })
}

/// `Name=value` of `633;P`.
fn property(field: &[u8]) -> Option<Body> {
    let (name, value) = assignment(field)?;
    let value = unescape_633(value);
    match name {
        b"Cwd" => cwd_path(&value),
        _ => Some(Body::Property {
            name: text(name),
            value: text(&value),
        }),
    }
}

fn osc_1337(rest: &[u8]) -> Option<Meaning> {
    let (key, value) = match assignment(rest) {
        Some((key, value)) => (key, value),
        None => (rest, &b""[..]),
    };
    let kind = match key {
        b"CurrentDir" => return Some(foreign("CurrentDir", cwd_path(value)?, true)),
        b"RemoteHost" => "RemoteHost",
        b"ShellIntegrationVersion" => "ShellIntegrationVersion",
        b"SetUserVar" => "SetUserVar",
        b"SetMark" => "SetMark",
        // Images, the clipboard, the pointer: not about the shell.
        _ => return None,
    };
    let body = Body::Property {
        name: kind.to_owned(),
        value: text(value),
    };
    Some(foreign(kind, body, true))
}

fn osc_3008(rest: &[u8]) -> Option<Meaning> {
    let (first, fields) = cut(rest);
    let fields = fields.unwrap_or_default();
    let value = |key| value_of(fields, key).map(|value| text(&unescape_633(value)));
    let (key, id) = assignment(first)?;
    let id = text(id);
    match key {
        b"start" => {
            let (cwd, command) = (value("cwd"), value("cmdline"));
            Some(foreign(
                "start",
                Body::ContextStart { id, cwd, command },
                true,
            ))
        }
        b"end" => {
            let status = value_of(fields, "status").and_then(code);
            Some(foreign("end", Body::ContextEnd { id, code: status }, true))
        }
        _ => None,
    }
}

/// `file://host/path`, encoded, or kitty's form of it, as it is.
fn cwd_url(url: &[u8]) -> Option<Body> {
    let encoded = url.strip_prefix(b"file://");
    let rest = encoded.or_else(|| url.strip_prefix(b"kitty-shell-cwd://"))?;
    let slash = memchr::memchr(b'/', rest)?;
    let (host, path) = rest.split_at(slash);
    let path = match encoded {
        Some(_) => percent_decode(path),
        None => path.to_vec(),
    };
    let Some(Body::Cwd { path, .. }) = cwd_path(&path) else {
        return None;
    };
    let host = Some(text(host));
    Some(Body::Cwd { path, host })
}

fn cwd_path(path: &[u8]) -> Option<Body> {
    if path.is_empty() {
        return None;
    }
    let (path, host) = (text(path), None);
    Some(Body::Cwd { path, host })
}

/// Without the quotation marks that some shells on Windows send.
fn unquoted(value: &[u8]) -> &[u8] {
    let inner = value.strip_prefix(b"\"");
    inner
        .and_then(|value| value.strip_suffix(b"\""))
        .unwrap_or(value)
}
