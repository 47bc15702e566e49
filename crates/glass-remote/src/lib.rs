//! Carries commands to other hosts through the system's `ssh`.
//!
//! Theory of operation. Beside every command on another host stands a *relay*, a
//! child of the keeper that outlives the daemon. It starts `ssh`, waits until a
//! shell there answers, and only then sends the command: so what never answered
//! never ran. The outputs come back as they are, over the two streams of the
//! connection. What the other side has to *say* (that it is there, how the command
//! ended, what it exports) stands between them in words that begin with a secret,
//! which the command does not know (`sieve`). How it ended is left in a file
//! (`end`), and without that file nothing is known.
#![forbid(unsafe_code)]

mod address;
mod end;
mod relay;
mod sieve;
mod ssh;

pub use address::{Address, BadAddress};
pub use end::{End, end_name};
pub use relay::{
    CANCEL, DIRECTORY, GO, INPUT_FD, INTERRUPT, NO_SHELL, RelayError, RelayOrder, STOP_MS_MAX,
    relay,
};
pub use sieve::{Piece, Sieve, WORD_BYTES_MAX, Word};
pub use ssh::{Ssh, is_for_ssh};
