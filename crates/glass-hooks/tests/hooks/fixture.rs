//! Hooks to test with, and a look at which processes there are.

use glass_hooks::{BeforeShellExecution, FailureMode, Hook, Hooks};
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time for what must happen soon.
pub const SOON: Duration = Duration::from_secs(20);

/// A hook with time enough.
pub fn hook(command: &str) -> Hook {
    Hook {
        command: command.to_owned(),
        timeout: SOON,
        failure: FailureMode::Closed,
    }
}

/// A hook with little time.
pub fn hasty(command: &str) -> Hook {
    Hook {
        timeout: Duration::from_millis(300),
        ..hook(command)
    }
}

/// Hooks that are asked.
pub fn asked(hooks: Vec<Hook>) -> Hooks {
    Hooks::new(hooks, Vec::new(), environment())
}

/// An environment in which the usual programs are found.
pub fn environment() -> Vec<(OsString, OsString)> {
    let path = std::env::var_os("PATH").expect("a PATH");
    vec![("PATH".into(), path), ("MARK".into(), "here".into())]
}

/// A command to ask about, in a directory.
pub fn about(directory: &Path) -> BeforeShellExecution {
    BeforeShellExecution {
        command: "make all".to_owned(),
        cwd: directory.to_str().expect("UTF-8").to_owned(),
        session_id: "s-1".to_owned(),
        ..BeforeShellExecution::default()
    }
}

/// The number that a hook has written into a file, as soon as it is there.
pub async fn pid_in(file: &Path) -> i32 {
    let deadline = Instant::now() + SOON;
    loop {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if let Some(Ok(pid)) = text.strip_suffix('\n').map(str::parse) {
            return pid;
        }
        assert!(
            Instant::now() < deadline,
            "{} has no number",
            file.display()
        );
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Whether a process runs. One that only waits to be reaped does not.
pub fn lives(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.as_bytes()[0]);
    state.is_some_and(|state| !matches!(state, b'Z' | b'X'))
}

/// Waits until a process does not run any more.
pub async fn gone(pid: i32) {
    let deadline = Instant::now() + SOON;
    while lives(pid) {
        assert!(Instant::now() < deadline, "process {pid} still runs");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
