//! Starts this program again as a daemon in the background.
//!
//! The new process has a session of its own, says on a pipe that it is ready or
//! why it is not, and closes it; its log goes to a file.

use crate::error::{Failure, Kind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time for a daemon to come up.
pub(crate) const START_DEADLINE: Duration = Duration::from_secs(10);

/// Bytes of log above which a new daemon begins a new file and keeps the last.
const LOG_BYTES_MAX: u64 = 8 << 20;

/// Most that a starting daemon says.
const READY_BYTES_MAX: usize = 16 << 10;

/// Variables that belong to one command and not to a daemon.
const NOT_FOR_DAEMONS: &[&str] = &[
    "SHELLGLASS",
    "SHELLGLASS_SESSION_ID",
    "SHELLGLASS_TOOL_CALL_ID",
];

/// How the first line of a daemon that is ready begins.
pub(crate) const READY_PREFIX: &str = "shellglass: ";

/// Starts `serve --detached` with these further arguments. Answers with what it
/// says when it is ready.
pub(crate) fn start(arguments: &[OsString], log: &Path) -> Result<String, Failure> {
    let failed = |what: &str, error: io::Error| {
        Failure::new(
            Kind::Broken,
            format!("the daemon cannot be started: {what}: {error}"),
        )
    };
    let program = std::env::current_exe().map_err(|error| failed("its program", error))?;
    let log_file = open_log(log).map_err(|error| {
        failed(&log.display().to_string(), error)
            .hint("set SHELLGLASS_HOME or --data-dir to a directory that you can write")
    })?;
    let home = std::env::home_dir().filter(|home| home.is_dir());
    let mut command = Command::new(program);
    command
        .args(["serve", "--detached"])
        .args(arguments)
        .current_dir(home.unwrap_or_else(|| "/".into()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log_file);
    for name in NOT_FOR_DAEMONS {
        command.env_remove(name);
    }
    let mut child = command
        .spawn()
        .map_err(|error| failed("a process", error))?;
    let said = listen(&mut child, Instant::now() + START_DEADLINE)
        .map_err(|error| failed("its first words", error))?;
    if said.starts_with(READY_PREFIX) {
        return Ok(said);
    }
    Err(explain(&said, &mut child, log))
}

fn open_log(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    if fs::metadata(path).is_ok_and(|metadata| metadata.len() > LOG_BYTES_MAX) {
        fs::rename(path, path.with_extension("log.1"))?;
    }
    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
}

/// Reads until the child closes its end, or the deadline.
fn listen(child: &mut Child, deadline: Instant) -> io::Result<String> {
    let Some(mut pipe) = child.stdout.take() else {
        return Ok(String::new());
    };
    let mut said = Vec::new();
    let mut chunk = [0; 1024];
    while said.len() < READY_BYTES_MAX {
        let left = deadline.saturating_duration_since(Instant::now());
        let wait = Timespec {
            tv_sec: left.as_secs().cast_signed(),
            tv_nsec: left.subsec_nanos().into(),
        };
        if left.is_zero() || poll(&mut [PollFd::new(&pipe, PollFlags::IN)], Some(&wait))? == 0 {
            break;
        }
        match pipe.read(&mut chunk)? {
            0 => break,
            count => said.extend_from_slice(&chunk[..count]),
        }
    }
    Ok(String::from_utf8_lossy(&said).into_owned())
}

/// The child's own words as a failure of ours.
fn explain(said: &str, child: &mut Child, log: &Path) -> Failure {
    let Some(words) = said.strip_prefix("error: ") else {
        return Failure::new(Kind::Broken, "the daemon did not come up in time")
            .hint(format!("its log is {}", log.display()));
    };
    // It has said its last words and is about to exit; this takes no time.
    let status = child.wait().ok().and_then(|status| status.code());
    let kind = if status == Some(i32::from(Kind::Failed.status())) {
        Kind::Failed
    } else {
        Kind::Broken
    };
    match words.trim_end().split_once("\nhint: ") {
        Some((message, hint)) => Failure::new(kind, message).hint(hint),
        None => Failure::new(kind, words.trim_end()),
    }
}
