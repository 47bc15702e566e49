//! What the configuration says beyond values: rules, redaction, adapters, hooks.

use super::check::{Check, Verdict};
use crate::client::{self, Context, project_file};
use crate::commands::serve::REMEMBERED_FILE;
use crate::config::FailureName;
use glass_policy::RuleFile;
use glass_redact::{Detector, Known, Redactor};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// What must not be seen again behind the redactor: a key of nobody's.
const SECRET: &str = "AKIAQ4ZT7X2PLM9KD3WV";

/// Loads what the daemon would load, and tries it.
pub(super) fn rules(context: &Context, checks: &mut Vec<Check>) {
    let settings = &context.loaded.settings;
    checks.push(match settings.policy.rules() {
        Ok(_) => {
            let detail = format!(
                "the built-in ones and {} of yours",
                settings.policy.rule.len()
            );
            Check::good("rules", "policy", detail)
        }
        Err(failure) => Check::failed("rules", "policy", failure),
    });
    let data = client::data_dir(&context.dirs, settings);
    checks.extend(rule_file(
        "remembered answers",
        &data.join(REMEMBERED_FILE),
        ALLOWED,
    ));
    if let Some(path) = project_file().filter(|path| path.is_file()) {
        checks.extend(project(&path));
    }
    checks.push(redaction(context));
    checks.push(match settings.adapters.adapting() {
        Ok(Some(_)) => Check::good("rules", "adapters", "known tools answer without a terminal"),
        Ok(None) => Check::good("rules", "adapters", "switched off"),
        Err(name) => {
            let known = format!("there are {}", glass_adapt::names().join(", "));
            let detail = format!("[adapters] off: there is no tool '{}'", name.escape_debug());
            Check::broken("rules", "adapters", detail, &known)
        }
    });
}

/// How a file that the daemon writes may be mended.
const ALLOWED: &str = "mend it or move it away; until then nothing is remembered";

fn rule_file(name: &str, path: &Path, fix: &str) -> Option<Check> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => return Some(Check::warning("rules", name, error.to_string(), fix)),
    };
    Some(match RuleFile::parse_unchecked(&text) {
        Ok(file) => Check::good("rules", name, format!("{} of them", file.rules.len())),
        Err(error) => Check::warning("rules", name, error.to_string(), fix),
    })
}

/// The project's file was read with the configuration; its rules are looked at
/// when a command comes, and here.
fn project(path: &Path) -> Option<Check> {
    let text = std::fs::read_to_string(path).ok()?;
    let table: toml::Table = text.parse().ok()?;
    let policy = table.get("policy")?.clone();
    let text = toml::to_string(&policy).ok()?;
    Some(match RuleFile::parse(&text) {
        Ok(_) => Check::good("rules", "the project's policy", "can be used"),
        Err(error) => Check::broken(
            "rules",
            "the project's policy",
            error.to_string(),
            "`shellglass policy test` shows what is wrong; until then its commands are refused",
        ),
    })
}

fn redaction(context: &Context) -> Check {
    let settings = &context.loaded.settings.redaction;
    if !settings.enabled {
        let fix = "set `redaction.enabled = true`, unless you want secrets to be shown";
        return Check::warning("rules", "redaction", "switched off", fix);
    }
    let rules = match settings.rules(Vec::new()) {
        Ok(rules) => rules,
        Err(error) => {
            let fix = "`shellglass filter redact` tries the rules without a daemon";
            return Check::broken("rules", "redaction", error.to_string(), fix);
        }
    };
    let detector = Arc::new(Detector::new(rules, &Known::new()));
    let text = format!("key = {SECRET}\n");
    let shown = Redactor::redact_all(&detector, text.as_bytes());
    let is_seen = shown
        .windows(SECRET.len())
        .any(|it| it == SECRET.as_bytes());
    match is_seen {
        false => Check::good("rules", "redaction", "takes a key out of a text"),
        true => Check::warning(
            "rules",
            "redaction",
            "the shape of a well-known key is not taken out",
            "see `redaction.off`: it names built-in rules that are not used",
        ),
    }
}

/// Hooks are programs of the user's, and what they do stays: so they are looked
/// at by the shell that would run them, and not run.
pub(super) fn hooks(context: &Context, checks: &mut Vec<Check>) {
    let settings = &context.loaded.settings.hooks;
    if settings.before.is_empty() && settings.after.is_empty() {
        return checks.push(Check::good("hooks", "configured", "none"));
    }
    let kinds = [("before", &settings.before), ("after", &settings.after)];
    for (kind, hooks) in kinds {
        for (number, hook) in hooks.iter().enumerate() {
            let verdict = match hook.failure {
                FailureName::Closed => Verdict::Broken,
                FailureName::Open => Verdict::Warning,
            };
            let name = format!("{kind} {}", number + 1);
            checks.push(match problem(&hook.command) {
                None => Check::good("hooks", name, "its line is read and its program found"),
                Some(detail) => {
                    let fix = match verdict {
                        Verdict::Broken => "mend it: until then it refuses every command",
                        _ => "mend it: until then it is passed over",
                    };
                    Check::bad("hooks", name, verdict, detail, fix)
                }
            });
        }
    }
}

/// What keeps a hook from running, as far as can be told without running it.
fn problem(line: &str) -> Option<String> {
    if !sh(&["-n", "-c", line]) {
        return Some("`sh` does not understand its line".to_owned());
    }
    let word = line.split_whitespace().next()?;
    // Anything else than a plain word is the shell's to make sense of.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+~".contains(c);
    if !word.chars().all(is_plain) {
        return None;
    }
    let word = match (word.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned(),
        _ => word.to_owned(),
    };
    let is_found = sh(&["-c", "command -v -- \"$1\"", "sh", &word]);
    let name = word.rsplit('/').next().unwrap_or_default();
    (!is_found).then(|| format!("its program '{name}' is not there or cannot be executed"))
}

fn sh(arguments: &[&str]) -> bool {
    let mut command = Command::new("sh");
    command.args(arguments);
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    let status = command.stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn a_hook_that_cannot_run_is_known_without_running_it() {
        assert_eq!(problem("cat >/dev/null; exit 1"), None);
        assert_eq!(problem("X=1 cat"), None);
        assert!(problem("if true; then").is_some_and(|why| why.contains("line")));
        let why = problem("/nonexistent/audit --secret=hunter2").expect("not there");
        assert!(why.contains("'audit'") && !why.contains("hunter2"), "{why}");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mark = folder.path().join("mark");
        assert_eq!(problem(&format!("touch {}", mark.display())), None);
        assert!(!mark.exists());
    }
}
