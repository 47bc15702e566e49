//! Shellglass: runs shell commands exactly, and lets people watch.
#![forbid(unsafe_code)]

mod cli;
mod client;
mod commands;
mod complete;
mod config;
mod detach;
mod dirs;
mod environment;
mod error;
mod ink;
mod stdout;
mod when;

use clap::CommandFactory as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    glass_spawn::settle_names();
    // A shell that wants completions says so in the environment.
    clap_complete::CompleteEnv::with_factory(cli::Cli::command)
        .var(complete::VARIABLE)
        .complete();
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(status) => return status,
    };
    ink::choose(cli.color);
    match commands::dispatch(cli) {
        Ok(status) => status,
        Err(failure) => failure.report(),
    }
}
