//! What a client says: one message of JSON-RPC 2.0 a line, and the shapes of
//! protocol version 1.

use crate::error::{Failure, Kind};
use rmcp::model::{ErrorCode, ErrorData};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A message that is too long to be read.
pub(super) fn too_long(bytes_max: usize) -> ErrorData {
    let message = format!("a message has at most {bytes_max} bytes");
    ErrorData::invalid_request(message, None)
}

/// A request beside too many others.
pub(super) fn too_many(most: usize) -> ErrorData {
    let message = format!("{most} requests are under way; ask again later");
    ErrorData::internal_error(message, None)
}

impl From<Failure> for ErrorData {
    fn from(failure: Failure) -> ErrorData {
        let code = match failure.kind {
            Kind::Usage => ErrorCode::INVALID_PARAMS,
            _ => ErrorCode::INTERNAL_ERROR,
        };
        let hint = failure.hint.map(|hint| format!("\nhint: {hint}"));
        ErrorData::new(code, failure.message + &hint.unwrap_or_default(), None)
    }
}

/// A line.
#[derive(Debug)]
pub(super) enum Said {
    /// A request, which its id names.
    Request(Value, Result<Asked, ErrorData>),
    /// Nothing that wants an answer.
    Nothing,
    /// Something that is no message, with its id where it has one.
    Mistake(Value, ErrorData),
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
            return Said::Mistake(Value::Null, ErrorData::parse_error(message, None));
        }
    };
    let Value::Object(mut message) = message else {
        return Said::Mistake(Value::Null, no_message());
    };
    let is_answer = message.contains_key("result") || message.contains_key("error");
    let method = message.remove("method");
    let has_id = message.contains_key("id");
    let is_id = |id: &Value| matches!(id, Value::String(_) | Value::Number(_));
    match (method, message.remove("id").filter(is_id)) {
        // We ask for nothing, so nobody answers us; and what wants no answer has none.
        (None, _) if is_answer => Said::Nothing,
        (Some(Value::String(_)), None) if !has_id => Said::Nothing,
        (Some(Value::String(method)), Some(id)) => {
            let params = message.remove("params").unwrap_or_default();
            Said::Request(id, asked(&method, params))
        }
        (_, id) => Said::Mistake(id.unwrap_or_default(), no_message()),
    }
}

fn no_message() -> ErrorData {
    let message = "this is not a JSON-RPC 2.0 request: it needs jsonrpc, id and method";
    ErrorData::invalid_request(message, None)
}

fn asked(method: &str, params: Value) -> Result<Asked, ErrorData> {
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
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None));
        }
    })
}

fn read<T: DeserializeOwned>(method: &str, params: Value) -> Result<T, ErrorData> {
    let wrong = |error| ErrorData::invalid_params(format!("{method}: {error}"), None);
    serde_json::from_value(params).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(line: &str, code: Option<ErrorCode>) {
        let found = match parse(line.as_bytes()) {
            Said::Request(_, Ok(_)) | Said::Nothing => None,
            Said::Request(_, Err(mistake)) | Said::Mistake(_, mistake) => Some(mistake.code),
        };
        assert_eq!(found, code, "{line}");
    }

    #[test]
    fn whoever_can_be_answered_is() {
        for (line, expected) in [
            (r#"{"id":1}"#, json!(1)),
            (r#"{"id":"a","method":5}"#, json!("a")),
            (r#"{"id":{},"method":"x"}"#, Value::Null),
            ("[1]", Value::Null),
            ("{", Value::Null),
        ] {
            let Said::Mistake(id, _) = parse(line.as_bytes()) else {
                panic!("{line} is a mistake");
            };
            assert_eq!(id, expected, "{line}");
        }
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
        check("{", Some(ErrorCode::PARSE_ERROR));
        check("[]", Some(ErrorCode::INVALID_REQUEST));
        check("7", Some(ErrorCode::INVALID_REQUEST));
        check(r#"{"id":1}"#, Some(ErrorCode::INVALID_REQUEST));
        check(
            r#"{"id":{},"method":"x"}"#,
            Some(ErrorCode::INVALID_REQUEST),
        );
        check(
            r#"{"id":1,"method":"initialize"}"#,
            Some(ErrorCode::METHOD_NOT_FOUND),
        );
        check(
            r#"{"id":1,"method":"terminal/kill"}"#,
            Some(ErrorCode::INVALID_PARAMS),
        );
        check(
            r#"{"id":1,"method":"terminal/create","params":{"sessionId":"s","command":5}}"#,
            Some(ErrorCode::INVALID_PARAMS),
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
