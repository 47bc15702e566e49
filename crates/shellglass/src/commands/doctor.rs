//! `doctor`: what works on this machine. Every check is tried for real: what
//! changes something, in a daemon of its own that is gone afterwards. The daemon
//! that people use is asked and left as it is; if none runs, none is started.

mod around;
mod check;
mod disk;
mod page;
mod patient;
mod place;
mod rules;
mod scrub;
mod tries;
mod walls;

use super::run::Signals;
use crate::cli::Doctor;
use crate::client::Context;
use crate::error::{Failure, Kind};
use crate::ink::Ink;
use crate::stdout;
use check::{Check, Verdict};
use patient::Patient;
use place::Daemon;
use scrub::Scrub;
use std::process::ExitCode;

/// The groups, in the order in which one thing needs the other.
const GROUPS: [&str; 15] = [
    "program",
    "configuration",
    "directories",
    "disk",
    "daemon",
    "keeper",
    "shells",
    "commands",
    "sandbox parts",
    "sandbox",
    "cgroups",
    "rules",
    "hooks",
    "page",
    "agents",
];

/// Tries everything and says what came of it. Exits with 1 where something that
/// the configuration needs is broken.
pub(super) async fn doctor(arguments: &Doctor) -> Result<ExitCode, Failure> {
    let mut checks = Vec::new();
    place::program(&mut checks);
    match Context::load() {
        Ok(context) => {
            checks.push(configuration(&context));
            place::directories(&context, &mut checks);
            disk::disk(&context, &mut checks);
            rules::rules(&context, &mut checks);
            rules::hooks(&context, &mut checks);
            let daemon = place::daemon(&context, &mut checks).await;
            page::settings(&context, daemon, &mut checks).await;
            examine(&context, daemon, &mut checks).await?;
        }
        Err(failure) => checks.push(Check::failed("configuration", "settings", failure)),
    }
    around::programs(&mut checks);
    let scrub = Scrub::of_this_process();
    let mut checks: Vec<Check> = checks.into_iter().map(|it| scrub.check(it)).collect();
    let place_of = |group| GROUPS.iter().position(|known| *known == group);
    checks.sort_by_key(|check| place_of(check.group).unwrap_or(GROUPS.len()));
    let text = if arguments.json {
        check::as_json(&checks)
    } else {
        check::as_text(&checks, Ink::of(&std::io::stdout()))
    };
    stdout::print(&text)?;
    let broken = checks.iter().any(|check| check.verdict == Verdict::Broken);
    Ok(ExitCode::from(u8::from(broken)))
}

fn configuration(context: &Context) -> Check {
    let file = context.dirs.config_file();
    let detail = if file.exists() {
        "your configuration is valid"
    } else {
        "the built-in settings"
    };
    Check::good("configuration", "settings", detail)
}

async fn examine(
    context: &Context,
    daemon: Daemon,
    checks: &mut Vec<Check>,
) -> Result<(), Failure> {
    let mut signals = Signals::listen()?;
    let mut patient = match Patient::start(context).await {
        Ok(patient) => patient,
        Err(failure) => {
            checks.push(Check::failed("daemon", "starts", failure));
            return Ok(());
        }
    };
    let detail = match daemon {
        Daemon::Absent => "and answers",
        Daemon::Runs => "another one, and answers",
    };
    checks.push(Check::good("daemon", "starts", detail));
    let is_done = tokio::select! {
        () = try_all(context, &mut patient, checks) => true,
        () = signals.next() => false,
    };
    // Nothing of it may stay, also where nobody waits for the report any more.
    patient.stop().await;
    match is_done {
        true => Ok(()),
        false => Err(Failure::new(
            Kind::Cancelled,
            "left before everything was tried",
        )),
    }
}

async fn try_all(context: &Context, patient: &mut Patient, checks: &mut Vec<Check>) {
    tries::shells(patient, checks).await;
    tries::endings(patient, checks).await;
    walls::features(patient, checks).await;
    walls::policies(context, patient, checks).await;
    page::answers(patient, checks).await;
    around::mcp(patient, checks).await;
}
