//! Reads the answer of a hook that was asked.

use crate::limits::MESSAGE_BYTES_MAX;
use crate::text::{head, visible};
use serde::Deserialize;

/// What a hook says about a command, the laxest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    /// It has no objection.
    #[default]
    Allow,
    /// A person must be asked.
    Ask,
    /// The command must not run.
    Deny,
}

/// The answer of one hook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// What it says.
    pub permission: Permission,
    /// Its words for people; empty for none.
    pub user_message: String,
    /// Its words for the agent; empty for none.
    pub agent_message: String,
}

/// Why something is not an answer.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// There is nothing.
    #[error("it printed no answer")]
    Nothing,
    /// It is not JSON, or not of this shape.
    #[error("what it printed is not an answer: {0}")]
    Malformed(#[source] serde_json::Error),
    /// It is JSON and not an object.
    #[error("what it printed is not an answer: it is not a JSON object")]
    NotAnObject,
    /// There is no such permission.
    #[error("there is no permission `{0}`, only `allow`, `ask` and `deny`")]
    UnknownPermission(String),
}

/// The wire's shape. Further keys are skipped, so that a hook can serve others.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Shape {
    permission: String,
    user_message: Option<String>,
    agent_message: Option<String>,
}

/// Longest permission that an error quotes, in bytes.
const QUOTED_BYTES_MAX: usize = 40;

/// Reads what a hook has printed: one JSON object, with nothing but white space
/// around it. Messages are cut to [`MESSAGE_BYTES_MAX`].
pub fn parse_answer(printed: &[u8]) -> Result<Answer, AnswerError> {
    let text = printed.trim_ascii();
    match text.first() {
        None => return Err(AnswerError::Nothing),
        Some(b'{') => {}
        // A list of three would be taken for the shape's fields, in order.
        Some(_) => {
            let value = serde_json::from_slice::<serde::de::IgnoredAny>(text);
            return Err(value.map_or_else(AnswerError::Malformed, |_| AnswerError::NotAnObject));
        }
    }
    let shape: Shape = serde_json::from_slice(text).map_err(AnswerError::Malformed)?;
    let permission = match &*shape.permission {
        "allow" => Permission::Allow,
        "ask" => Permission::Ask,
        "deny" => Permission::Deny,
        other => {
            let quoted = visible(head(other, QUOTED_BYTES_MAX));
            return Err(AnswerError::UnknownPermission(quoted));
        }
    };
    let message = |given: Option<String>| {
        let given = given.unwrap_or_default();
        head(given.trim(), MESSAGE_BYTES_MAX).to_owned()
    };
    Ok(Answer {
        permission,
        user_message: message(shape.user_message),
        agent_message: message(shape.agent_message),
    })
}

#[cfg(test)]
mod tests {
    use super::{Answer, Permission, parse_answer};
    use crate::limits::MESSAGE_BYTES_MAX;
    use proptest::prelude::*;
    use serde_json::json;

    fn check(printed: &str, expected: &str) {
        let error = parse_answer(printed.as_bytes()).expect_err(printed);
        let error = error.to_string();
        assert!(error.contains(expected), "{printed}: {error}");
    }

    #[test]
    fn an_answer_is_read_with_or_without_its_messages() {
        let answer = parse_answer(b" {\"permission\":\"ask\"}\r\n").expect("an answer");
        assert_eq!(answer.permission, Permission::Ask);
        assert_eq!(answer.user_message, "");
        let text = r#"{"more":[1],"userMessage":" No. ","agentMessage":null,"permission":"deny"}"#;
        let expected = Answer {
            permission: Permission::Deny,
            user_message: "No.".to_owned(),
            agent_message: String::new(),
        };
        assert_eq!(parse_answer(text.as_bytes()).expect("an answer"), expected);
    }

    #[test]
    fn what_is_not_an_answer_is_refused_with_its_reason() {
        check("", "printed no answer");
        check(" \n", "printed no answer");
        check("yes", "not an answer: expected");
        check("[\"allow\",null,null]", "not a JSON object");
        check("\"allow\"", "not a JSON object");
        check("{}", "missing field `permission`");
        check("{\"permission\":true}", "expected a string");
        check("{\"permission\":\"Allow\"}", "no permission `Allow`");
        check("{\"permission\":\"al\\nlow\"}", "no permission `al\\nlow`");
        check("{\"permission\":\"allow\",\"userMessage\":1}", "expected");
        check("{\"permission\":\"allow\"} {}", "trailing");
        check(
            "{\"permission\":\"allow\",\"permission\":\"deny\"}",
            "duplicate",
        );
        check("{\"permission\":\"allow\"", "EOF");
    }

    proptest! {
        #[test]
        fn an_answer_that_was_written_is_read_as_it_was_meant(
            word in 0..3usize, user in "\\PC{0,40}", agent in "\\PC{0,40}",
        ) {
            let permission = ["allow", "ask", "deny"][word];
            let json = json!({
                "permission": permission, "userMessage": user, "agentMessage": agent,
            });
            let answer = parse_answer(json.to_string().as_bytes()).expect("an answer");
            prop_assert_eq!(format!("{:?}", answer.permission).to_lowercase(), permission);
            prop_assert_eq!(answer.user_message, user.trim());
            prop_assert_eq!(answer.agent_message, agent.trim());
        }

        #[test]
        fn no_bytes_upset_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(answer) = parse_answer(&bytes) {
                prop_assert!(answer.user_message.len() <= MESSAGE_BYTES_MAX);
            }
        }

        #[test]
        fn an_answer_that_was_cut_short_is_none(cut in 0..60usize) {
            let whole = br#"{"permission":"allow","userMessage":"u","agentMessage":"a"}"#;
            prop_assert_eq!(parse_answer(&whole[..cut.min(whole.len())]).is_ok(), cut >= whole.len());
        }
    }
}
