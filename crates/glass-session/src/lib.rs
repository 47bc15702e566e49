//! Runs sessions, from an accepted command to its last event.
//!
//! Theory of operation. A *session* is one task (`actor`) around one pure
//! function (`state`). It has a warm *shell* whose command boundaries travel
//! over sockets (`shell`, `driver`), or a new shell for every command; the
//! processes belong to the keeper and outlive us. What a command writes goes
//! from its pipe to a file in one system call (`recording`), is named by events
//! in the journal, and only then reaches readers (`feed`). After a crash the
//! next daemon reads the journal, takes the descriptors back from the keeper
//! (`actor::adopt`), and goes on.
#![forbid(unsafe_code)]

mod actor;
mod context;
pub mod driver;
mod engine;
mod errors;
mod failpoint;
mod feed;
mod figures;
mod gate;
mod habits;
mod hosts;
mod keys;
mod look;
mod pipes;
mod pty;
mod random;
mod reader;
mod ready;
mod recording;
mod redaction;
mod remote;
mod repositories;
mod room;
mod routes;
mod sandbox;
mod shell;
mod shells;
mod stands;
mod state;
mod tag;
mod text;
mod thrift;
mod view;

pub(crate) use context::Context;

pub use actor::{Finished, OutputEnd};
pub use context::Settings;
pub use engine::Wording;
pub use engine::{
    Adapting, AuditError, Background, Before, Caller, Engine, Gathered, Held, Hit, Late, Level,
    Name, OrderSpec, Origin, OutputFile, OutputPage, ProcessView, Projection, SearchError,
    SearchSpec, Searched, SessionSpec, SessionView, Spot, TERM, Target, Ticket, Timeouts, Totals,
    WaitSpec, Waited,
};
pub use engine::{HostState, HostView};
pub use errors::{
    AnswerError, CreateError, EngineError, ExecuteError, LookupError, NoHost, NoWalls, StdinError,
    WaitError,
};
pub use feed::Follower;
pub use figures::{Family, Value};
pub use gate::{CannotRemember, CheckSpec, Checked, Checking, Gatekeeping, Scrutiny, check};
/// What makes events of known tools readable.
pub use glass_adapt::Sections;
/// Who does not descend from the keeper; here so that whoever listens needs no
/// process tables of its own.
pub use glass_spawn::tree::Outsiders;
pub use glass_store::{AuditFilter, AuditPage, WriteError};
/// How a console looks, and what stands before its line.
pub use glass_vt::console::{
    Manner as ConsoleManner, TEMPLATE_BYTES_MAX as PROMPT_BYTES_MAX,
    TEMPLATE_DEFAULT as PROMPT_DEFAULT, Wish as ConsoleWish,
};
pub use habits::{DELAY_MS_MAX, HabitWish, Habits, INTEGRATION_MS_MAX};
pub use hosts::{AgentUse, Host, Hosts};
pub use keys::{Key, first_key};
pub use look::reftable::{Head as TableHead, head as table_head};
pub use random::hex_128 as random_token;
pub use reader::{Reader, Told, tell};
pub use redaction::{Redaction, Secrets, Veil};
pub use sandbox::Sandboxing;
pub use shells::NoShell;
pub use text::incomplete_suffix;
pub use view::{
    ANNOUNCED_BYTES_MAX, Access, AttachError, Clipboard, Shown, ViewKind, ViewReader, ViewSpec,
    ViewWriter,
};
