//! Covers places behind walls that stand already.
//!
//! Whoever holds the other end of a launch's `walls_control` asks the first
//! process behind the walls, which still may change mounts there. Nobody else
//! has that socket, and places can only be covered, never uncovered.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use glass_model::{Mount, View};
use prost::Message;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::{RecvFlags, SendFlags};

use crate::wire::{self, Cover, Covered};

/// Bytes of one request; what it holds of mounts is sent in as many as needed.
pub(crate) const COVER_BYTES_MAX: usize = 64 * 1024;

/// Bytes of an answer.
const COVERED_BYTES_MAX: usize = 64;

/// Time for each request to be done.
const COVER_WAIT: Duration = Duration::from_secs(5);

/// Why places were not covered. Some before the one named may be.
#[derive(Debug, thiserror::Error)]
pub enum CoverError {
    /// Places can only be made read-only or hidden.
    #[error("the place '{}' cannot be made wider", String::from_utf8_lossy(path))]
    NotACover {
        /// Which.
        path: Vec<u8>,
    },
    /// One could not be.
    #[error("the place '{}' cannot be covered", String::from_utf8_lossy(path))]
    Failed {
        /// Which.
        path: Vec<u8>,
        /// Why.
        source: io::Error,
    },
    /// Nobody is behind the walls any more, or nobody answers.
    #[error("the walls do not answer")]
    Gone(#[source] io::Error),
}

/// Numbers requests, so that a late answer is not taken for the next one.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// Makes these places read-only or hidden for everything behind the walls,
/// and returns when they are. Blocks for a few milliseconds, at most for its
/// deadline; only one caller at a time may use one control socket.
pub fn cover(control: BorrowedFd<'_>, mounts: &[Mount]) -> Result<(), CoverError> {
    if let Some(wide) = mounts.iter().find(|mount| !is_cover(mount)) {
        return Err(CoverError::NotACover {
            path: wide.path.clone(),
        });
    }
    let mut rest = mounts;
    while !rest.is_empty() {
        let (request, count) = fill(rest);
        let (now, later) = rest.split_at(count);
        ask(control, &request, now)?;
        rest = later;
    }
    Ok(())
}

/// Whether a mount takes rights away and gives none.
pub(crate) fn is_cover(mount: &Mount) -> bool {
    matches!(mount.view, View::ReadOnly | View::Hidden)
}

/// A request with as many of the mounts as fit, and how many those are.
fn fill(mounts: &[Mount]) -> (Cover, usize) {
    let mut request = Cover {
        number: NUMBERS.fetch_add(1, Ordering::Relaxed),
        mounts: Vec::new(),
    };
    for mount in mounts {
        request.mounts.push(mount.clone().into());
        if request.mounts.len() > 1 && request.encoded_len() > COVER_BYTES_MAX {
            request.mounts.pop();
            break;
        }
    }
    let count = request.mounts.len();
    (request, count)
}

fn ask(control: BorrowedFd<'_>, request: &Cover, mounts: &[Mount]) -> Result<(), CoverError> {
    let deadline = Instant::now() + COVER_WAIT;
    let bytes = request.encode_to_vec();
    wait_for(control, PollFlags::OUT, deadline)?;
    rustix::net::send(control, &bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)
        .map_err(|errno| CoverError::Gone(errno.into()))?;
    loop {
        wait_for(control, PollFlags::IN, deadline)?;
        let mut buffer = [0; COVERED_BYTES_MAX];
        let received = rustix::net::recv(control, &mut buffer, RecvFlags::DONTWAIT);
        let length = match received {
            Ok((0, _)) => return Err(CoverError::Gone(io::ErrorKind::UnexpectedEof.into())),
            Ok((length, _)) => length,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => continue,
            Err(errno) => return Err(CoverError::Gone(errno.into())),
        };
        let answer = buffer.get(..length).unwrap_or_default();
        let Ok(covered) = wire::decode::<Covered>(answer) else {
            continue;
        };
        if covered.number != request.number {
            continue;
        }
        return outcome(&covered, mounts);
    }
}

fn outcome(covered: &Covered, mounts: &[Mount]) -> Result<(), CoverError> {
    if covered.errno == 0 {
        return Ok(());
    }
    let place = usize::try_from(covered.index).unwrap_or(usize::MAX);
    let path = mounts.get(place).map(|mount| mount.path.clone());
    Err(CoverError::Failed {
        path: path.unwrap_or_default(),
        source: io::Error::from_raw_os_error(covered.errno),
    })
}

fn wait_for(fd: BorrowedFd<'_>, what: PollFlags, deadline: Instant) -> Result<(), CoverError> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(CoverError::Gone(io::ErrorKind::TimedOut.into()));
        }
        let timeout = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        let socket = fd.as_fd();
        let mut fds = [PollFd::new(&socket, what)];
        match rustix::event::poll(&mut fds, Some(&timeout)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(errno) => return Err(CoverError::Gone(errno.into())),
        }
    }
}
