//! The command line of `attach`.

use clap::Args;

/// Shows a session from its history on. Ctrl+] leaves; Ctrl+C cancels what
/// runs. The session goes on when you leave.
#[derive(Debug, Args)]
pub(crate) struct Attach {
    /// The session's id.
    #[arg(add = crate::complete::sessions())]
    pub id: String,
    /// Hand over the keyboard: the terminal of a session that is one, and else
    /// its console, where each line is a command and `exit` leaves.
    #[arg(long)]
    pub write: bool,
    /// Leave the last row to the session, and say nothing of it there.
    #[arg(long)]
    pub no_status: bool,
}

/// Shows all living sessions with what runs in each, and what waits for a
/// person. Enter opens one, c cancels what runs there, a approves and r refuses
/// what waits, q quits. Where there is no terminal it is printed once.
#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// Print it once, as text.
    #[arg(long)]
    pub once: bool,
}

/// The modes that a session can be made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SessionModeName {
    /// A warm shell, and a new one for each command where none can be kept.
    Auto,
    /// A new shell for every command.
    Line,
    /// One warm shell.
    Pipe,
    /// An interactive shell on a terminal of its own.
    Pty,
}
