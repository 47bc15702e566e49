//! The vocabulary of Shellglass: ids, sessions, executions, events, plans and
//! limits. Plain data; nothing here touches a file, a clock, a process or the
//! environment, and nothing here knows how it is stored or sent.
#![forbid(unsafe_code)]

mod approval;
mod audit;
mod event;
mod execution;
mod id;
mod limits;
mod plan;
mod platform;
mod policy;
mod receipt;
mod sandbox;
mod session;
mod signal;
mod walls;

pub use approval::{Answer, Approval, ApprovalId, ApprovalScope};
pub use audit::{
    AUDIT_HASH_BYTES, AuditBreak, AuditCheck, AuditEntry, AuditHash, AuditHashError, AuditKind,
    AuditRecord,
};
pub use event::{Dropped, Event, EventBody, Stream};
pub use execution::{AbortReason, Execution, ExitDetails, Outcome, Phase, call_scope};
pub use id::{EventIndex, IdError, LaunchId, SessionId, ShellId};
pub use limits::Limits;
pub use plan::{LaunchPlan, WaitStatus};
pub use platform::{LineEnd, Platform, Posix, Typed, Windows};
pub use policy::{
    Argument, ArgumentKind, CommandReading, Decision, ExecutableCommand, Reason, Verdict,
};
pub use receipt::{LeftProcess, Peak, Receipt, Usage};
pub use sandbox::{SandboxKind, SandboxPolicy};
pub use session::{LOCAL_HOST, Mode, Role, Session, Shell, ShellKind, Startup, Stdin};
pub use signal::{core_dump_possible, signal_name, signal_of_exit_code};
pub use walls::{FileId, Mount, Resources, View, WallBuild, Walls, makes_repository};
