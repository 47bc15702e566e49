//! `filter compress`: output as a model reads it.

use super::pieces;
use crate::error::Failure;
use crate::stdout::{self, Reader};
use clap::Args;
use glass_vt::text::{Budget, Compressor, Progress};
use std::process::ExitCode;

/// Applies carriage returns, backspaces and escape sequences as a terminal
/// would, folds repeated lines, and cuts to the head, the tail and the lines
/// that look like errors. Each notice names the bytes that it stands for.
#[derive(Debug, Args)]
pub(crate) struct Compress {
    /// Print at most so many lines.
    #[arg(long, value_name = "N", default_value_t = Budget::default().lines_max)]
    pub lines: usize,
    /// Print at most so many characters.
    #[arg(long, value_name = "N", default_value_t = Budget::default().chars_max)]
    pub chars: usize,
    /// Print so many lines of the beginning.
    #[arg(long, value_name = "N")]
    pub head: Option<usize>,
    /// Print so many lines of the end.
    #[arg(long, value_name = "N")]
    pub tail: Option<usize>,
    /// Print every state of a progress bar, not only its last.
    #[arg(long)]
    pub progress: bool,
}

/// Filters until the input ends.
pub(super) fn filter(arguments: &Compress) -> Result<ExitCode, Failure> {
    let budget = Budget {
        lines_max: arguments.lines,
        chars_max: arguments.chars,
        head_lines: arguments.head,
        tail_lines: arguments.tail,
        progress: match arguments.progress {
            true => Progress::Shown,
            false => Progress::Compressed,
        },
    };
    let mut compressor = Compressor::new(&budget, 0);
    pieces::each(|piece| {
        compressor.push(piece);
        Ok(Reader::There)
    })?;
    stdout::print(&compressor.finish().text)?;
    Ok(ExitCode::SUCCESS)
}
