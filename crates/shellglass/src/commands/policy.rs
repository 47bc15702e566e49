//! `policy check`, `policy test` and `policy replay`. Nothing is run, and only a
//! replay needs the daemon.

mod replay;

use super::run::directory;
use super::serve::REMEMBERED_FILE;
use crate::cli::{Policy, PolicyCheck};
use crate::client::{Context, data_dir};
use crate::error::{Failure, Kind};
use crate::stdout;
use glass_model::{CommandReading, Decision, Role};
use glass_policy::{Layer, RuleFile, RulesError, failures, text};
use glass_session::{CheckSpec, Checked, Checking};
use std::path::Path;
use std::process::ExitCode;

/// Answers what was asked.
pub(super) fn policy(command: &Policy) -> Result<ExitCode, Failure> {
    match command {
        Policy::Check(arguments) => check(arguments),
        Policy::Test { file } => test(file),
        Policy::Replay(arguments) => super::block_on(replay::replay(arguments))?,
    }
}

/// The decision is the answer and not our success, so every decision exits
/// with 0.
fn check(arguments: &PolicyCheck) -> Result<ExitCode, Failure> {
    let Checked { reading, decision } = checked(arguments)?;
    if arguments.json {
        let answer = glass_proto::check_command(&reading, &decision);
        stdout::print_json(&glass_proto::json::value(&answer))?;
    } else {
        stdout::print(&explained(&reading, &decision))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What the daemon's gate would say, asked without a daemon.
fn checked(arguments: &PolicyCheck) -> Result<Checked, Failure> {
    let context = Context::load()?;
    let settings = &context.loaded.settings;
    let remembered = data_dir(&context.dirs, settings).join(REMEMBERED_FILE);
    let mut gatekeeping = settings
        .policy
        .gatekeeping(&settings.approvals, remembered)?;
    if let Some(path) = &arguments.rules {
        let file = RuleFile::parse(&read(path)?).map_err(|error| unusable(path, &error))?;
        gatekeeping.rules = gatekeeping.rules.with(Layer::User, file);
    }
    let spec = CheckSpec {
        command: arguments.command.clone(),
        shell: arguments.shell.clone(),
        cwd: directory(arguments.cwd.as_deref())?,
        role: match arguments.person {
            true => Role::Person,
            false => Role::Agent,
        },
    };
    // A tool that does not exist is the daemon's to complain about.
    let adapting = settings.adapters.adapting().ok().flatten();
    let with = Checking {
        gatekeeping: &gatekeeping,
        sandbox: &settings.sandbox.settings(std::env::home_dir()),
        adapting: adapting.as_ref(),
    };
    Ok(glass_session::check(&spec, with))
}

fn explained(reading: &CommandReading, decision: &Decision) -> String {
    let mut page = format!("{}\n", decision.verdict.name());
    for reason in glass_proto::reasons(decision) {
        page.push_str(&format!("  {}\n", text::visible(&reason)));
    }
    let commands = &reading.simple_commands;
    if !commands.is_empty() {
        page.push_str("runs\n");
    }
    for simple in commands {
        page.push_str(&format!("  {}\n", text::visible(simple)));
    }
    page
}

fn test(path: &Path) -> Result<ExitCode, Failure> {
    let file = RuleFile::parse_unchecked(&read(path)?).map_err(|error| unusable(path, &error))?;
    let wrong = failures(&file);
    for failure in &wrong {
        stdout::print(&format!("{}\n", text::visible(&failure.to_string())))?;
    }
    let examples = file.rules.iter();
    let examples: usize = examples
        .map(|rule| rule.matches.len() + rule.not_matches.len())
        .sum();
    let counted = format!("{} rules, {examples} examples", file.rules.len());
    match wrong.len() {
        0 => {
            stdout::print(&format!("{counted}, all as they should be\n"))?;
            Ok(ExitCode::SUCCESS)
        }
        wrong => Err(Failure::new(
            Kind::Failed,
            format!("{counted}, {wrong} not as they should be"),
        )
        .hint("`shellglass policy check --rules FILE COMMAND` explains one of them")),
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| {
        let message = format!("the rules in {} cannot be read: {error}", path.display());
        Failure::new(Kind::Failed, message).hint("give the path of a TOML file")
    })
}

fn unusable(path: &Path, error: &RulesError) -> Failure {
    let message = format!("{}: {error}", path.display());
    Failure::new(Kind::Failed, message).hint(
        "`shellglass policy test FILE` checks a file; docs/policy.md says how rules are written",
    )
}
