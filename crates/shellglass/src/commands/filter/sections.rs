//! `filter sections`: the events of agents' programs as text to read.

use super::pieces;
use crate::error::Failure;
use crate::stdout::{self, Reader};
use clap::{Args, ValueEnum};
use glass_adapt::Tool;
use std::process::ExitCode;

/// Reads what `codex exec --json` or `claude -p --output-format stream-json
/// --verbose` prints. A line that is no known event passes as it is.
#[derive(Debug, Args)]
pub(crate) struct Sections {
    /// Whose events they are; found out for each line, if not given.
    #[arg(long)]
    pub tool: Option<ToolName>,
}

/// A program whose events are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolName {
    /// `codex exec --json`.
    Codex,
    /// `claude -p --output-format stream-json`.
    Claude,
}

/// Filters until the input ends.
pub(super) fn filter(arguments: &Sections) -> Result<ExitCode, Failure> {
    let tool = arguments.tool.map(|name| match name {
        ToolName::Codex => Tool::Codex,
        ToolName::Claude => Tool::Claude,
    });
    let mut sections = glass_adapt::Sections::new(tool);
    let mut out = Vec::new();
    pieces::each(|piece| {
        out.clear();
        sections.push(piece, &mut out);
        match out.is_empty() {
            true => Ok(Reader::There),
            false => stdout::write(&out),
        }
    })?;
    out.clear();
    sections.finish(&mut out);
    stdout::write(&out)?;
    Ok(ExitCode::SUCCESS)
}
