//! Other hosts: what a person types, and what the keeper starts.

use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// The first is where sessions go that do not say; `up` and `down` say whether the
/// daemon is connected to a host. One that it keeps no connection to is reached when
/// it is needed.
#[derive(Debug, Args)]
pub(crate) struct Hosts {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Waits for its word on standard input, and leaves how the command ended in a file.
#[derive(Debug, Args)]
pub(crate) struct Relay {
    /// The number of the execution.
    #[arg(long)]
    pub number: u64,
    /// The session's directory.
    #[arg(long)]
    pub dir: PathBuf,
    /// Where ssh writes what it has to say.
    #[arg(long)]
    pub log: PathBuf,
    /// Whether the command reads what comes over the third descriptor.
    #[arg(long)]
    pub input: bool,
    /// The command's terminal is ours, and so many words are for what is carried.
    #[arg(long)]
    pub terminal: Option<usize>,
    /// ssh and its arguments.
    #[arg(last = true, required = true)]
    pub ssh: Vec<OsString>,
}
