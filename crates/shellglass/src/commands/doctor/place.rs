//! The program, where its things live, and the daemon that runs already. Nothing
//! is made here, and nothing started.

use super::check::{Check, Verdict};
use crate::client::{self, Context};
use crate::dirs;
use glass_proto::shellglass::v1::{Empty, ListSessionsRequest};
use rustix::fs::{Access, access};
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time for a daemon to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// Bytes at the end of a log that are looked through.
const LOG_BYTES_MAX: u64 = 1 << 20;

/// The program itself and the kernel below it.
pub(super) fn program(checks: &mut Vec<Check>) {
    let version = env!("CARGO_PKG_VERSION");
    checks.push(Check::good("program", "version", version));
    checks.push(match std::env::current_exe() {
        Ok(path) if !path.exists() => Check::warning(
            "program",
            "file",
            "it was replaced while it ran",
            "run doctor again",
        ),
        Ok(path) => Check::good("program", "file", path.display().to_string()),
        Err(error) => {
            let fix = "mount /proc: the daemon and the keeper are started from this file";
            Check::broken("program", "file", error.to_string(), fix)
        }
    });
    checks.push(Check::good("program", "kernel", kernel()));
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

/// Directories and the paths of sockets.
pub(super) fn directories(context: &Context, checks: &mut Vec<Check>) {
    let data = client::data_dir(&context.dirs, &context.loaded.settings);
    checks.push(directory("data", &data, Privacy::IsMade));
    checks.push(directory("runtime", &context.dirs.runtime, Privacy::Needed));
    checks.push(match dirs::check_socket_path(&socket(context)) {
        Ok(()) => Check::good("directories", "socket path", "short enough"),
        Err(error) => {
            let hint = error.hint();
            Check::broken("directories", "socket path", error.to_string(), hint)
        }
    });
}

/// Whether a directory must be private when we come.
#[derive(Clone, Copy, PartialEq)]
enum Privacy {
    /// The daemon refuses another one.
    Needed,
    /// The daemon makes it so.
    IsMade,
}

fn directory(name: &str, path: &Path, privacy: Privacy) -> Check {
    let shown = path.display();
    let broken = |detail: String, fix: &str| Check::broken("directories", name, detail, fix);
    let Ok(metadata) = fs::symlink_metadata(path) else {
        let above = existing(path);
        return match access(&above, Access::WRITE_OK | Access::EXEC_OK) {
            Ok(()) => Check::good("directories", name, format!("{shown}, made when needed")),
            Err(error) => broken(
                format!("{shown} cannot be made: {}: {error}", above.display()),
                "make it yourself, or set SHELLGLASS_HOME to a directory that you can write",
            ),
        };
    };
    let is_private = metadata.is_dir()
        && metadata.uid() == rustix::process::getuid().as_raw()
        && metadata.mode() & 0o077 == 0;
    if privacy == Privacy::Needed && !is_private {
        return broken(
            format!("{shown} is not a directory of your own that only you can use"),
            "remove it or make it yours (chmod 700), or set SHELLGLASS_HOME elsewhere",
        );
    }
    match access(path, Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) => Check::good("directories", name, shown.to_string()),
        Err(error) => broken(
            format!("{shown} cannot be written: {error}"),
            "make it yours, or set SHELLGLASS_HOME to a directory that you can write",
        ),
    }
}

/// The nearest directory upwards that is there.
pub(super) fn existing(path: &Path) -> PathBuf {
    let found = path.ancestors().find(|above| above.is_dir());
    found.unwrap_or(Path::new("/")).to_path_buf()
}

/// The daemon's socket; unlike [`client::socket`], nothing is made for it.
fn socket(context: &Context) -> PathBuf {
    match context.loaded.settings.daemon.socket.as_str() {
        "" => context.dirs.daemon_socket(),
        given => PathBuf::from(given),
    }
}

/// Whether a daemon runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Daemon {
    Runs,
    Absent,
}

/// The daemon that people use, if one runs.
pub(super) async fn daemon(context: &Context, checks: &mut Vec<Check>) -> Daemon {
    let path = socket(context);
    let shown = path.display();
    let dialled = tokio::time::timeout(ANSWER_WITHIN, client::dial(&path)).await;
    let is_socket = fs::symlink_metadata(&path).is_ok_and(|it| it.file_type().is_socket());
    let found = match dialled {
        Ok(Ok(client)) => {
            checks.push(running(client, &path).await);
            Daemon::Runs
        }
        Err(_) => {
            let detail = format!("it does not answer at {shown}");
            let fix = "its log says more; `shellglass serve` after it was stopped goes on with \
                       what runs";
            checks.push(Check::broken("daemon", "running", detail, fix));
            Daemon::Runs
        }
        Ok(Err(_)) if is_socket => {
            let detail = format!("none; {shown} was left by one that was killed");
            checks.push(Check::good("daemon", "running", detail));
            Daemon::Absent
        }
        Ok(Err(_)) if path.exists() => {
            let detail = format!("{shown} is not a socket");
            let fix = "move it away, or give another with `daemon.socket`";
            checks.push(Check::broken("daemon", "running", detail, fix));
            Daemon::Absent
        }
        Ok(Err(_)) => {
            let detail = "none; the first `shellglass run` starts one";
            checks.push(Check::good("daemon", "running", detail));
            Daemon::Absent
        }
    };
    let data = client::data_dir(&context.dirs, &context.loaded.settings);
    checks.push(log("daemon", &client::log_file(&data)));
    checks.push(log("keeper", &data.join("keeper.log")));
    found
}

async fn running(mut client: client::Client, socket: &Path) -> Check {
    let calls = async {
        let capabilities = client.get_capabilities(Empty {}).await?.into_inner();
        let list = client.list_sessions(ListSessionsRequest::default()).await?;
        Ok::<_, tonic::Status>((
            capabilities.program_version,
            list.into_inner().sessions.len(),
        ))
    };
    let ours = env!("CARGO_PKG_VERSION");
    match tokio::time::timeout(ANSWER_WITHIN, calls).await {
        Ok(Ok((version, sessions))) if version == ours => {
            let detail = format!("answers at {}, with {sessions} sessions", socket.display());
            Check::good("daemon", "running", detail)
        }
        Ok(Ok((version, _))) => Check::warning(
            "daemon",
            "running",
            format!("it is version {version}, and this program {ours}"),
            "stop it (SIGTERM); the next `shellglass run` starts the new one, and what runs goes on",
        ),
        Ok(Err(status)) => Check::failed("daemon", "running", status.into()),
        Err(_) => Check::broken(
            "daemon",
            "running",
            "it takes calls and does not answer them",
            "its log says more",
        ),
    }
}

/// Whether the newest part of a log has something that never should be there.
fn log(group: &'static str, path: &Path) -> Check {
    let shown = path.display();
    let text = match tail(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Check::good(group, "log", "none yet");
        }
        Err(error) => {
            let detail = format!("{shown} cannot be read: {error}");
            return Check::bad(group, "log", Verdict::Warning, detail, "make it yours");
        }
    };
    let panics = text.matches("panicked at").count();
    if panics > 0 {
        let detail = format!("{shown} tells of {panics} panics");
        let fix = "please report the line with \"panicked at\", and the one below it";
        return Check::warning(group, "log", detail, fix);
    }
    Check::good(group, "log", shown.to_string())
}

fn tail(path: &Path) -> std::io::Result<String> {
    let mut file = fs::File::open(path)?;
    let bytes = file.metadata()?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(LOG_BYTES_MAX)))?;
    let mut text = Vec::new();
    file.take(LOG_BYTES_MAX).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
