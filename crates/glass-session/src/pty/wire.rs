//! Reading from a terminal and writing to it.

use std::os::fd::OwnedFd;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Bytes that are read before others get their turn; what a crash between
/// reading and recording can lose.
const TURN_BYTES_MAX: usize = 64 * 1024;

/// Bytes of one turn that are part of a flood, and how often more of it is looked
/// for before the task sleeps.
pub(super) const FLOOD_BYTES_MIN: usize = 2 * 1024;
pub(super) const FLOOD_LOOKS: u32 = 24;

/// Bytes that one read asks for.
const READ_BYTES: usize = 16 * 1024;

/// What a turn of reading found, beside bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// More may come.
    Open,
    /// No process has the terminal open now.
    Deserted,
}

/// Reads what is there, up to a turn's worth, as soon as something is. Of a flood,
/// more is there in less time than it takes to sleep and to wake; so `looks` times
/// others get their turn first.
pub(super) async fn read_turn(
    master: &AsyncFd<OwnedFd>,
    buffer: &mut Vec<u8>,
    looks: u32,
) -> Reading {
    for _ in 0..looks {
        if matches!(fill(master, buffer), Ok(1..)) {
            return Reading::Open;
        }
        tokio::task::yield_now().await;
    }
    loop {
        let Ok(mut guard) = master.readable().await else {
            return Reading::Deserted;
        };
        // From here on nothing waits, so nothing that was read is lost when
        // this future is dropped.
        while buffer.len() < TURN_BYTES_MAX {
            match guard.try_io(|master| Ok(fill(master, buffer)?)) {
                Ok(Ok(1..)) => {}
                // Linux says EIO when the last program has closed it.
                Ok(Ok(0) | Err(_)) => return Reading::Deserted,
                Err(_would_block) => break,
            }
        }
        if !buffer.is_empty() {
            return Reading::Open;
        }
    }
}

fn fill(master: &AsyncFd<OwnedFd>, buffer: &mut Vec<u8>) -> rustix::io::Result<usize> {
    let start = buffer.len();
    buffer.resize(start + READ_BYTES, 0);
    let read = rustix::io::retry_on_intr(|| rustix::io::read(master, &mut buffer[start..]));
    buffer.truncate(start + read.unwrap_or(0));
    read
}

/// Writes what the terminal takes; says how much, or nothing where it is full.
pub(super) fn write_some(master: &AsyncFd<OwnedFd>, bytes: &[u8]) -> std::io::Result<usize> {
    let written = master.try_io(Interest::WRITABLE, |fd| {
        Ok(rustix::io::retry_on_intr(|| rustix::io::write(fd, bytes))?)
    });
    match written {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(0),
        written => written,
    }
}
