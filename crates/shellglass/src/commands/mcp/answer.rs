//! A tool's answer: a text for the model, and the fields behind it.

use crate::error::Failure;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, InputRequests, InputRequiredResult,
};
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
    /// What the client must ask its person before there is an answer.
    question: Option<InputRequests>,
}

impl Answer {
    /// A text and its fields.
    pub(super) fn new(text: String, fields: &impl Serialize, went: Went) -> Answer {
        Answer {
            text,
            // Plain data of ours, with text for keys: it has a JSON form.
            fields: serde_json::to_value(fields).ok(),
            went,
            question: None,
        }
    }

    /// No answer yet: the client asks its person, and calls again.
    pub(super) fn question(question: InputRequests) -> Answer {
        Answer {
            text: String::new(),
            fields: None,
            went: Went::Well,
            question: Some(question),
        }
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Answer {
        Answer {
            text: failure.to_string(),
            fields: None,
            went: Went::Wrong,
            question: None,
        }
    }
}

impl From<Answer> for CallToolResponse {
    fn from(mut answer: Answer) -> CallToolResponse {
        match answer.question.take() {
            Some(question) => InputRequiredResult::from_input_requests(question).into(),
            None => CallToolResult::from(answer).into(),
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
