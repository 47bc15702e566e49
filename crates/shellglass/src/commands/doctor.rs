//! `doctor`: what works on this machine. Every check is tried for real, in a
//! daemon of its own that is gone afterwards.

mod check;
mod patient;
mod tries;
mod walls;

use crate::cli::Doctor;
use crate::client::Context;
use crate::error::Failure;
use crate::stdout;
use check::{Check, Verdict};
use patient::Patient;
use std::process::ExitCode;

/// Tries everything and says what came of it. Exits with 1 where something that
/// the configuration needs is broken.
pub(super) async fn doctor(arguments: &Doctor) -> Result<ExitCode, Failure> {
    let mut checks = vec![Check::good("system", "kernel", kernel())];
    match Context::load() {
        Ok(context) => {
            checks.push(configuration(&context));
            examine(&context, &mut checks).await;
        }
        Err(failure) => checks.push(Check::failed("configuration", "settings", failure)),
    }
    let text = if arguments.json {
        check::as_json(&checks)
    } else {
        check::as_text(&checks)
    };
    stdout::print(&text)?;
    let broken = checks.iter().any(|check| check.verdict == Verdict::Broken);
    Ok(ExitCode::from(u8::from(broken)))
}

fn kernel() -> String {
    let about = rustix::system::uname();
    let text = |name: &std::ffi::CStr| name.to_string_lossy().into_owned();
    format!(
        "{} {} {}",
        text(about.sysname()),
        text(about.release()),
        text(about.machine())
    )
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

async fn examine(context: &Context, checks: &mut Vec<Check>) {
    let mut patient = match Patient::start(context).await {
        Ok(patient) => patient,
        Err(failure) => return checks.push(Check::failed("daemon", "starts", failure)),
    };
    checks.push(Check::good("daemon", "starts", "and answers"));
    tries::shells(&mut patient, checks).await;
    tries::endings(&mut patient, checks).await;
    walls::features(&patient, checks).await;
    walls::policies(context, &mut patient, checks).await;
    patient.stop().await;
}
