//! The way to the daemon: gRPC over its Unix socket. Where no daemon runs, one
//! is started.

use crate::config::{self, Loaded, PROJECT_FILE, Settings, Sources};
use crate::detach;
use crate::dirs::{self, Dirs};
use crate::error::{Failure, Kind};
use crate::ink::Ink;
use glass_client::DialError;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The contract's client.
pub(crate) type Client = glass_client::Calls;

/// Pause between two tries to reach a daemon that is coming up.
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// Time after a failed start in which another daemon, which won the race, may
/// still come up.
const RACE_WINDOW: Duration = Duration::from_secs(2);

pub(crate) use glass_client::dial;

/// What every command that talks to the daemon needs.
pub(crate) struct Context {
    /// The directories.
    pub dirs: Dirs,
    /// The configuration in force here.
    pub loaded: Loaded,
}

impl Context {
    /// Finds the directories and reads the configuration.
    pub(crate) fn load() -> Result<Context, Failure> {
        let dirs = Dirs::of_this_process()?;
        let loaded = config::load(&Sources {
            user: dirs.config_file(),
            user_is_required: false,
            project: project_file(),
            variables: config::variables(),
        })?;
        Ok(Context { dirs, loaded })
    }

    /// The daemon's socket.
    pub(crate) fn socket(&self) -> Result<PathBuf, Failure> {
        socket(&self.dirs, &self.loaded.settings)
    }
}

/// The daemon's socket under these settings, in a directory that nobody else
/// can use.
pub(crate) fn socket(dirs: &Dirs, settings: &Settings) -> Result<PathBuf, Failure> {
    let socket = match settings.daemon.socket.as_str() {
        "" => {
            let socket = dirs.daemon_socket();
            dirs::check_socket_path(&socket)?;
            dirs::make_private(&dirs.runtime)?;
            socket
        }
        given => PathBuf::from(given),
    };
    dirs::check_socket_path(&socket)?;
    Ok(socket)
}

/// The project's file: that of the nearest folder upwards which has one or is
/// the top of a git work tree.
pub(crate) fn project_file() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let is_root =
        |folder: &&Path| folder.join(PROJECT_FILE).exists() || folder.join(".git").exists();
    let root = here.ancestors().find(is_root)?;
    Some(root.join(PROJECT_FILE))
}

/// Reaches the daemon, and starts one where none runs.
pub(crate) async fn connect(context: &Context) -> Result<Client, Failure> {
    let socket = context.socket()?;
    match dial(&socket).await {
        Ok(client) => Ok(client),
        Err(error) if error.is_absent() => start(context, &socket).await,
        Err(error) => Err(unreachable(&error)),
    }
}

async fn start(context: &Context, socket: &Path) -> Result<Client, Failure> {
    let began = Instant::now();
    let started = detach::start(
        &[],
        &log_file(&data_dir(&context.dirs, &context.loaded.settings)),
    );
    let deadline = match started {
        Ok(_) => began + detach::START_DEADLINE,
        Err(_) => Instant::now() + RACE_WINDOW,
    };
    loop {
        match dial(socket).await {
            Ok(client) => {
                if let Ok(said) = &started {
                    first_words(said);
                }
                return Ok(client);
            }
            Err(error) if Instant::now() >= deadline => {
                return Err(started.err().unwrap_or_else(|| unreachable(&error)));
            }
            Err(_) => tokio::time::sleep(RETRY_PAUSE).await,
        }
    }
}

/// Says where to watch, to a person who has just begun to use a daemon without
/// knowing of it.
fn first_words(said: &str) {
    let stderr = std::io::stderr();
    if !stderr.is_terminal() {
        return;
    }
    let page = said
        .trim_end()
        .split_once(" and http")
        .map(|(_, page)| page);
    let watch = match page {
        Some(page) => format!("watch at http{page}"),
        None => "`shellglass attach ID` shows a session".to_owned(),
    };
    let line = format!("shellglass: a daemon runs in the background now; {watch}");
    eprintln!("{}", Ink::of(&stderr).dim(&line));
}

fn unreachable(error: &DialError) -> Failure {
    Failure::new(Kind::Broken, error.to_string())
        .hint("`shellglass serve` in another terminal shows what it has to say")
}

/// Where the journal lives.
pub(crate) fn data_dir(dirs: &Dirs, settings: &Settings) -> PathBuf {
    match settings.daemon.data_dir.as_str() {
        "" => dirs.data.clone(),
        given => PathBuf::from(given),
    }
}

/// The log of a daemon in the background.
pub(crate) fn log_file(data_dir: &Path) -> PathBuf {
    data_dir.join("daemon.log")
}
