//! What a client says: one message of JSON-RPC 2.0 a line, and the shapes of
//! protocol version 1.

use crate::error::{Failure, Kind};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const INTERNAL_ERROR: i32 = -32603;
const NOT_FOUND: i32 = -32002;

/// Why a request has an error for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    code: i32,
    message: String,
}

impl Mistake {
    pub(super) fn params(message: impl Into<String>) -> Mistake {
        Mistake::new(INVALID_PARAMS, message)
    }

    pub(super) fn not_found(message: impl Into<String>) -> Mistake {
        Mistake::new(NOT_FOUND, message)
    }

    pub(super) fn failed(message: impl Into<String>) -> Mistake {
        Mistake::new(INTERNAL_ERROR, message)
    }

    pub(super) fn too_long(bytes_max: usize) -> Mistake {
        let message = format!("a message has at most {bytes_max} bytes");
        Mistake::new(INVALID_REQUEST, message)
    }

    pub(super) fn too_many(most: usize) -> Mistake {
        Mistake::failed(format!("{most} requests are under way; ask again later"))
    }

    fn new(code: i32, message: impl Into<String>) -> Mistake {
        Mistake {
            code,
            message: message.into(),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        json!({"code": self.code, "message": self.message})
    }
}

impl From<Failure> for Mistake {
    fn from(failure: Failure) -> Mistake {
        let code = match failure.kind {
            Kind::Usage => INVALID_PARAMS,
            _ => INTERNAL_ERROR,
        };
        let hint = failure.hint.map(|hint| format!("\nhint: {hint}"));
        Mistake::new(code, failure.message + &hint.unwrap_or_default())
    }
}

/// A line.
#[derive(Debug)]
pub(super) enum Said {
    /// A request, which its id names.
    Request(Value, Result<Asked, Mistake>),
    /// Nothing that wants an answer.
    Nothing,
    /// Something that is no message.
    Mistake(Mistake),
}

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Create(Create),
    Output(Named),
    WaitForExit(Named),
    Kill(Named),
    Release(Named),
}

/// A command that is to have a terminal.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Create {
    pub session_id: String,
    pub command: String,
    #[serde(default, deserialize_with = "or_default")]
    pub args: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub env: Vec<Variable>,
    pub cwd: Option<String>,
    pub output_byte_limit: Option<u64>,
}

/// One variable of the environment.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Variable {
    pub name: String,
    pub value: String,
}

/// A terminal that there is.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Named {
    pub session_id: String,
    pub terminal_id: String,
}

/// The protocol lets null stand for an empty list.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads one line.
pub(super) fn parse(line: &[u8]) -> Said {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Said::Nothing;
    }
    let message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(error) => {
            let message = format!("this line is not JSON: {error}");
            return Said::Mistake(Mistake::new(PARSE_ERROR, message));
        }
    };
    let Value::Object(mut message) = message else {
        return Said::Mistake(no_message());
    };
    let is_answer = message.contains_key("result") || message.contains_key("error");
    let method = message.remove("method");
    match (method, message.remove("id")) {
        // We ask for nothing, so nobody answers us; and what wants no answer has none.
        (None, _) if is_answer => Said::Nothing,
        (Some(Value::String(_)), None) => Said::Nothing,
        (Some(Value::String(method)), Some(id @ (Value::String(_) | Value::Number(_)))) => {
            let params = message.remove("params").unwrap_or_default();
            Said::Request(id, asked(&method, params))
        }
        _ => Said::Mistake(no_message()),
    }
}

fn no_message() -> Mistake {
    let message = "this is not a JSON-RPC 2.0 request: it needs jsonrpc, id and method";
    Mistake::new(INVALID_REQUEST, message)
}

fn asked(method: &str, params: Value) -> Result<Asked, Mistake> {
    Ok(match method {
        "terminal/create" => Asked::Create(read(method, params)?),
        "terminal/output" => Asked::Output(read(method, params)?),
        "terminal/wait_for_exit" => Asked::WaitForExit(read(method, params)?),
        "terminal/kill" => Asked::Kill(read(method, params)?),
        "terminal/release" => Asked::Release(read(method, params)?),
        other => {
            let other: String = other.chars().take(64).collect();
            let message = format!(
                "there is no '{}' here\nhint: this stands in for a client's terminals and has \
                 terminal/create, output, wait_for_exit, kill and release",
                other.escape_debug()
            );
            return Err(Mistake::new(METHOD_NOT_FOUND, message));
        }
    })
}

fn read<T: DeserializeOwned>(method: &str, params: Value) -> Result<T, Mistake> {
    let wrong = |error| Mistake::params(format!("{method}: {error}"));
    serde_json::from_value(params).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, code: Option<i32>) {
        let found = match parse(line.as_bytes()) {
            Said::Request(_, Ok(_)) | Said::Nothing => None,
            Said::Request(_, Err(mistake)) | Said::Mistake(mistake) => Some(mistake.code),
        };
        assert_eq!(found, code, "{line}");
    }

    #[test]
    fn what_is_no_request_has_its_error() {
        let named = r#"{"sessionId":"s","terminalId":"t"}"#;
        check(
            &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"terminal/kill","params":{named}}}"#),
            None,
        );
        check(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, None);
        check(r#"{"jsonrpc":"2.0","method":"session/cancel"}"#, None);
        check("  ", None);
        check("{", Some(PARSE_ERROR));
        check("[]", Some(INVALID_REQUEST));
        check("7", Some(INVALID_REQUEST));
        check(r#"{"id":1}"#, Some(INVALID_REQUEST));
        check(r#"{"id":{},"method":"x"}"#, Some(INVALID_REQUEST));
        check(r#"{"id":1,"method":"initialize"}"#, Some(METHOD_NOT_FOUND));
        check(r#"{"id":1,"method":"terminal/kill"}"#, Some(INVALID_PARAMS));
        check(
            r#"{"id":1,"method":"terminal/create","params":{"sessionId":"s","command":5}}"#,
            Some(INVALID_PARAMS),
        );
    }

    #[test]
    fn null_is_an_empty_list() {
        let params = json!({"sessionId": "s", "command": "x", "args": null, "env": null});
        let expected = Create {
            session_id: "s".to_owned(),
            command: "x".to_owned(),
            ..Create::default()
        };
        assert_eq!(
            asked("terminal/create", params),
            Ok(Asked::Create(expected))
        );
    }

    proptest::proptest! {
        #[test]
        fn no_line_is_a_trap(bytes: Vec<u8>, at in 0usize..200, byte: u8) {
            drop(parse(&bytes));
            let call = br#"{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{"sessionId":"s","command":"x"}}"#;
            let at = at.min(call.len() - 1);
            let mut changed = call.to_vec();
            changed[at] = byte;
            drop((parse(&changed), parse(&call[..at])));
        }
    }
}
