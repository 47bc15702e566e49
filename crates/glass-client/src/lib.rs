//! Speaks to a Shellglass daemon.
//!
//! Theory of operation. [`dial`] reaches a daemon's Unix socket, where the kernel
//! says who we are; [`dial_tcp`] its port, where a token does. Both give the
//! contract's own client, with room for floods. [`Shellglass`] is a small typed
//! one above it: it looks at the version of the wire first, runs commands, and
//! follows them; [`Shellglass::calls`] is the way to everything else. [`channel`] is
//! for clients of the services beside it, such as health.
//!
//! Nothing is started here, and no directory or variable is looked up: where the
//! daemon is, is the caller's to say.
#![forbid(unsafe_code)]

mod ended;
mod error;
mod follow;
mod reach;
mod typed;
mod version;
mod whole;

pub use ended::{Ended, Ending};
pub use error::{CallError, DialError, OpenError};
pub use follow::{Following, Piece};
/// The contract's messages.
pub use glass_proto::{agent, shellglass};
pub use reach::{Calls, Pass, channel, dial, dial_tcp};
pub use typed::{Order, Session, SessionOptions, Shellglass};
pub use version::{Version, WIRE_VERSION};
