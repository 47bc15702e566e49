//! Words for commands that run in the background.

use clap::Args;
use std::path::PathBuf;

/// Writes the text as it is: a line ends with the newline that you give it.
/// There is no terminal, so Ctrl+C (U+0003) interrupts the command, and Ctrl+D
/// (U+0004) ends its standard input.
#[derive(Debug, Args)]
pub(crate) struct Stdin {
    /// The execution's number.
    #[arg(add = crate::complete::executions(), value_parser = super::execution_number)]
    pub shell_id: u32,
    /// What to write.
    #[arg(
        allow_hyphen_values = true,
        default_value = "",
        hide_default_value = true
    )]
    pub text: String,
    /// Write a newline after it.
    #[arg(long)]
    pub enter: bool,
    /// End the command's standard input after it.
    #[arg(long)]
    pub end: bool,
}

/// Returns at the first of them and says which; without any, at the end. Exits
/// with 124 where none comes in time, and with 1 where the execution ended and
/// that was not asked for.
#[derive(Debug, Args)]
pub(crate) struct Wait {
    /// The execution's number.
    #[arg(add = crate::complete::executions(), value_parser = super::execution_number)]
    pub shell_id: u32,
    /// The execution ends.
    #[arg(long)]
    pub exit: bool,
    /// Its output matches this regular expression.
    #[arg(long, value_name = "RE", default_value = "", hide_default_value = true)]
    pub pattern: String,
    /// Look for the pattern from this byte of the output on; after what was read
    /// last, if not given.
    #[arg(long, value_name = "N")]
    pub offset: Option<u64>,
    /// A process of it listens on this TCP port.
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// This path is there.
    #[arg(long, value_name = "PATH")]
    pub file: Option<PathBuf>,
    /// It writes nothing for so many milliseconds.
    #[arg(
        long,
        value_name = "MS",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub quiet: u32,
    /// Wait at most so many seconds; 600, if not given.
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds)]
    pub timeout: Option<f64>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
