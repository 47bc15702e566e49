//! Starts a keeper where there is none.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::{ConnectError, Keeper, KeeperEvent};
use crate::limits::CONNECT_RETRY_WAIT;
use crate::sys;

/// Time after which a keeper that did not come up is started again.
const START_AGAIN: Duration = Duration::from_secs(2);

/// Why no keeper is there.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its program cannot be executed.
    #[error("cannot start the keeper '{}'", program.display())]
    Execute {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Its log file cannot be written.
    #[error("cannot write the keeper's log '{}'", log.display())]
    Log {
        /// The file.
        log: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It was started and does not listen.
    #[error("the keeper was started and does not listen at '{}'", socket.display())]
    NotUp {
        /// The socket.
        socket: PathBuf,
        /// What came of the last attempt.
        source: ConnectError,
    },
    /// There is one that cannot be used.
    #[error(transparent)]
    Connect(#[from] ConnectError),
}

/// Connects to the keeper at `socket`; if there is none, starts `program` with
/// `args` for it, detached from this process and its terminal, and waits until
/// it accepts. What it prints goes to `log`, or nowhere. Paths are absolute.
///
/// When two daemons do this at once there is one keeper in the end, because
/// the second to come up finds its place taken.
pub async fn start_keeper(
    program: &Path,
    args: &[OsString],
    socket: &Path,
    log: Option<&Path>,
    deadline: Duration,
) -> Result<(Keeper, mpsc::Receiver<KeeperEvent>), StartError> {
    let deadline = Instant::now() + deadline;
    let mut started: Option<Instant> = None;
    loop {
        let source = match Keeper::connect(socket).await {
            Ok(connected) => return Ok(connected),
            Err(error @ ConnectError::NoKeeper { .. }) => error,
            Err(error) => return Err(error.into()),
        };
        if Instant::now() >= deadline {
            return Err(StartError::NotUp {
                socket: socket.to_owned(),
                source,
            });
        }
        if started.is_none_or(|at| at.elapsed() >= START_AGAIN) {
            let (program, args) = (program.to_owned(), args.to_vec());
            let log = log.map(Path::to_owned);
            let starting = move || start(&program, &args, log.as_deref());
            match tokio::task::spawn_blocking(starting).await {
                Ok(result) => result?,
                Err(_) => {
                    return Err(StartError::NotUp {
                        socket: socket.to_owned(),
                        source,
                    });
                }
            }
            started = Some(Instant::now());
        }
        tokio::time::sleep(CONNECT_RETRY_WAIT).await;
    }
}

fn start(program: &Path, args: &[OsString], log: Option<&Path>) -> Result<(), StartError> {
    let execute_error = |source| StartError::Execute {
        program: program.to_owned(),
        source,
    };
    let mut command = Command::new(program);
    command.args(args).current_dir("/").stdin(Stdio::null());
    if let Some(path) = log {
        let log_error = |source| StartError::Log {
            log: path.to_owned(),
            source,
        };
        let mut options = OpenOptions::new();
        let options = options.create(true).append(true).mode(0o600);
        let file = options.open(path).map_err(log_error)?;
        command
            .stdout(file.try_clone().map_err(log_error)?)
            .stderr(file);
    } else {
        command.stdout(Stdio::null()).stderr(Stdio::null());
    }
    sys::detach(&mut command);
    // What is waited for here has already handed over to the keeper.
    command
        .spawn()
        .map_err(execute_error)?
        .wait()
        .map_err(execute_error)?;
    Ok(())
}
