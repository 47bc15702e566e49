//! Makes the keeper's socket so that there is never a second keeper and never
//! a stranger.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use super::KeeperError;
use crate::limits::GREETINGS_MAX;

/// Bytes of a socket's path that the kernel accepts.
const SOCKET_PATH_BYTES_MAX: usize = 107;

/// A listening socket that is ours alone; the file goes when this is dropped.
#[derive(Debug)]
pub(super) struct Claim {
    pub listener: OwnedFd,
    path: PathBuf,
    /// Locked for as long as it is open. The file itself stays: removing it
    /// would let two keepers lock two files of the same name.
    _lock: File,
}

impl Drop for Claim {
    fn drop(&mut self) {
        // It is still ours: nobody else removes it without holding the lock.
        let _ = fs::remove_file(&self.path);
    }
}

/// Takes the place at this path, removing what a dead keeper left there.
pub(super) fn claim(path: &Path) -> Result<Claim, KeeperError> {
    let listen_error = |at: &Path| {
        let path = at.to_owned();
        move |source: io::Error| KeeperError::Listen { path, source }
    };
    if path.as_os_str().len() > SOCKET_PATH_BYTES_MAX {
        let max = SOCKET_PATH_BYTES_MAX;
        return Err(KeeperError::PathTooLong {
            socket: path.to_owned(),
            max,
        });
    }
    let directory = path
        .parent()
        .filter(|_| path.is_absolute() && path.file_name().is_some());
    let directory = directory
        .ok_or(io::ErrorKind::InvalidInput)
        .map_err(|kind| listen_error(path)(kind.into()))?;
    check_directory(directory)
        .map_err(listen_error(directory))?
        .ok_or_else(|| KeeperError::UnsafeDirectory {
            directory: directory.to_owned(),
        })?;

    let mut lock_path = path.as_os_str().to_owned();
    lock_path.push(".lock");
    let lock_path = PathBuf::from(lock_path);
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(false).mode(0o600);
    let lock = options.open(&lock_path).map_err(listen_error(&lock_path))?;
    match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => {
            return Err(KeeperError::AlreadyRunning {
                socket: path.to_owned(),
            });
        }
        Err(errno) => return Err(listen_error(&lock_path)(errno.into())),
    }
    let listener = listen(path).map_err(listen_error(path))?;
    Ok(Claim {
        listener,
        path: path.to_owned(),
        _lock: lock,
    })
}

/// Makes the directory if need be; gives nothing when it is not ours alone.
fn check_directory(directory: &Path) -> io::Result<Option<()>> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let meta = fs::symlink_metadata(directory)?;
    let ours = meta.is_dir()
        && meta.uid() == rustix::process::geteuid().as_raw()
        && meta.mode() & 0o077 == 0;
    Ok(ours.then_some(()))
}

fn listen(path: &Path) -> io::Result<OwnedFd> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let family = AddressFamily::UNIX;
    let socket = rustix::net::socket_with(family, SocketType::SEQPACKET, flags, None)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    rustix::net::listen(&socket, i32::try_from(GREETINGS_MAX).unwrap_or(1))?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_second_keeper_is_refused_and_a_dead_one_is_replaced() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("run/keeper");
        let first = claim(&path).expect("the first");
        assert!(matches!(
            claim(&path),
            Err(KeeperError::AlreadyRunning { .. })
        ));
        let mode = |p: &Path| fs::metadata(p).expect("it is there").mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(&home.path().join("run")), 0o700);
        drop(first);
        assert!(!path.exists());
        fs::write(&path, "left by a dead keeper").expect("a stale file");
        drop(claim(&path).expect("the stale one is removed"));
    }

    #[test]
    fn a_directory_that_others_can_use_is_refused() {
        let home = tempfile::tempdir().expect("a directory");
        let open = home.path().join("open");
        fs::create_dir(&open).expect("made");
        fs::set_permissions(&open, Permissions::from_mode(0o750)).expect("opened");
        let unsafe_at = |path: PathBuf| {
            assert!(
                matches!(claim(&path), Err(KeeperError::UnsafeDirectory { .. })),
                "{path:?}"
            );
        };
        unsafe_at(open.join("keeper"));
        let safe = home.path().join("safe");
        DirBuilder::new().mode(0o700).create(&safe).expect("made");
        symlink(&safe, home.path().join("link")).expect("linked");
        unsafe_at(home.path().join("link/keeper"));
    }

    #[test]
    fn a_path_that_cannot_be_bound_is_named() {
        let long = PathBuf::from("/tmp").join("x".repeat(120));
        assert!(matches!(claim(&long), Err(KeeperError::PathTooLong { .. })));
        assert!(matches!(
            claim(Path::new("relative")),
            Err(KeeperError::Listen { .. })
        ));
        let missing = Path::new("/nonexistent-directory/below/keeper");
        assert!(matches!(claim(missing), Err(KeeperError::Listen { .. })));
    }
}
