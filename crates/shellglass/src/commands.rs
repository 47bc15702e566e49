//! One module for each command.

#[cfg(feature = "acp")]
mod acp;
mod approvals;
mod attach;
pub(crate) mod audit;
mod cancel;
mod config;
mod doctor;
pub(crate) mod filter;
mod history;
mod hosts;
mod keeper;
mod lines;
mod mcp;
mod output;
mod page;
mod policy;
mod receipt;
mod relay;
mod run;
mod serve;
mod session;
mod stdin;
mod texts;
mod wait;
mod watch;

use crate::cli::{Cli, Command, Deferred};
use crate::error::{Failure, Kind};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) use session::time;

/// Does what the command line says.
pub(crate) fn dispatch(cli: Cli) -> Result<ExitCode, Failure> {
    match cli.command {
        Command::Serve(Deferred(arguments)) => serve::serve(&arguments),
        Command::Keeper(Deferred(arguments)) => keeper::keep(&arguments),
        Command::Relay(Deferred(arguments)) => relay::carry(arguments),
        Command::Run(Deferred(arguments)) => {
            block_on(run::run(&arguments))?.map_err(Failure::of_run)
        }
        Command::Session(Deferred(command)) => block_on(session::session(command))?,
        Command::Attach(Deferred(arguments)) => block_on(attach::attach(&arguments))?,
        Command::Watch(Deferred(arguments)) => block_on(watch::watch(&arguments))?,
        Command::Hosts(Deferred(arguments)) => block_on(hosts::hosts(&arguments))?,
        Command::Cancel(Deferred(arguments)) => block_on(cancel::cancel(&arguments))?,
        Command::History(Deferred(arguments)) => block_on(history::history(&arguments))?,
        Command::Output(Deferred(arguments)) => block_on(output::output(&arguments))?,
        Command::Stdin(Deferred(arguments)) => block_on(stdin::stdin(&arguments))?,
        Command::Wait(Deferred(arguments)) => block_on(wait::wait(&arguments))?,
        Command::Approvals(Deferred(arguments)) => block_on(approvals::approvals(&arguments))?,
        Command::Policy(Deferred(command)) => policy::policy(&command),
        Command::Audit(Deferred(arguments)) => block_on(audit::audit(&arguments))?,
        Command::Mcp => block_on(mcp::mcp())?,
        #[cfg(feature = "acp")]
        Command::Acp(Deferred(arguments)) => block_on(acp::acp(&arguments))?,
        Command::Page(Deferred(arguments)) => block_on(page::page(&arguments))?,
        Command::Doctor(Deferred(arguments)) => block_on(doctor::doctor(&arguments))?,
        Command::Config(Deferred(command)) => config::config(&command),
        Command::Filter(Deferred(command)) => filter::filter(&command),
        Command::Completions { shell } => texts::completions(shell),
        Command::Man => texts::man(),
    }
}

/// The time, in milliseconds since 1970.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

/// Runs a client's command on this thread alone: one more thread would cost
/// more than most commands take.
fn block_on<F: Future>(future: F) -> Result<F::Output, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| {
        Failure::new(Kind::Broken, format!("no event loop can be made: {error}"))
    })?;
    let output = runtime.block_on(future);
    // A cancel that is still under way must not keep us.
    runtime.shutdown_background();
    Ok(output)
}
