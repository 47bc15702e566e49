//! What the tools are given. The comments here are what a model reads of each
//! argument.

use crate::error::{Failure, Kind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// `execute_command`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Execute {
    /// The command line, as one shell string.
    pub command: String,
    /// Run it in this directory, and stay there. Default: where the session is.
    pub cwd: Option<String>,
    /// End the command after so many milliseconds. Default: never.
    pub timeout_ms: Option<u32>,
    /// Run it in this session instead of this connection's own.
    pub session_id: Option<String>,
    /// Run it in a shell of its own and answer at once with its `shell_id`: for
    /// servers, watchers and long builds.
    pub background: Option<bool>,
    /// Give the command a terminal. Not available in this version.
    pub tty: Option<bool>,
    /// What the command may do: what may be written (`rw`: the workspace, `ro`:
    /// nothing, `none`: all that the user may), or an object with more. Default: as
    /// configured. More than the configuration grants is refused.
    #[serde(default, deserialize_with = "sandbox")]
    #[schemars(with = "Option<SandboxShape>")]
    pub sandbox: Option<Sandbox>,
    /// Answer after so many milliseconds even if the command still runs; it goes
    /// on, and `wait` or `read_output` continue with its `shell_id`. Default
    /// 10000, at most 50000.
    pub yield_ms: Option<u32>,
    /// Show at most so many characters of output. Default 16000.
    pub max_chars: Option<u32>,
    /// Show only so many lines of the beginning (and of the end, with `tail`).
    pub head: Option<u32>,
    /// Show only so many lines of the end (and of the beginning, with `head`).
    pub tail: Option<u32>,
    /// Show only lines that match this regular expression.
    pub grep: Option<String>,
}

/// What a command may do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Sandbox {
    /// What may be written: the workspace (`rw`), nothing (`ro`), or all that the
    /// user may (`none`).
    #[serde(rename = "type")]
    pub kind: Option<SandboxKind>,
    /// Whether the network may be reached.
    #[serde(alias = "network_access", alias = "networkAccess")]
    pub network: Option<bool>,
    /// Further paths that may be written.
    #[serde(default)]
    pub rw: Vec<String>,
    /// Further paths that may be read.
    #[serde(default)]
    pub ro: Vec<String>,
}

/// What may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum SandboxKind {
    #[serde(alias = "TYPE_INSECURE_NONE")]
    None,
    #[serde(alias = "TYPE_WORKSPACE_READWRITE")]
    Rw,
    #[serde(alias = "TYPE_WORKSPACE_READONLY")]
    Ro,
}

/// How the rights can be written.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "its schema is all that is wanted of it")]
enum SandboxShape {
    Kind(SandboxKind),
    Whole(Sandbox),
}

/// Rights in either shape. Not as an untagged enum, whose mistakes say nothing.
fn sandbox<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Sandbox>, D::Error> {
    use serde::de::Error as _;
    let whole = match Option::<Value>::deserialize(value)? {
        None => return Ok(None),
        Some(Value::String(kind)) => serde_json::json!({ "type": kind }),
        Some(whole) => whole,
    };
    serde_json::from_value(whole)
        .map(Some)
        .map_err(D::Error::custom)
}

/// `read_output`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Read {
    /// The command whose output is read, running or ended.
    pub shell_id: u32,
    /// Show exactly what stands from this byte on. Default: what is new since it
    /// was last shown, shortened.
    pub offset: Option<u64>,
    /// Show at most so many lines.
    pub lines: Option<u32>,
    /// Show only lines that match this regular expression, each with its offset;
    /// from `offset` on, or else of everything.
    pub search: Option<String>,
    /// Show at most so many characters. Default 16000.
    pub max_chars: Option<u32>,
    /// If there is nothing new, wait so many milliseconds for something. At most
    /// 50000.
    pub wait_ms: Option<u32>,
}

/// `write_stdin`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteStdin {
    /// The running command; one with background: true.
    pub shell_id: u32,
    /// What it reads; end a line with a newline. \u0003 (Ctrl+C) interrupts the
    /// command, \u0004 (Ctrl+D) ends its input.
    pub chars: String,
}

/// `wait`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Wait {
    /// The command.
    pub shell_id: u32,
    /// Until it ends. This counts in any case, unless jobs that it left behind
    /// (`server &`) still run and something else is waited for.
    pub exit: Option<bool>,
    /// Until output that was not shown yet matches this regular expression; ^ and
    /// $ are the ends of lines.
    pub pattern: Option<String>,
    /// Until a process of the command listens on this TCP port.
    pub port: Option<u16>,
    /// Until this path exists.
    pub file: Option<String>,
    /// Until nothing was written for so many milliseconds.
    pub quiet_ms: Option<u32>,
    /// Answer after so many milliseconds in any case. Default 30000, at most
    /// 50000; call again to go on.
    pub timeout_ms: Option<u32>,
}

/// `list_sessions`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListSessions {
    /// Also those that were disposed of.
    pub include_disposed: Option<bool>,
}

/// `cancel`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Cancel {
    /// Exactly this command.
    pub shell_id: Option<u32>,
    /// Or whatever runs in this session. Default: this connection's own.
    pub session_id: Option<String>,
}

/// `dispose_session`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DisposeSession {
    /// The session to end, with whatever runs in it.
    pub session_id: String,
}

/// `check_command`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckCommand {
    /// The command line, as one shell string.
    pub command: String,
    /// The directory that it would run in.
    pub cwd: Option<String>,
    /// The shell whose language it is in. Default: bash.
    pub shell: Option<String>,
}

/// The arguments of a call, or which of them is wrong and why.
pub(super) fn parse<T: DeserializeOwned>(
    tool: &str,
    arguments: Option<Map<String, Value>>,
) -> Result<T, Failure> {
    let value = Value::Object(arguments.unwrap_or_default());
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let at = match path.as_str() {
            // An argument that is missing or unknown is named by the error.
            "." => String::new(),
            path => format!(" `{path}`"),
        };
        let said = error.into_inner();
        Failure::new(Kind::Usage, format!("{tool}: bad argument{at}: {said}"))
            .hint(format!("the input schema of {tool} has its arguments"))
    })
}

/// A regular expression, or why it is none.
pub(super) fn regex(name: &str, pattern: &str) -> Result<regex::Regex, Failure> {
    /// Memory that one pattern may take, in bytes.
    const REGEX_BYTES_MAX: usize = 4 << 20;
    /// Longest pattern, in bytes.
    const PATTERN_BYTES_MAX: usize = 4096;
    let bad = |why: String| {
        Failure::new(Kind::Usage, format!("bad argument `{name}`: {why}"))
            .hint("it is a regular expression in Rust's syntax, without look-around; \\ escapes")
    };
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(bad(format!("it has more than {PATTERN_BYTES_MAX} bytes")));
    }
    regex::RegexBuilder::new(pattern)
        .size_limit(REGEX_BYTES_MAX)
        .dfa_size_limit(REGEX_BYTES_MAX)
        .build()
        .map_err(|error| bad(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::{Execute, Read, SandboxKind, parse, regex};
    use serde_json::{Value, json};

    fn said(value: Value) -> String {
        let Value::Object(arguments) = value else {
            panic!("arguments are an object");
        };
        parse::<Execute>("execute_command", Some(arguments))
            .expect_err("a mistake")
            .message
    }

    #[test]
    fn a_mistake_names_its_argument() {
        for (arguments, words) in [
            (json!({}), ["missing field", "`command`"]),
            (json!({"command": 5}), ["`command`", "expected a string"]),
            (
                json!({"command": "a", "comand": 1}),
                ["unknown field `comand`", "expected one of"],
            ),
            (
                json!({"command": "a", "yield_ms": -1}),
                ["`yield_ms`", "-1"],
            ),
            (
                json!({"command": "a", "yield_ms": 1.5}),
                ["`yield_ms`", "1.5"],
            ),
            (
                json!({"command": "a", "max_chars": 5e12}),
                ["`max_chars`", "5000000000000"],
            ),
            (
                json!({"command": "a", "sandbox": {"type": "all"}}),
                ["`sandbox`", "`rw`"],
            ),
        ] {
            let said = said(arguments);
            assert!(words.iter().all(|word| said.contains(word)), "{said}");
        }
    }

    #[test]
    fn arguments_are_read() {
        let Value::Object(arguments) = json!({"shell_id": 3, "offset": 1u64 << 40, "lines": null})
        else {
            unreachable!("an object");
        };
        let read: Read = parse("read_output", Some(arguments)).expect("right");
        assert_eq!(
            (read.shell_id, read.offset, read.lines),
            (3, Some(1 << 40), None)
        );
    }

    #[test]
    fn rights_are_a_word_or_an_object() {
        for (given, kind, network) in [
            (json!("ro"), Some(SandboxKind::Ro), None),
            (
                json!({"type": "rw", "network": true}),
                Some(SandboxKind::Rw),
                Some(true),
            ),
            (json!({"network": false}), None, Some(false)),
        ] {
            let Value::Object(arguments) = json!({"command": "a", "sandbox": given}) else {
                unreachable!("an object");
            };
            let execute: Execute = parse("execute_command", Some(arguments)).expect("right");
            let sandbox = execute.sandbox.expect("given");
            assert_eq!((sandbox.kind, sandbox.network), (kind, network));
        }
    }

    #[test]
    fn a_pattern_is_checked_and_bounded() {
        assert!(regex("grep", r"^\w+ é \d{3}$").is_ok());
        assert!(regex("grep", "(").is_err());
        assert!(regex("grep", &"x".repeat(5000)).is_err());
        assert!(regex("grep", "((a{1000}){1000}){1000}").is_err());
    }
}
