//! The flags of `approvals`.

use clap::{Args, Subcommand, ValueEnum};

/// Without a word of its own, lists what waits. Control characters, and
/// characters that cannot be seen or look like others, are made visible; nothing
/// is left out.
#[derive(Debug, Args)]
pub(crate) struct Approvals {
    /// What to do.
    #[command(subcommand)]
    pub action: Option<ApprovalAction>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// What to do with what waits.
#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalAction {
    /// Show what waits.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Let a command run.
    Approve(Approve),
    /// Do not let a command run.
    Deny(Deny),
}

/// Lets a command run.
#[derive(Debug, Args)]
pub(crate) struct Approve {
    /// Which, as `approvals` shows it.
    #[arg(add = crate::complete::approvals())]
    pub id: String,
    /// For how long: this command alone, commands like it in this session, or
    /// commands like it from now on.
    #[arg(long, value_enum, default_value_t = ScopeName::Once)]
    pub scope: ScopeName,
    /// Why, for the one who asked.
    #[arg(long, default_value = "")]
    pub reason: String,
}

/// Does not let a command run.
#[derive(Debug, Args)]
pub(crate) struct Deny {
    /// Which, as `approvals` shows it.
    #[arg(add = crate::complete::approvals())]
    pub id: String,
    /// Why, for the one who asked.
    #[arg(long, default_value = "")]
    pub reason: String,
}

/// For how long an answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeName {
    /// For this command alone.
    Once,
    /// For commands like it in this session.
    Session,
    /// For commands like it from now on.
    Always,
}
