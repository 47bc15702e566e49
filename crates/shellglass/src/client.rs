//! The way to the daemon: gRPC over its Unix socket. Where no daemon runs, one
//! is started.

use crate::config::{self, Loaded, PROJECT_FILE, Settings, Sources};
use crate::detach;
use crate::dirs::{self, Dirs};
use crate::error::{Failure, Kind};
use glass_proto::shellglass::v1::shell_exec_client::ShellExecClient;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tonic::transport::{Channel, Endpoint};

/// The contract's client.
pub(crate) type Client = ShellExecClient<Channel>;

/// Largest answer, in bytes: a result carries each stream once and both
/// interleaved, each up to the threshold that the caller asked for.
const ANSWER_BYTES_MAX: usize = 256 << 20;

/// Bytes of output that may be under way to us.
const WINDOW_BYTES: u32 = 4 << 20;

/// Bytes of one HTTP/2 frame.
const FRAME_BYTES_MAX: u32 = 1 << 20;

/// Pause between two tries to reach a daemon that is coming up.
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// Time after a failed start in which another daemon, which won the race, may
/// still come up.
const RACE_WINDOW: Duration = Duration::from_secs(2);

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
            variable: &|name| std::env::var(name).ok(),
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
        Err(error) if is_absent(&error) => start(context, &socket).await,
        Err(error) => Err(unreachable(&socket, &error)),
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
            Ok(client) => return Ok(client),
            Err(error) if Instant::now() >= deadline => {
                return Err(started.err().unwrap_or_else(|| unreachable(socket, &error)));
            }
            Err(_) => tokio::time::sleep(RETRY_PAUSE).await,
        }
    }
}

/// Reaches the daemon at this socket.
pub(crate) async fn dial(socket: &Path) -> Result<Client, tonic::transport::Error> {
    // Room for floods: with the usual windows the daemon waits for us.
    let endpoint = Endpoint::from_shared(format!("unix:{}", socket.display()))?
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .max_frame_size(FRAME_BYTES_MAX);
    let channel = endpoint.connect().await?;
    Ok(ShellExecClient::new(channel).max_decoding_message_size(ANSWER_BYTES_MAX))
}

/// Whether nobody listens there.
fn is_absent(error: &tonic::transport::Error) -> bool {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(cause) = source {
        if let Some(error) = cause.downcast_ref::<io::Error>() {
            return matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
            );
        }
        source = cause.source();
    }
    false
}

fn unreachable(socket: &Path, error: &tonic::transport::Error) -> Failure {
    let mut cause: &(dyn std::error::Error + 'static) = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let message = format!(
        "the daemon at {} cannot be reached: {cause}",
        socket.display()
    );
    Failure::new(Kind::Broken, message)
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
