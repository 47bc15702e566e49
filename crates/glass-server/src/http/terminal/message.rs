//! What a client says to a view, in text frames.

use glass_session::{ANNOUNCED_BYTES_MAX, ConsoleWish, PROMPT_BYTES_MAX};
use serde_json::{Map, Value};

/// The longest id or word that is looked at, in bytes.
const WORD_BYTES_MAX: usize = 256;

/// What a client wants to see.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Init {
    /// Which session; empty for a new one on a terminal.
    pub(super) session: String,
    pub(super) columns: u32,
    pub(super) rows: u32,
    /// Whether what is typed into a terminal counts.
    pub(super) read_only: bool,
    pub(super) from_index: u64,
    pub(super) view: View,
    /// Bytes that may be on their way to a client that says what it has shown;
    /// 0 for one that does not.
    pub(super) window_bytes: u64,
    /// How a console is to look.
    pub(super) console: ConsoleWish,
    /// What a mirror shows before the first command runs; empty for nothing.
    pub(super) command: String,
    /// Whether what programs want on the clipboard is in every view.
    pub(super) clipboard: bool,
}

/// How it wants to see it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum View {
    /// As the session's mode has it.
    Default,
    Mirror,
    Console,
    Terminal,
}

/// What a client says later.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// The view has another size, which changes nothing in a mirror.
    Resize { columns: u32, rows: u32 },
    /// So many bytes more have been shown.
    Ack(u64),
    /// A property is wanted as it is now.
    Refresh(String),
    /// Input that is no text.
    Binary(Vec<u8>),
    /// A mirror is to show this command before the first one runs.
    Command(String),
    /// What terminals are told and a view has no use for: it is accepted.
    Nothing,
}

impl Init {
    /// Reads the first message, or says what is wrong with it.
    pub(super) fn read(text: &str) -> Result<Init, String> {
        let message = object(text)?;
        if kind(&message)? != "init" {
            return Err("the first message is of type init".to_owned());
        }
        let session = word(&message, "sessionId")?.unwrap_or_default();
        let view = match word(&message, "view")?.as_deref() {
            None | Some("") => View::Default,
            Some("mirror") => View::Mirror,
            Some("console") => View::Console,
            Some("terminal") => View::Terminal,
            Some(other) => return Err(format!("there is no view '{}'", other.escape_debug())),
        };
        let (columns, rows) = size(&message)?;
        Ok(Init {
            session,
            columns,
            rows,
            read_only: message.get("readOnly") == Some(&Value::Bool(true)),
            from_index: number(&message, "fromIndex")?,
            view,
            window_bytes: number(&message, "windowBytes")?,
            console: console(&message)?,
            command: text_of(&message, "command", ANNOUNCED_BYTES_MAX)?.unwrap_or_default(),
            clipboard: message.get("clipboard") == Some(&Value::Bool(true)),
        })
    }
}

impl Control {
    /// Reads a later message, or says what is wrong with it.
    pub(super) fn read(text: &str) -> Result<Control, String> {
        let message = object(text)?;
        match kind(&message)?.as_str() {
            "resize" => {
                let (columns, rows) = size(&message)?;
                Ok(Control::Resize { columns, rows })
            }
            "ack" => number(&message, "bytes").map(Control::Ack),
            "refresh" => {
                let name = word(&message, "name")?;
                name.map(Control::Refresh)
                    .ok_or_else(|| "refresh names a property".to_owned())
            }
            "binary" => binary(&message).map(Control::Binary),
            "command" => {
                let command = text_of(&message, "command", ANNOUNCED_BYTES_MAX)?;
                command
                    .map(Control::Command)
                    .ok_or_else(|| "command has a command".to_owned())
            }
            "clear" | "unicode" | "set" => Ok(Control::Nothing),
            other => Err(format!("there is no message '{}'", other.escape_debug())),
        }
    }
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(message)) => Ok(message),
        Ok(_) => Err("a message is a JSON object".to_owned()),
        Err(error) => Err(format!("a message is a JSON object: {error}")),
    }
}

fn kind(message: &Map<String, Value>) -> Result<String, String> {
    word(message, "type")?.ok_or_else(|| "the message has no type".to_owned())
}

fn word(message: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    text_of(message, key, WORD_BYTES_MAX)
}

fn text_of(
    message: &Map<String, Value>,
    key: &str,
    bytes_max: usize,
) -> Result<Option<String>, String> {
    match message.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.len() <= bytes_max => Ok(Some(text.clone())),
        Some(_) => Err(format!("{key} is a text of at most {bytes_max} bytes")),
    }
}

fn flag(message: &Map<String, Value>, key: &str) -> Result<Option<bool>, String> {
    match message.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(format!("{key} is true or false")),
    }
}

/// How a console is to look; nothing where nothing is said of it.
fn console(message: &Map<String, Value>) -> Result<ConsoleWish, String> {
    match message.get("console") {
        None | Some(Value::Null) => Ok(ConsoleWish::default()),
        Some(Value::Object(look)) => Ok(ConsoleWish {
            prompt: flag(look, "prompt")?,
            template: text_of(look, "promptTemplate", PROMPT_BYTES_MAX)?,
            dims_commands: flag(look, "hiddenEcho")?,
            shows_exit: flag(look, "showExit")?,
        }),
        Some(_) => Err("console is a JSON object".to_owned()),
    }
}

/// Bytes as a terminal in a browser has them: one character for each.
fn binary(message: &Map<String, Value>) -> Result<Vec<u8>, String> {
    let data = text_of(message, "data", usize::MAX)?.unwrap_or_default();
    let bytes = data.chars().map(|c| u8::try_from(u32::from(c)));
    let bytes: Result<Vec<u8>, _> = bytes.collect();
    bytes.map_err(|_| "data has one character for each byte, up to U+00FF".to_owned())
}

/// A number that JSON carries as such or, where it is wide, as text.
fn number(message: &Map<String, Value>, key: &str) -> Result<u64, String> {
    let found = match message.get(key) {
        None | Some(Value::Null) => Some(0),
        Some(Value::Number(number)) => number.as_u64(),
        Some(Value::String(text)) => text.parse().ok(),
        Some(_) => None,
    };
    found.ok_or_else(|| format!("{key} is a number from 0 on"))
}

/// Columns and rows; zero where they are not said.
fn size(message: &Map<String, Value>) -> Result<(u32, u32), String> {
    let side = |key| {
        let size = number(message, key)?;
        let size = u16::try_from(size).map_err(|_| format!("{key} is at most {}", u16::MAX))?;
        Ok::<u32, String>(u32::from(size))
    };
    Ok((side("cols")?, side("rows")?))
}

#[cfg(test)]
mod tests {
    use super::{ConsoleWish, Control, Init, View};
    use proptest::prelude::*;

    #[test]
    fn the_first_message_says_what_to_show() {
        let text = r#"{"type":"init","sessionId":"s-1","cols":80,"rows":30,"fromIndex":"7"}"#;
        let init = Init::read(text).expect("well-formed");
        assert_eq!(
            init,
            Init {
                session: "s-1".to_owned(),
                columns: 80,
                rows: 30,
                read_only: false,
                from_index: 7,
                view: View::Default,
                window_bytes: 0,
                console: ConsoleWish::default(),
                command: String::new(),
                clipboard: false,
            }
        );
        let mirror = r#"{"type":"init","sessionId":"s-1","view":"mirror"}"#;
        assert_eq!(Init::read(mirror).expect("well-formed").view, View::Mirror);
        let asking = r#"{"type":"init","clipboard":true}"#;
        assert!(Init::read(asking).expect("well-formed").clipboard);
    }

    #[test]
    fn the_first_message_may_say_how_a_console_looks() {
        let text = r#"{"type":"init","sessionId":"s","console":{"prompt":true,
            "promptTemplate":"{name}> ","hiddenEcho":false}}"#;
        let wished = ConsoleWish {
            prompt: Some(true),
            template: Some("{name}> ".to_owned()),
            dims_commands: Some(false),
            shows_exit: None,
        };
        assert_eq!(Init::read(text).expect("well-formed").console, wished);
        let long = "x".repeat(2000);
        for (look, expected) in [
            ("7".to_owned(), "console"),
            (r#"{"prompt":"yes"}"#.to_owned(), "prompt"),
            (
                format!(r#"{{"promptTemplate":"{long}"}}"#),
                "promptTemplate",
            ),
        ] {
            let text = format!(r#"{{"type":"init","sessionId":"s","console":{look}}}"#);
            let error = Init::read(&text).expect_err(&text);
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, expected) in [
            ("", "JSON object"),
            ("[1]", "JSON object"),
            ("{}", "no type"),
            (r#"{"type":"resize"}"#, "type init"),
            (r#"{"type":"init","sessionId":7}"#, "sessionId"),
            (
                r#"{"type":"init","sessionId":"s","fromIndex":-1}"#,
                "fromIndex",
            ),
            (r#"{"type":"init","sessionId":"s","cols":70000}"#, "cols"),
            (r#"{"type":"init","sessionId":"s","view":"x"}"#, "no view"),
        ] {
            let error = Init::read(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
        assert_eq!(
            Control::read(r#"{"type":"resize","cols":100,"rows":1}"#),
            Ok(Control::Resize {
                columns: 100,
                rows: 1
            })
        );
        let ack = Control::read(r#"{"type":"ack","bytes":12}"#);
        assert_eq!(ack, Ok(Control::Ack(12)));
        assert!(Control::read(r#"{"type":"input"}"#).is_err());
        for nothing in ["clear", "unicode", "set"] {
            let read = Control::read(&format!(r#"{{"type":"{nothing}","name":"x"}}"#));
            assert_eq!(read, Ok(Control::Nothing));
        }
        let binary = Control::read(r#"{"type":"binary","data":"a\u00ff"}"#);
        assert_eq!(binary, Ok(Control::Binary(vec![b'a', 0xff])));
        assert!(Control::read(r#"{"type":"binary","data":"\u0100"}"#).is_err());
        assert!(Control::read(r#"{"type":"refresh"}"#).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_a_message_or_an_error(text in ".{0,200}") {
            let _ = Init::read(&text);
            let _ = Control::read(&text);
        }
    }
}
