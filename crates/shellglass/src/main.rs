//! Shellglass: runs shell commands exactly, and lets people watch.
#![forbid(unsafe_code)]

mod cli;
mod client;
mod commands;
mod config;
mod detach;
mod dirs;
mod environment;
mod error;
mod ink;
mod stdout;
mod when;

use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    ink::choose(cli.color);
    match commands::dispatch(cli) {
        Ok(status) => status,
        Err(failure) => failure.report(),
    }
}
