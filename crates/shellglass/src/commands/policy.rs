//! `policy check`, `policy test` and `policy replay`. Nothing is run, and only a
//! replay needs the daemon.

mod replay;

use crate::cli::{Policy, PolicyCheck};
use crate::client::Context;
use crate::error::{Failure, Kind};
use crate::stdout;
use glass_model::{Decision, ShellKind};
use glass_policy::{Command, Layer, RuleFile, RulesError, decide, failures, text};
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
    let context = Context::load()?;
    let mut rules = context.loaded.settings.policy.rules()?;
    if let Some(path) = &arguments.rules {
        let file = RuleFile::parse(&read(path)?).map_err(|error| unusable(path, &error))?;
        rules = rules.with(Layer::User, file);
    }
    let name = arguments.shell.rsplit('/').next().unwrap_or_default();
    let command = Command::parse(&arguments.command, ShellKind::of_program(name));
    let decision = decide(&command, &rules);
    if arguments.json {
        let answer = glass_proto::check_command(&command.reading(), &decision);
        stdout::print_json(&glass_proto::json::value(&answer))?;
    } else {
        stdout::print(&explained(&command, &decision))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn explained(command: &Command, decision: &Decision) -> String {
    let mut page = format!("{}\n", decision.verdict.name());
    for reason in glass_proto::reasons(decision) {
        page.push_str(&format!("  {}\n", text::visible(&reason)));
    }
    let commands = command.reading().simple_commands;
    if !commands.is_empty() {
        page.push_str("runs\n");
    }
    for simple in commands {
        page.push_str(&format!("  {}\n", text::visible(&simple)));
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
