//! What hooks get on their standard input. These types are the wire: their
//! names are those that users' programs read.

use crate::limits::OUTPUT_BYTES_MAX;
use serde::Serialize;
use serde_json::Value;

/// What hooks are asked before a command runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BeforeShellExecution {
    /// The command line.
    pub command: String,
    /// Where it is to run; the hook runs there, too.
    pub cwd: String,
    /// The other host that it is to run on; empty for this one. The hook runs here, in
    /// the root directory.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// The session.
    pub session_id: String,
    /// The session's task; empty for none.
    pub task_id: String,
    /// The caller's own id for this command; empty for none.
    pub tool_call_id: String,
    /// The `SandboxPolicy` that was asked for, as protobuf-JSON; null for none.
    pub requested_sandbox_policy: Value,
    /// The `ShellCommandParsingResult`, as protobuf-JSON; null for none.
    pub parsing_result: Value,
}

/// What hooks are told after a command has ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AfterShellExecution {
    /// The command line.
    pub command: String,
    /// Where it ran; the hook runs there, too.
    pub cwd: String,
    /// The other host that it ran on; empty for this one. The hook runs here, in the
    /// root directory.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// The session.
    pub session_id: String,
    /// Its exit code; null where it is not known, or a signal ended it.
    pub exit_code: Option<i32>,
    /// The name of the signal that ended it; empty for none.
    pub signal: String,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The end of its output, at most [`OUTPUT_BYTES_MAX`] bytes.
    pub output: String,
    /// The `SandboxPolicy` that was in force, as protobuf-JSON.
    pub effective_sandbox_policy: Value,
}

/// A payload with the name of its occasion in front.
#[derive(Serialize)]
struct Named<'a, T> {
    hook: &'static str,
    #[serde(flatten)]
    payload: &'a T,
}

/// Where a hook runs: where its command does, if that is here.
fn place<'a>(cwd: &'a str, host: &str) -> &'a str {
    if host.is_empty() { cwd } else { "/" }
}

impl BeforeShellExecution {
    pub(crate) fn place(&self) -> &str {
        place(&self.cwd, &self.host)
    }

    pub(crate) fn to_json(&self) -> Vec<u8> {
        line("beforeShellExecution", self)
    }
}

impl AfterShellExecution {
    pub(crate) fn place(&self) -> &str {
        place(&self.cwd, &self.host)
    }

    pub(crate) fn to_json(&self) -> Vec<u8> {
        line("afterShellExecution", self)
    }
}

/// One line, because `read` of a shell wants its end.
fn line(hook: &'static str, payload: &impl Serialize) -> Vec<u8> {
    let named = Named { hook, payload };
    let mut json = serde_json::to_vec(&named).expect("texts, numbers and JSON values are JSON");
    json.push(b'\n');
    json
}

/// The end of a command's output as hooks are told it: at most
/// [`OUTPUT_BYTES_MAX`] bytes, and what is not UTF-8 replaced.
pub fn output_text(bytes: &[u8]) -> String {
    crate::text::tail(bytes, OUTPUT_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use super::{AfterShellExecution, BeforeShellExecution, output_text};
    use crate::limits::OUTPUT_BYTES_MAX;
    use serde_json::{Value, json};

    fn check(line: &[u8], expected: &Value) {
        let text = std::str::from_utf8(line).expect("UTF-8");
        assert_eq!(text.matches('\n').count(), 1);
        let value: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(value, *expected);
    }

    #[test]
    fn what_is_asked_has_every_key_of_the_contract() {
        let asked = BeforeShellExecution {
            command: "git\nstatus".to_owned(),
            cwd: "/src".to_owned(),
            host: "box".to_owned(),
            session_id: "s-1".to_owned(),
            task_id: "t".to_owned(),
            tool_call_id: "c".to_owned(),
            requested_sandbox_policy: json!({"type": "TYPE_WORKSPACE_READWRITE"}),
            parsing_result: json!({"parsingFailed": false}),
        };
        let expected = json!({
            "hook": "beforeShellExecution",
            "command": "git\nstatus",
            "cwd": "/src",
            "host": "box",
            "sessionId": "s-1",
            "taskId": "t",
            "toolCallId": "c",
            "requestedSandboxPolicy": {"type": "TYPE_WORKSPACE_READWRITE"},
            "parsingResult": {"parsingFailed": false},
        });
        check(&asked.to_json(), &expected);
        // What is a directory there is none here.
        assert_eq!(asked.place(), "/");
    }

    #[test]
    fn what_is_told_has_every_key_of_the_contract() {
        let told = AfterShellExecution {
            command: "make".to_owned(),
            cwd: "/src".to_owned(),
            session_id: "s-1".to_owned(),
            duration_ms: 7,
            output: "ok\n".to_owned(),
            signal: "SIGKILL".to_owned(),
            ..AfterShellExecution::default()
        };
        let expected = json!({
            "hook": "afterShellExecution",
            "command": "make",
            "cwd": "/src",
            "sessionId": "s-1",
            "exitCode": null,
            "signal": "SIGKILL",
            "durationMs": 7,
            "output": "ok\n",
            "effectiveSandboxPolicy": null,
        });
        check(&told.to_json(), &expected);
    }

    #[test]
    fn of_long_output_the_end_is_told_within_the_bound() {
        let mut bytes = "é".repeat(OUTPUT_BYTES_MAX).into_bytes();
        bytes.extend(b"\xff end");
        let text = output_text(&bytes);
        assert!(text.len() <= OUTPUT_BYTES_MAX, "{}", text.len());
        assert!(text.ends_with("é\u{fffd} end"));
        assert!(!text.starts_with('\u{fffd}'));
        assert_eq!(output_text(b"short"), "short");
    }
}
