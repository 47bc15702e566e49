//! The wire: the contract's messages and the conversions between them and the
//! vocabulary of `glass-model`. Nothing else sees both sides.
#![forbid(unsafe_code)]

mod audit;
mod convert;
pub mod json;
mod policy;
mod receipt;
mod transcode;

pub use audit::{audit_check, audit_record};
pub use convert::{
    exit_details, exit_event, exit_stream, sandbox_from_wire, sandbox_to_wire, session_event,
    text_and_raw, wire_execution,
};
pub use policy::{check_command, parsing_result, reasons};
pub use receipt::receipt;
pub use transcode::{Method, TranscodeError};

/// The messages of `agent.v1`.
#[allow(missing_docs, clippy::all)]
pub mod agent {
    /// Version 1.
    pub mod v1 {
        tonic::include_proto!("agent.v1");
    }
}

/// The service that carries them.
#[allow(missing_docs, clippy::all)]
pub mod shellglass {
    /// Version 1.
    pub mod v1 {
        tonic::include_proto!("shellglass.v1");
    }
}

/// The contract as an encoded `FileDescriptorSet`, for reflection and JSON.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

/// The version of the wire, as `Capabilities.version` says it: semantic. What is
/// taken away or means something else makes it a new major version, what is added
/// a new minor one.
pub const WIRE_VERSION: &str = "1.0.0";

/// The metadata key in which an error carries what to do next.
pub const HINT_KEY: &str = "shellglass-hint";
