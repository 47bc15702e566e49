//! Shells, engines, bytes and signals.

use super::check::{Check, Verdict};
use super::patient::Patient;
use crate::error::Failure;
use glass_proto::agent::v1::shell_result::Result as Kind;
use glass_proto::agent::v1::{SandboxPolicy, ShellResult, sandbox_policy};
use glass_proto::shellglass::v1::{Empty, SessionMode};

/// What a shell has to print: a colour and a byte that no text has.
const EXPECTED: &str = "\u{1b}[1mshellglass\u{1b}[0m";

/// What makes it print that, in every shell.
const PRINT: &str = r"printf '\033[1mshellglass\033[0m'";

/// The shells that are worth having.
const SHELLS: [&str; 4] = ["bash", "zsh", "fish", "sh"];

/// Those that tell us of the commands that are typed in a terminal.
const INTEGRATED: [&str; 3] = ["bash", "zsh", "fish"];

/// What must come back from a terminal: a line end as terminals have it.
const TERMINAL_EXPECTED: &str = "shellglass\r\n";

/// What prints that where standard output is a terminal, and fails elsewhere.
const TERMINAL_PRINT: &str = "echo shellglass; test -t 1";

/// Tries every shell that was found, warm and one for each command.
pub(super) async fn shells(patient: &mut Patient, checks: &mut Vec<Check>) {
    let found = match patient.client.get_capabilities(Empty {}).await {
        Ok(answer) => answer.into_inner().shells,
        Err(status) => return checks.push(Check::failed("shells", "found", status.into())),
    };
    let shell = &patient.settings.session.shell;
    if shell.contains('/') || !shell.is_empty() && !SHELLS.contains(&shell.as_str()) {
        let shell = shell.clone();
        let result = patient
            .run(&shell, SessionMode::Auto, none(), "exit 42")
            .await;
        let name = "session.shell";
        checks.push(judge("shells", name, result, |it| code(it) == Some(42)));
    }
    for name in SHELLS {
        let path = found
            .iter()
            .find(|path| path.rsplit('/').next() == Some(name));
        let Some(path) = path else {
            let fix = format!("install {name}, if you want to use it");
            let verdict = match patient.settings.session.shell == name {
                true => Verdict::Broken,
                false => Verdict::Missing,
            };
            checks.push(Check::bad("shells", name, verdict, "not found", &fix));
            continue;
        };
        for (mode, what) in [(SessionMode::Pipe, "warm"), (SessionMode::Line, "line")] {
            let result = patient.run(path, mode, none(), PRINT).await;
            let name = format!("{name} ({what})");
            checks.push(judge("shells", name, result, |result| {
                printed(result) == Some(EXPECTED)
            }));
        }
        if INTEGRATED.contains(&name) {
            checks.push(terminal(patient, name, path).await);
        }
    }
}

/// Tries a shell on a terminal: whether it takes a command at its prompt and
/// says how it ended, and what becomes of line ends.
async fn terminal(patient: &mut Patient, name: &str, path: &str) -> Check {
    let mode = SessionMode::Pty;
    let result = patient.run(path, mode, none(), TERMINAL_PRINT).await;
    let name = format!("{name} (terminal, integration, line ends)");
    judge("shells", name, result, |result| {
        printed(result).is_some_and(|out| out.ends_with(TERMINAL_EXPECTED))
    })
}

/// Tries how commands end: by their code, by a signal, by a deadline.
pub(super) async fn endings(patient: &mut Patient, checks: &mut Vec<Check>) {
    for (name, command, expected) in [
        ("exit codes", "exit 42", 42),
        ("signals", "kill -TERM $$", 143),
    ] {
        let result = patient.run("", SessionMode::Line, none(), command).await;
        checks.push(judge("commands", name, result, |result| {
            code(result) == Some(expected)
        }));
    }
}

/// No walls.
pub(super) fn none() -> SandboxPolicy {
    SandboxPolicy {
        r#type: sandbox_policy::Type::InsecureNone.into(),
        ..SandboxPolicy::default()
    }
}

/// What a try came to.
pub(super) fn judge(
    group: &'static str,
    name: impl Into<String>,
    result: Result<ShellResult, Failure>,
    is_right: impl Fn(&ShellResult) -> bool,
) -> Check {
    let name = name.into();
    match result {
        Ok(result) if is_right(&result) => Check::good(group, name, "works"),
        Ok(result) => {
            let seen = said(&result);
            let fix = "please report this, with the whole of what doctor says";
            Check::bad(group, name, Verdict::Broken, seen, fix)
        }
        Err(failure) => Check::failed(group, &name, failure),
    }
}

pub(super) fn printed(result: &ShellResult) -> Option<&str> {
    match &result.result {
        Some(Kind::Success(success)) => Some(&success.stdout),
        _ => None,
    }
}

pub(super) fn code(result: &ShellResult) -> Option<i32> {
    match &result.result {
        Some(Kind::Success(_)) => Some(0),
        Some(Kind::Failure(failure)) if !failure.exit_code_unknown => Some(failure.exit_code),
        _ => None,
    }
}

/// What a result says, in one line.
fn said(result: &ShellResult) -> String {
    match &result.result {
        Some(Kind::Success(success)) => format!("it printed {:?}", success.stdout),
        Some(Kind::Failure(failure)) => {
            format!(
                "it exited with {}: {}",
                failure.exit_code,
                failure.stderr.trim()
            )
        }
        Some(Kind::SpawnError(error)) => error.error.clone(),
        Some(Kind::PermissionDenied(denied)) => denied.error.clone(),
        Some(Kind::Timeout(_)) => "it took too long".to_owned(),
        _ => "it did not run".to_owned(),
    }
}
