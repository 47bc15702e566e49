//! The listeners.

use crate::auth::Tokens;
use crate::http::{self, Addresses, Glass, Mcp, Scheme, Tls};
use crate::peer::Peer;
use crate::service::Service;
use glass_proto::DESCRIPTORS;
use glass_proto::shellglass::v1::shell_exec_server::ShellExecServer;
use glass_session::{Engine, Outsiders};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use tokio::net::{TcpListener, UnixListener};
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::service::Routes;
use tonic::transport::Server;

/// A request's size at most, in bytes: the longest command and some room.
pub(crate) const REQUEST_BYTES_MAX: usize = 8 << 20;

/// How much a stream may have under way, in bytes.
pub(crate) const WINDOW_BYTES: u32 = 4 << 20;

/// The longest path of a Unix socket, in bytes.
const SOCKET_PATH_BYTES_MAX: usize = 107;

/// What to listen on, and for whom.
pub struct Options {
    /// The sessions.
    pub engine: Engine,
    /// The Unix socket, for this user alone.
    pub socket: PathBuf,
    /// That socket, where somebody else has opened it and will close it.
    pub inherited: Option<std::os::unix::net::UnixListener>,
    /// Where to serve gRPC and the page over TCP.
    pub listen: Tcp,
    /// Who can read what is served there.
    pub exposure: Exposure,
    /// Names by which browsers call us beside our address.
    pub names: Vec<String>,
    /// What callers present over TCP.
    pub tokens: Tokens,
    /// What answers at `/mcp`.
    pub mcp: Mcp,
}

/// Who can read what is served over TCP.
pub enum Exposure {
    /// This machine alone: other addresses are refused.
    Loopback,
    /// Whoever has the token, over TLS.
    Tls(Tls),
    /// Whoever is on the way. Somebody has said twice that they want it.
    Plain,
}

/// An address for TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tcp {
    /// None.
    Closed,
    /// Exactly this one.
    At(SocketAddr),
    /// This one, or another port where it is taken.
    Near(SocketAddr),
}

/// What is listened on; told once both listeners are open.
#[derive(Clone, Debug)]
pub struct Listening {
    /// The Unix socket.
    pub socket: PathBuf,
    /// The page's address as browsers call it, without a slash at its end.
    pub page: Option<String>,
}

/// Why nothing is listened on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The path does not fit a socket's address.
    #[error(
        "the socket's path {path} has {bytes} bytes, and {SOCKET_PATH_BYTES_MAX} are the limit"
    )]
    PathTooLong {
        /// The path.
        path: PathBuf,
        /// Its length.
        bytes: usize,
    },
    /// The address can be reached from elsewhere, and nobody said that it may.
    #[error("{0} is not a loopback address")]
    NotLoopback(SocketAddr),
    /// The Unix socket cannot be opened.
    #[error("cannot listen on {path}")]
    Socket {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The TCP address cannot be used.
    #[error("cannot listen on {address}")]
    Tcp {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// Reflection cannot be offered.
    #[error("the contract's description is broken")]
    Reflection(#[from] tonic_reflection::server::Error),
    /// Serving failed.
    #[error("serving failed")]
    Transport(#[from] tonic::transport::Error),
}

/// Serves until `stop` is over. `ready` hears what is listened on.
pub async fn serve(
    options: Options,
    ready: impl FnOnce(Listening),
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let Options {
        engine,
        socket,
        inherited,
        listen,
        exposure,
        names,
        tokens,
        mcp,
    } = options;
    let is_ours = inherited.is_none();
    let unix = match inherited {
        Some(listener) => take_over(listener, &socket)?,
        None => open_socket(&socket)?,
    };
    let tcp = match listen {
        Tcp::Closed => None,
        Tcp::At(address) => Some(open_tcp(address, &exposure).await?),
        Tcp::Near(address) => match open_tcp(address, &exposure).await {
            Err(ServeError::Tcp { .. }) => {
                let any = SocketAddr::new(address.ip(), 0);
                Some(open_tcp(any, &exposure).await?)
            }
            opened => Some(opened?),
        },
    };
    let address = tcp.as_ref().and_then(|listener| listener.local_addr().ok());
    let mut outsiders = Outsiders::of(engine.keeper_pid());
    let scheme = match exposure {
        Exposure::Tls(_) => Scheme::Https,
        Exposure::Loopback | Exposure::Plain => Scheme::Http,
    };
    let addresses = address.map(|address| Addresses::of(address, scheme, &names));
    let page = addresses.as_ref().map(Addresses::page);
    let service = Service::new(
        engine.clone(),
        tokens.clone(),
        page.clone().unwrap_or_default(),
    );
    let leaving = engine.clone();
    let routes = routes(service).await?;
    let router = Server::builder()
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .add_routes(routes.clone());
    let tls = match exposure {
        Exposure::Tls(tls) => Some(tls),
        Exposure::Loopback | Exposure::Plain => None,
    };
    ready(Listening {
        socket: socket.clone(),
        page,
    });

    let peers = UnixListenerStream::new(unix).filter_map(move |stream| {
        match stream.and_then(|stream| Peer::recognise(stream, &mut outsiders)) {
            Ok(Some(peer)) => Some(Ok::<_, io::Error>(peer)),
            Ok(None) => {
                tracing::warn!("a process of another user was turned away");
                None
            }
            Err(error) => {
                tracing::warn!(%error, "a connection failed");
                None
            }
        }
    });
    // Where connections are served, so that a new one waits for no other thread.
    let mut over_unix = tokio::spawn(router.serve_with_incoming(peers));
    let over_tcp = async {
        if let (Some(tcp), Some(addresses)) = (tcp, addresses) {
            let glass = Glass::new(engine, tokens, addresses, routes, mcp);
            http::serve(tcp, tls, glass.router()).await;
        }
        std::future::pending().await
    };
    let outcome = tokio::select! {
        outcome = &mut over_unix => outcome.unwrap_or_else(|ended| {
            std::panic::resume_unwind(ended.into_panic())
        }),
        outcome = over_tcp => outcome,
        () = stop => Ok(()),
    };
    over_unix.abort();
    // Views end with us now, and that says nothing about their sessions.
    leaving.leave_sessions();
    // Another daemon may be starting: its socket is not ours to remove, but it
    // cannot have one before we have let go of the data directory.
    if is_ours && let Err(error) = std::fs::remove_file(&socket) {
        tracing::debug!(%error, "the socket was gone");
    }
    Ok(outcome?)
}

async fn routes(service: Service) -> Result<Routes, ServeError> {
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter.set_serving::<ShellExecServer<Service>>().await;
    let described = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
    };
    let shell_exec = ShellExecServer::new(service).max_decoding_message_size(REQUEST_BYTES_MAX);
    Ok(Routes::new(shell_exec)
        .add_service(health)
        .add_service(described().build_v1()?)
        // Stock clients of many languages still ask in the older version.
        .add_service(described().build_v1alpha()?)
        .prepare())
}

/// Serves a socket that listens already.
fn take_over(
    listener: std::os::unix::net::UnixListener,
    path: &Path,
) -> Result<UnixListener, ServeError> {
    let taken = listener
        .set_nonblocking(true)
        .and_then(|()| UnixListener::from_std(listener));
    taken.map_err(|source| ServeError::Socket {
        path: path.to_owned(),
        source,
    })
}

/// Opens the socket where a dead daemon may have left one. The caller holds the
/// data directory's lock, so no living one can be meant.
fn open_socket(path: &Path) -> Result<UnixListener, ServeError> {
    let bytes = path.as_os_str().len();
    if bytes > SOCKET_PATH_BYTES_MAX {
        return Err(ServeError::PathTooLong {
            path: path.to_owned(),
            bytes,
        });
    }
    let failed = |source| ServeError::Socket {
        path: path.to_owned(),
        source,
    };
    match std::fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    // Nobody but us may connect, from the first moment on.
    let before = rustix::process::umask(rustix::fs::Mode::from_bits_truncate(0o177));
    let listener = UnixListener::bind(path);
    rustix::process::umask(before);
    listener.map_err(failed)
}

async fn open_tcp(address: SocketAddr, exposure: &Exposure) -> Result<TcpListener, ServeError> {
    if !address.ip().is_loopback() && matches!(exposure, Exposure::Loopback) {
        return Err(ServeError::NotLoopback(address));
    }
    let failed = |source| ServeError::Tcp { address, source };
    TcpListener::bind(address).await.map_err(failed)
}
