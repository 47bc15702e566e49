//! Domain types to columns and back. Numbers on the disk are fixed here for
//! ever: a new variant takes a new number, and none is used twice.

pub(crate) mod audit;
pub(crate) mod event;
pub(crate) mod execution;
pub(crate) mod receipt;
pub(crate) mod session;

use glass_model::{AbortReason, ExitDetails, Outcome, Role, SandboxKind, SandboxPolicy};

use crate::codec::{Decoder, Encoder};
use crate::error::{ReadError, WriteError};

/// SQLite's numbers are signed.
pub(crate) fn column(value: u64, what: &'static str) -> Result<i64, WriteError> {
    i64::try_from(value).map_err(|_| WriteError::TooLarge { what })
}

/// A number that we wrote, and that therefore is not negative.
pub(crate) fn natural<T: TryFrom<i64>>(value: i64, what: &'static str) -> Result<T, ReadError> {
    T::try_from(value).map_err(|_| ReadError::Corrupt { what })
}

pub(crate) fn abort_column(abort: Option<AbortReason>) -> Option<i64> {
    abort.map(|reason| match reason {
        AbortReason::User => 1,
        AbortReason::Timeout => 2,
    })
}

pub(crate) fn abort_of(value: Option<i64>) -> Result<Option<AbortReason>, ReadError> {
    match value {
        None => Ok(None),
        Some(1) => Ok(Some(AbortReason::User)),
        Some(2) => Ok(Some(AbortReason::Timeout)),
        Some(_) => Err(ReadError::Corrupt {
            what: "an abort reason",
        }),
    }
}

/// A list of texts, or NULL where it is empty.
pub(crate) fn texts_column(texts: &[String]) -> Option<Vec<u8>> {
    (!texts.is_empty()).then(|| Encoder::default().texts(texts).finish())
}

pub(crate) fn texts_of(blob: Option<&[u8]>) -> Result<Vec<String>, ReadError> {
    let Some(blob) = blob else {
        return Ok(Vec::new());
    };
    Decoder::new(blob)
        .texts()
        .ok_or(ReadError::Corrupt { what: "a list" })
}

pub(crate) fn sandbox_column(policy: &SandboxPolicy) -> Vec<u8> {
    let mut encoder = Encoder::default();
    encoder
        .number(match policy.kind {
            SandboxKind::Unspecified => 0,
            SandboxKind::InsecureNone => 1,
            SandboxKind::WorkspaceReadWrite => 2,
            SandboxKind::WorkspaceReadOnly => 3,
        })
        .optional_flag(policy.network_access)
        .texts(&policy.readwrite_paths)
        .texts(&policy.readonly_paths)
        .optional_text(policy.debug_output_dir.as_deref())
        .optional_flag(policy.block_git_writes)
        .optional_flag(policy.disable_tmp_write)
        .optional_text(policy.ignore_mapping_json.as_deref())
        .finish()
}

pub(crate) fn sandbox_of(blob: &[u8]) -> Result<SandboxPolicy, ReadError> {
    decode_sandbox(blob).ok_or(ReadError::Corrupt {
        what: "a sandbox policy",
    })
}

fn decode_sandbox(blob: &[u8]) -> Option<SandboxPolicy> {
    let mut decoder = Decoder::new(blob);
    let policy = SandboxPolicy {
        kind: match decoder.number()? {
            0 => SandboxKind::Unspecified,
            1 => SandboxKind::InsecureNone,
            2 => SandboxKind::WorkspaceReadWrite,
            3 => SandboxKind::WorkspaceReadOnly,
            _ => return None,
        },
        network_access: decoder.optional_flag()?,
        readwrite_paths: decoder.texts()?,
        readonly_paths: decoder.texts()?,
        debug_output_dir: decoder.optional_text()?,
        block_git_writes: decoder.optional_flag()?,
        disable_tmp_write: decoder.optional_flag()?,
        ignore_mapping_json: decoder.optional_text()?,
    };
    decoder.finish()?;
    Some(policy)
}

pub(crate) fn role_column(role: Role) -> i64 {
    match role {
        Role::Agent => 0,
        Role::Person => 1,
    }
}

pub(crate) fn role_of(value: i64) -> Result<Role, ReadError> {
    match value {
        0 => Ok(Role::Agent),
        1 => Ok(Role::Person),
        _ => Err(ReadError::Corrupt { what: "a role" }),
    }
}

/// Stands beside the reason of an abort where a reason of a rejection follows.
const IS_REJECTED: u64 = 8;

/// The same where a receipt follows.
const HAS_RECEIPT: u64 = 16;

/// The same where a terminal was wanted.
const WANTS_TERMINAL: u64 = 32;

/// An outcome inside of an event's payload.
pub(crate) fn encode_outcome(encoder: &mut Encoder, outcome: &Outcome) {
    let abort = abort_column(outcome.abort).unwrap_or(0).cast_unsigned();
    let rejected = outcome.rejected.as_deref();
    encoder
        .optional_code(outcome.code)
        .number(
            abort
                | rejected.map_or(0, |_| IS_REJECTED)
                | outcome.receipt.as_ref().map_or(0, |_| HAS_RECEIPT)
                | (u64::from(outcome.details.wants_terminal) * WANTS_TERMINAL),
        )
        .optional_code(outcome.details.signal)
        .flag(outcome.details.out_of_memory)
        .flag(outcome.details.shell_replaced)
        .texts(&outcome.details.sandbox_denials)
        .optional_text(outcome.spawn_error.as_deref());
    if let Some(why) = rejected {
        encoder.text(why);
    }
    if let Some(receipt) = &outcome.receipt {
        receipt::encode(encoder, receipt);
    }
}

pub(crate) fn decode_outcome(decoder: &mut Decoder<'_>) -> Option<Outcome> {
    let code = decoder.optional_code()?;
    let flags = decoder.number()?;
    let abort = match flags & !(IS_REJECTED | HAS_RECEIPT | WANTS_TERMINAL) {
        0 => None,
        value => abort_of(Some(value.cast_signed())).ok()?,
    };
    let details = ExitDetails {
        signal: decoder.optional_code()?,
        out_of_memory: decoder.flag()?,
        shell_replaced: decoder.flag()?,
        sandbox_denials: decoder.texts()?,
        wants_terminal: flags & WANTS_TERMINAL != 0,
    };
    Some(Outcome {
        code,
        abort,
        details,
        spawn_error: decoder.optional_text()?,
        rejected: match flags & IS_REJECTED {
            0 => None,
            _ => Some(decoder.text()?),
        },
        receipt: match flags & HAS_RECEIPT {
            0 => None,
            _ => Some(Box::new(receipt::decode(decoder)?)),
        },
    })
}
