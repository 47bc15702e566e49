//! The contract's messages as protobuf-JSON: camelCase keys, enums by name,
//! 64-bit numbers as strings, bytes in base64.
//!
//! Fields that are unset are written with their default where the contract
//! gives them no presence, so that `exitCode` is there when it is 0.

use crate::DESCRIPTORS;
use crate::agent::v1::{SandboxPolicy, ShellCommandParsingResult, ShellResult};
use crate::shellglass::v1::{
    Approval, AuditRecord, CancelResponse, Capabilities, CheckCommandResponse, Empty,
    ListApprovalsResponse, ListSessionsResponse, ReadOutputResponse, SearchResponse, Session,
    SessionHistory, VerifyAuditResponse, WaitResponse,
};
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, SerializeOptions};
use serde_json::Value;
use std::sync::LazyLock;

/// Read at the first use: most commands never print JSON.
pub(crate) static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    DescriptorPool::decode(DESCRIPTORS).expect("the build wrote a valid descriptor set")
});

/// A message of the contract that can be printed.
pub trait Json: Message {
    /// Its full name in the contract.
    const NAME: &'static str;
}

macro_rules! named {
    ($($message:ty => $name:literal,)*) => {
        $(impl Json for $message { const NAME: &'static str = $name; })*
    };
}

named! {
    SandboxPolicy => "agent.v1.SandboxPolicy",
    ShellCommandParsingResult => "agent.v1.ShellCommandParsingResult",
    ShellResult => "agent.v1.ShellResult",
    AuditRecord => "shellglass.v1.AuditRecord",
    VerifyAuditResponse => "shellglass.v1.VerifyAuditResponse",
    Approval => "shellglass.v1.Approval",
    Capabilities => "shellglass.v1.Capabilities",
    CancelResponse => "shellglass.v1.CancelResponse",
    CheckCommandResponse => "shellglass.v1.CheckCommandResponse",
    Empty => "shellglass.v1.Empty",
    ListApprovalsResponse => "shellglass.v1.ListApprovalsResponse",
    ListSessionsResponse => "shellglass.v1.ListSessionsResponse",
    ReadOutputResponse => "shellglass.v1.ReadOutputResponse",
    SearchResponse => "shellglass.v1.SearchResponse",
    Session => "shellglass.v1.Session",
    SessionHistory => "shellglass.v1.SessionHistory",
    WaitResponse => "shellglass.v1.WaitResponse",
}

/// The message as protobuf-JSON.
pub fn value<M: Json>(message: &M) -> Value {
    let descriptor = POOL
        .get_message_by_name(M::NAME)
        .expect("every name in the table is in the contract");
    let bytes = message.encode_to_vec();
    let dynamic = DynamicMessage::decode(descriptor, bytes.as_slice())
        .expect("what was just encoded can be decoded");
    let options = SerializeOptions::new().skip_default_fields(false);
    dynamic
        .serialize_with_options(serde_json::value::Serializer, &options)
        .expect("a message of the contract has a JSON form")
}

/// The result of a run as protobuf-JSON.
pub fn shell_result(result: &ShellResult) -> Value {
    value(result)
}

#[cfg(test)]
mod tests {
    use super::{Json, POOL, value};
    use crate::agent::v1::{
        SandboxPolicy, ShellFailure, ShellResult, ShellSuccess, shell_result::Result as Kind,
    };
    use crate::shellglass::v1::{AuditRecord, ReadOutputResponse, Session, VerifyAuditResponse};
    use serde_json::json;

    #[test]
    fn keys_are_camel_case_and_enums_have_names() {
        let failure = ShellFailure {
            exit_code: 3,
            abort_reason: Some(2),
            ..Default::default()
        };
        let printed = value(&ShellResult {
            result: Some(Kind::Failure(failure)),
            sandbox_policy: Some(SandboxPolicy {
                r#type: 1,
                ..Default::default()
            }),
            ..Default::default()
        });
        assert_eq!(printed["failure"]["exitCode"], json!(3));
        assert_eq!(
            printed["failure"]["abortReason"],
            json!("SHELL_ABORT_REASON_TIMEOUT")
        );
        assert_eq!(
            printed["sandboxPolicy"]["type"],
            json!("TYPE_INSECURE_NONE")
        );
    }

    #[test]
    fn a_zero_is_printed_and_an_absent_message_is_not() {
        let success = ShellSuccess::default();
        let printed = value(&ShellResult {
            result: Some(Kind::Success(success)),
            ..Default::default()
        });
        assert_eq!(printed["success"]["exitCode"], json!(0));
        assert_eq!(printed["success"]["stdout"], json!(""));
        assert!(
            printed["success"].get("outputLocation").is_none(),
            "{printed}"
        );
        assert!(printed.get("failure").is_none(), "{printed}");
        assert!(value(&Session::default()).get("lastExitCode").is_none());
    }

    #[test]
    fn wide_numbers_are_strings() {
        let printed = value(&ReadOutputResponse {
            next_offset: u64::MAX,
            ..Default::default()
        });
        assert_eq!(printed["nextOffset"], json!(u64::MAX.to_string()));
    }

    #[test]
    fn every_name_in_the_table_is_in_the_contract() {
        for name in [
            ShellResult::NAME,
            Session::NAME,
            ReadOutputResponse::NAME,
            AuditRecord::NAME,
            VerifyAuditResponse::NAME,
        ] {
            assert!(POOL.get_message_by_name(name).is_some(), "{name}");
        }
    }
}
