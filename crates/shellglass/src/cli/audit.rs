//! The arguments of `audit` and of `policy replay`.

use crate::commands::audit::noted;
use crate::when::When;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Who asked, what was decided and by whom, what ran: the oldest first.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Audit {
    /// Something else than to print entries.
    #[command(subcommand)]
    pub command: Option<AuditCommand>,
    /// Print one JSON object for each entry, one to a line.
    #[arg(long)]
    pub json: bool,
    /// Only what happened since: 2h, 3d, or a date such as 2026-11-15.
    #[arg(long, value_name = "WHEN", value_parser = When::parse)]
    pub since: Option<When>,
    /// Only what happened in this session.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only the newest N.
    #[arg(short = 'n', long = "newest", value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub newest: Option<u32>,
}

/// What to do with the audit.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Say whether the entries are as they were written.
    Verify(AuditVerify),
}

/// Prints how many entries there are, and the head: the number and the hash of
/// the last one. Exits with 1 where one was changed, removed, added or moved.
#[derive(Debug, Args)]
pub(crate) struct AuditVerify {
    /// Also say whether this head, printed earlier, is still part of it.
    #[arg(long, value_name = "NUMBER:HASH", value_parser = noted)]
    pub noted: Option<(u64, String)>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Decides anew about every command that is in the journal, and prints those
/// about which the answer would be another one. Runs none of them.
#[derive(Debug, Args)]
pub(crate) struct PolicyReplay {
    /// Only what was asked for since: 2h, 3d, or a date such as 2026-11-15.
    #[arg(long, value_name = "WHEN", value_parser = When::parse)]
    pub since: Option<When>,
    /// Use these rules beside the built-in ones.
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
