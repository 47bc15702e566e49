//! Terminals for clients of the Agent Client Protocol.

use clap::Args;
use std::path::PathBuf;

/// Where the commands of a client run.
#[derive(Debug, Args)]
pub(crate) struct Acp {
    /// What commands may write, and where they begin; where this is started
    /// unless it is given.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
}
