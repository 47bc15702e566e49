//! Denials that are true, and alarms that are not raised.

use std::fs;
use std::path::Path;

use glass_model::SandboxPolicy;
use glass_sandbox::{Plan, denials};

use crate::fixture::{Fixture, block_git, readwrite};

fn said(f: &Fixture, plan: &Plan, stderr: &str) -> Vec<String> {
    denials(plan, &f.path("ws"), stderr.as_bytes(), Some(1))
}

fn check_says(f: &Fixture, plan: &Plan, stderr: &str, expected: &str) {
    let found = said(f, plan, stderr);
    assert_eq!(found.len(), 1, "{stderr}: {found:?}");
    assert!(found[0].contains(expected), "{found:?}");
}

fn check_silent(f: &Fixture, plan: &Plan, stderr: &str) {
    assert_eq!(said(f, plan, stderr), [""; 0], "{stderr}");
}

#[test]
fn a_denied_write_says_what_to_ask_for() {
    let f = Fixture::new();
    let plan = f.plan(&readwrite());
    let file = f.path("home/x");
    let line = format!(
        "touch: cannot touch '{}': Read-only file system",
        file.display()
    );
    check_says(&f, &plan, &line, "additional_readwrite_paths");
    check_says(&f, &plan, &format!("{line}\n{line}\n"), "home/x");
    let line = format!("bash: line 1: {}: Read-only file system", file.display());
    check_says(&f, &plan, &line, "outside of the workspace");
}

#[test]
fn hidden_and_protected_files_have_their_reasons() {
    let f = Fixture::new();
    f.repository("ws");
    f.write("ws/.env", "x");
    let policy = SandboxPolicy {
        ignore_mapping_json: Some(r#"{".": [".env"]}"#.to_owned()),
        ..readwrite()
    };
    let plan = f.plan(&policy);
    check_says(&f, &plan, "cat: .env: Permission denied", "ignored");
    let line = "error: could not write config file .git/config: Device or resource busy";
    check_says(&f, &plan, line, "git's hooks");
    let plan = f.plan(&block_git());
    let lock = f.path("ws/.git/index.lock");
    let line = format!(
        "fatal: Unable to create '{}': Read-only file system",
        lock.display()
    );
    check_says(&f, &plan, &line, "git's hooks");
}

#[test]
fn the_network_is_named_only_where_it_is_denied() {
    let f = Fixture::new();
    let plan = f.plan(&readwrite());
    let line = "curl: (6) Could not resolve host: example.com";
    check_says(&f, &plan, line, "network_access");
    check_silent(
        &f,
        &plan,
        "curl: (7) Failed to connect to localhost port 1: Connection refused",
    );
    check_silent(&f, &plan, "connect to localhost:80: Network is unreachable");
    let plan = f.plan(&SandboxPolicy {
        network_access: Some(true),
        ..readwrite()
    });
    check_silent(&f, &plan, line);
}

#[test]
fn ordinary_refusals_are_not_the_sandboxes() {
    let f = Fixture::new();
    f.write("ws/script", "x");
    let plan = f.plan(&readwrite());
    for line in [
        "bash: line 1: ./script: Permission denied",
        "bash: line 1: /etc/hostname: Permission denied",
        "mount: Operation not permitted",
        "cat: /etc/shadow-that-is-not-there/x: Permission denied",
        "Permission denied (publickey).",
        "rm: cannot remove 'x': Device or resource busy",
        "Read-only file system",
    ] {
        check_silent(&f, &plan, line);
    }
}

#[test]
fn a_command_that_succeeded_was_denied_nothing() {
    let f = Fixture::new();
    let plan = f.plan(&readwrite());
    let line = b"curl: (6) Could not resolve host: example.com";
    assert!(denials(&plan, Path::new("/"), line, Some(0)).is_empty());
    let plan = f.plan(&SandboxPolicy::none());
    assert!(denials(&plan, Path::new("/"), line, Some(1)).is_empty());
}

#[test]
fn a_file_that_cannot_be_written_anyway_is_not_claimed() {
    let f = Fixture::new();
    let plan = f.plan(&readwrite());
    // Nobody can write there, sandbox or not.
    check_silent(
        &f,
        &plan,
        "bash: line 1: /proc/version: Read-only file system",
    );
    fs::create_dir(f.path("ws/d")).unwrap();
    check_silent(
        &f,
        &plan,
        "touch: cannot touch 'd/x': Read-only file system",
    );
}

#[test]
fn temporary_files_that_are_turned_off_are_named() {
    let f = Fixture::new();
    let plan = f.plan(&SandboxPolicy {
        disable_tmp_write: Some(true),
        ..readwrite()
    });
    let line = "mktemp: failed to create file via template '/tmp/tmp.XX': Read-only file system";
    check_says(&f, &plan, line, "disable_tmp_write");
    let plan = f.plan(&readwrite());
    check_silent(&f, &plan, line);
}
