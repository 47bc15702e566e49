//! The service's unary methods in protobuf-JSON, by name: a request from JSON to
//! the wire, an answer from the wire to JSON.
//!
//! Everything is read from the contract's description, so a method that the
//! contract gains is here without a word.

use crate::json::POOL;
use prost::Message as _;
use prost_reflect::{DeserializeOptions, DynamicMessage, MessageDescriptor, SerializeOptions};

/// The service's name in the contract.
const SERVICE: &str = "shellglass.v1.ShellExec";

/// One unary method.
#[derive(Clone, Debug)]
pub struct Method {
    path: String,
    input: MessageDescriptor,
    output: MessageDescriptor,
}

/// Why there is no translation.
#[derive(Debug, thiserror::Error)]
pub enum TranscodeError {
    /// The request is not JSON, or not that of this method.
    #[error("the request is not a {message}: {why}")]
    Request {
        /// The message that was expected.
        message: String,
        /// What is wrong with it.
        why: String,
    },
    /// The answer is not what the contract says.
    #[error("the answer is not a {message}: {why}")]
    Answer {
        /// The message that was expected.
        message: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Method {
    /// The method of this name, if there is one and it does not stream.
    pub fn unary(name: &str) -> Option<Method> {
        let service = POOL.get_service_by_name(SERVICE)?;
        let method = service.methods().find(|method| method.name() == name)?;
        if method.is_client_streaming() || method.is_server_streaming() {
            return None;
        }
        Some(Method {
            path: format!("/{SERVICE}/{name}"),
            input: method.input(),
            output: method.output(),
        })
    }

    /// Where gRPC finds it.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// A request as it travels. Nothing at all is a request without fields; a
    /// field that the contract does not have is an error.
    pub fn request(&self, json: &[u8]) -> Result<Vec<u8>, TranscodeError> {
        let json = match json.trim_ascii() {
            [] => b"{}",
            json => json,
        };
        let failed = |error: serde_json::Error| TranscodeError::Request {
            message: self.input.full_name().to_owned(),
            why: error.to_string(),
        };
        let mut reader = serde_json::Deserializer::from_slice(json);
        let options = DeserializeOptions::new();
        let input = self.input.clone();
        let message = DynamicMessage::deserialize_with_options(input, &mut reader, &options);
        let message = message.map_err(failed)?;
        reader.end().map_err(failed)?;
        Ok(message.encode_to_vec())
    }

    /// An answer as JSON.
    pub fn answer(&self, bytes: &[u8]) -> Result<Vec<u8>, TranscodeError> {
        let failed = |why: String| TranscodeError::Answer {
            message: self.output.full_name().to_owned(),
            why,
        };
        let message = DynamicMessage::decode(self.output.clone(), bytes)
            .map_err(|error| failed(error.to_string()))?;
        let mut json = Vec::new();
        let mut writer = serde_json::Serializer::new(&mut json);
        let options = SerializeOptions::new().skip_default_fields(false);
        message
            .serialize_with_options(&mut writer, &options)
            .map_err(|error| failed(error.to_string()))?;
        Ok(json)
    }
}

#[cfg(test)]
mod tests {
    use super::{Method, POOL, SERVICE};
    use crate::shellglass::v1::{CancelRequest, CancelResponse};
    use proptest::prelude::*;
    use prost::Message as _;

    #[test]
    fn every_method_that_does_not_stream_is_there() {
        let service = POOL.get_service_by_name(SERVICE).expect("the contract");
        let mut streams = Vec::new();
        for method in service.methods() {
            if Method::unary(method.name()).is_none() {
                streams.push(method.name().to_owned());
            }
        }
        assert_eq!(
            streams,
            [
                "Execute",
                "Subscribe",
                "Attach",
                "ReadAudit",
                "ExportRecording",
                "WatchSessions",
                "WatchCapabilities"
            ]
        );
        assert!(Method::unary("Nonsense").is_none());
        assert!(Method::unary("").is_none());
    }

    #[test]
    fn a_request_and_an_answer_cross() {
        let cancel = Method::unary("Cancel").expect("a method");
        assert_eq!(cancel.path(), "/shellglass.v1.ShellExec/Cancel");
        let request = cancel.request(br#"{"sessionId":"s-1","shellId":7}"#);
        let request = CancelRequest::decode(request.expect("JSON").as_slice()).expect("bytes");
        assert_eq!(
            (request.session_id.as_str(), request.shell_id),
            ("s-1", Some(7))
        );
        let answer = cancel.answer(&CancelResponse { cancelled: true }.encode_to_vec());
        assert_eq!(answer.expect("an answer"), br#"{"cancelled":true}"#);
        assert_eq!(cancel.request(b" ").expect("nothing"), b"");
    }

    #[test]
    fn what_is_not_in_the_contract_is_refused_with_its_name() {
        let cancel = Method::unary("Cancel").expect("a method");
        for wrong in [
            r#"{"session":"x"}"#,
            "[]",
            "{",
            "{} {}",
            r#"{"shellId":"x"}"#,
        ] {
            let error = cancel
                .request(wrong.as_bytes())
                .expect_err(wrong)
                .to_string();
            assert!(error.contains("shellglass.v1.CancelRequest"), "{error}");
        }
    }

    #[test]
    fn depth_is_an_error_and_not_an_overflow() {
        let run = Method::unary("Run").expect("a method");
        let deep = format!("{}1{}", r#"{"args":"#.repeat(5000), "}".repeat(5000));
        assert!(run.request(deep.as_bytes()).is_err());
        assert!(run.request("[".repeat(100_000).as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_request_or_an_error(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let run = Method::unary("Run").expect("a method");
            if let Ok(request) = run.request(&bytes) {
                prop_assert!(crate::shellglass::v1::ExecuteRequest::decode(request.as_slice()).is_ok());
            }
            let _ = run.answer(&bytes);
        }
    }
}
