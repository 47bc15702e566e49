//! `serve`: the daemon, in the foreground or in the background.

mod daemon;
mod exposure;
mod inherited;
mod log;
#[cfg(feature = "otlp")]
mod otlp;
mod pid;
mod plan;
mod tokens;

use crate::cli::Serve;
use crate::client::log_file;
use crate::detach;
use crate::error::{Failure, Kind};
use crate::stdout;
use plan::Plan;
use std::fs::OpenOptions;
use std::process::ExitCode;

pub(super) use daemon::{REMEMBERED_FILE, USUAL_ADDRESS};
pub(super) use exposure::{check as check_exposure, of as exposure};
pub(super) use tokens::{look as read_token, token_file};

/// Threads that serve, however many cores there are.
const WORKERS_MAX: usize = 4;

/// Runs the daemon until it is told to stop.
pub(super) fn serve(arguments: &Serve) -> Result<ExitCode, Failure> {
    let plan = Plan::new(arguments)?;
    if arguments.detach {
        let said = detach::start(&plan.arguments(arguments)?, &log_file(&plan.data_dir))?;
        stdout::print(&said)?;
        return Ok(ExitCode::SUCCESS);
    }
    let served = in_this_process(&plan, arguments.detached);
    if let (true, Err(failure)) = (arguments.detached, &served) {
        // Whoever started us reads this and repeats it.
        stdout::print(&format!("{failure}\n"))?;
    }
    served.map(|()| ExitCode::SUCCESS)
}

fn in_this_process(plan: &Plan, is_detached: bool) -> Result<(), Failure> {
    if is_detached {
        // A terminal that closes must not take us along. This fails only for
        // the leader of a session, who has no terminal to lose.
        let _ = rustix::process::setsid();
    }
    log::start(&plan.settings.daemon)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers())
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| {
        Failure::new(Kind::Broken, format!("no event loop can be made: {error}"))
    })?;
    let announce = move |place: &str| announce(place, is_detached);
    runtime.block_on(daemon::run(plan, announce))
}

/// How many threads serve. Handing a task from thread to thread costs more than
/// most tasks do, and shells and clients want the other cores.
fn workers() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (cores / 2).clamp(1, WORKERS_MAX)
}

/// Says the one line that a daemon says when it is ready.
fn announce(places: &str, is_detached: bool) -> Result<(), Failure> {
    stdout::print(&format!("{}listening on {places}\n", detach::READY_PREFIX))?;
    if is_detached {
        let closed = OpenOptions::new()
            .write(true)
            .open("/dev/null")
            .and_then(|null| Ok(rustix::stdio::dup2_stdout(&null)?));
        closed.map_err(|error| {
            Failure::new(
                Kind::Broken,
                format!("standard output cannot be closed: {error}"),
            )
        })?;
    }
    Ok(())
}
