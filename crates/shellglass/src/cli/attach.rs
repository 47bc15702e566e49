//! The command line of `attach`.

use clap::Args;

/// Shows a session from its history on. Ctrl+] leaves; Ctrl+C cancels what
/// runs. The session goes on when you leave.
#[derive(Debug, Args)]
pub(crate) struct Attach {
    /// The session's id.
    pub id: String,
    /// Hand over the keyboard: what you type goes to the session's terminal.
    #[arg(long)]
    pub write: bool,
}
