//! Terminals for clients of the Agent Client Protocol.

use clap::Args;
use std::path::PathBuf;

/// Answers `terminal/create`, `output`, `wait_for_exit`, `kill` and `release`,
/// one JSON-RPC message a line, on standard input and output: what an editor
/// hands on of what its agent asks for. The server is a client of the daemon, in
/// the role of an agent, and starts the daemon if none runs. It ends when its
/// standard input does, and with it what still runs.
#[derive(Debug, Args)]
pub(crate) struct Acp {
    /// What commands may write, and where they begin; where this is started
    /// unless it is given.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
}
