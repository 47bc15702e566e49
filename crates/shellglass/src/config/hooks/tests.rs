//! Files with hooks, right and wrong.

use super::{FailureName, HookSetting, is_for_hooks};
use crate::config::read::parse;
use crate::config::{Loaded, Settings, Sources, load, render};
use std::ffi::OsStr;
use std::path::Path;

fn settings(text: &str) -> Settings {
    let (_, settings) = parse(Path::new("c.toml"), text).expect("a valid file");
    settings
}

fn check_wrong(text: &str, expected: &str) {
    let error = parse(Path::new("c.toml"), text)
        .expect_err(text)
        .to_string();
    assert!(error.starts_with(expected), "{error}");
}

fn setting(command: &str, timeout_ms: u64, failure: FailureName) -> HookSetting {
    HookSetting {
        command: command.to_owned(),
        timeout_ms,
        failure,
    }
}

#[test]
fn a_hook_is_a_table_or_a_command() {
    let text = r#"
        [hooks]
        afterShellExecution = ["log it", { command = "tell", timeout_ms = 5 }]
        [[hooks.beforeShellExecution]]
        command = "check"
        [[hooks.beforeShellExecution]]
        command = "ask"
        timeout_ms = 600000
        failure = "open"
    "#;
    let hooks = settings(text).hooks;
    let before = [
        setting("check", 10_000, FailureName::Closed),
        setting("ask", 600_000, FailureName::Open),
    ];
    let after = [
        setting("log it", 10_000, FailureName::Open),
        setting("tell", 5, FailureName::Open),
    ];
    assert_eq!(hooks.before, before);
    assert_eq!(hooks.after, after);
    let hooks = hooks.hooks(std::iter::empty());
    assert!(hooks.has_before() && hooks.has_after());
}

#[test]
fn a_wrong_hook_names_its_line_and_what_would_be_right() {
    check_wrong(
        "[[hooks.beforeShellExecution]]\ncommand = \"x\"\ntimeout = 3\n",
        "c.toml:3: `hooks.beforeShellExecution[0].timeout`: unknown field `timeout`, expected one of",
    );
    check_wrong(
        "[hooks]\nbeforeShellExecution = [\"x\", \" \"]\n",
        "c.toml:2: `hooks.beforeShellExecution[1]`: a hook's command is",
    );
    check_wrong(
        "[hooks]\nbeforeShellExecution = \"x\"\n",
        "c.toml:2: `hooks.beforeShellExecution`: invalid type: string",
    );
    check_wrong(
        "[hooks]\nafterShellExecution = [{ command = \"x\", timeout_ms = 600001 }]\n",
        "c.toml:2: `hooks.afterShellExecution[0]`: a hook has between 1 and 600000",
    );
    check_wrong(
        "[hooks]\nafterShellExecution = [{ command = \"x\", timeout_ms = 0 }]\n",
        "c.toml:2: `hooks.afterShellExecution[0]`: a hook has between 1 and 600000",
    );
    check_wrong(
        "[hooks]\nbefore_shell_execution = [\"x\"]\n",
        "c.toml:2: there is no setting `hooks.before_shell_execution`",
    );
    let many = "\"x\",".repeat(33);
    check_wrong(
        &format!("[hooks]\nafterShellExecution = [{many}]\n"),
        "c.toml:2: `hooks.afterShellExecution`: there are at most 32 hooks",
    );
}

fn layers(user: &str, project: &str, variable: Option<&str>) -> Result<Loaded, (String, String)> {
    let folder = tempfile::tempdir().expect("a folder");
    let sources = Sources {
        user: folder.path().join("u.toml"),
        user_is_required: true,
        project: Some(folder.path().join("p.toml")),
        variables: variable
            .map(|value| {
                (
                    "SHELLGLASS_HOOKS_BEFORESHELLEXECUTION".to_owned(),
                    value.to_owned(),
                )
            })
            .into_iter()
            .collect(),
    };
    std::fs::write(folder.path().join("u.toml"), user).expect("written");
    std::fs::write(folder.path().join("p.toml"), project).expect("written");
    load(&sources).map_err(|error| (error.to_string(), error.hint()))
}

#[test]
fn a_project_cannot_bring_hooks() {
    for (project, line) in [
        ("[hooks]\nbeforeShellExecution = [\"evil\"]\n", 2),
        ("\n[[hooks.beforeShellExecution]]\ncommand = \"evil\"\n", 2),
        ("hooks.beforeShellExecution = []\n", 1),
        ("hooks = { beforeShellExecution = [] }\n", 1),
    ] {
        let (error, hint) = layers("", project, None).err().expect("refused");
        let expected = format!("p.toml:{line}: a project cannot set `hooks.beforeShellExecution`");
        assert!(error.ends_with(&expected), "{project}: {error}");
        assert!(hint.contains("run as you"), "{hint}");
    }
}

#[test]
fn a_variable_cannot_bring_hooks() {
    let (error, _) = layers("", "", Some("a, b")).err().expect("refused");
    assert!(
        error.contains("SHELLGLASS_HOOKS_BEFORESHELLEXECUTION: hooks are"),
        "{error}"
    );
}

#[test]
fn hooks_that_are_shown_can_be_read_again() {
    let text = "[hooks]\nbeforeShellExecution = [\"x 'y'\"]\nafterShellExecution = [\"z\"]\n";
    let loaded = layers(text, "", None).expect("valid");
    let shown = render(&loaded);
    assert!(shown.contains("u.toml:2"), "{shown}");
    assert_eq!(settings(&shown), loaded.settings);
}

#[test]
fn hooks_do_not_get_the_variables_of_one_command() {
    for (name, kept) in [
        ("PATH", true),
        ("SHELLGLASS_HOME", true),
        ("SHELLGLASS", false),
        ("SHELLGLASS_SESSION_ID", false),
        ("SHELLGLASS_AGENT_TOKEN", false),
    ] {
        assert_eq!(is_for_hooks(OsStr::new(name)), kept, "{name}");
    }
}

#[test]
fn the_files_that_hooks_name_are_known() {
    let text = r#"
        [hooks]
        afterShellExecution = ["logger -t x", "python3 '/opt/a b.py' --log=/var/log/x"]
        beforeShellExecution = ["~/bin/check; $HOME/other|cat", "relative/path"]
    "#;
    let paths = settings(text).hooks.paths();
    // A name with a space in it ends there, which protects less and harms nothing.
    let expected = ["~/bin/check", "~/other", "/opt/a", "/var/log/x"];
    assert_eq!(paths, expected);
}
