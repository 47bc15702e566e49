//! A socket that somebody else has opened for us, as systemd does: it listens
//! before we run, and stays when we end.

use crate::error::{Failure, Kind};
use listenfd::ListenFd;
use rustix::io::{FdFlags, fcntl_setfd};
use std::os::unix::net::UnixListener;
use std::path::Path;

/// The listener that we were started with, if there is one. It must be the
/// socket at which clients look for us: any other would be a daemon that nobody
/// finds, or one in a place that we have not checked.
pub(super) fn listener(socket: &Path) -> Result<Option<UnixListener>, Failure> {
    // Only what is meant for this very process counts (`LISTEN_PID`).
    let mut given = ListenFd::from_env();
    let hint = || {
        format!(
            "the unit's only ListenStream= has to be {}",
            socket.display()
        )
    };
    let refused = |why: String| Err(Failure::new(Kind::Usage, why).hint(hint()));
    match given.len() {
        0 => return Ok(None),
        1 => {}
        several => return refused(format!("{several} sockets were handed to us, and not one")),
    }
    let listener = match given.take_unix_listener(0) {
        Ok(Some(listener)) => listener,
        Ok(None) => return Ok(None),
        Err(error) => return refused(format!("what was handed to us is no socket: {error}")),
    };
    let broken = |error| {
        let message = format!("the socket that was handed to us cannot be used: {error}");
        Failure::new(Kind::Broken, message)
    };
    // Else the keeper and every command would have it, too.
    fcntl_setfd(&listener, FdFlags::CLOEXEC).map_err(|error| broken(error.into()))?;
    let address = listener.local_addr().map_err(broken)?;
    match address.as_pathname() {
        Some(path) if path == socket => Ok(Some(listener)),
        Some(path) => refused(format!("we were handed the socket {}", path.display())),
        None => refused("the socket that we were handed has no path".to_owned()),
    }
}
