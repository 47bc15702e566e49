//! A tool's answer: a text for the model, and the fields behind it.

use crate::error::Failure;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::Value;

/// Whether a call did what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Went {
    /// It did.
    Well,
    /// It did not, and the text says why.
    Wrong,
}

/// A tool's answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    text: String,
    fields: Option<Value>,
    went: Went,
}

impl Answer {
    /// A text and its fields.
    pub(super) fn new(text: String, fields: &impl Serialize, went: Went) -> Answer {
        Answer {
            text,
            // Plain data of ours, with text for keys: it has a JSON form.
            fields: serde_json::to_value(fields).ok(),
            went,
        }
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Answer {
        Answer {
            text: failure.to_string(),
            fields: None,
            went: Went::Wrong,
        }
    }
}

impl From<Answer> for CallToolResult {
    fn from(answer: Answer) -> CallToolResult {
        let content = vec![ContentBlock::text(answer.text)];
        let mut result = match answer.went {
            Went::Well => CallToolResult::success(content),
            Went::Wrong => CallToolResult::error(content),
        };
        result.structured_content = answer.fields;
        result
    }
}
