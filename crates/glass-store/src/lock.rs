//! One process for each data directory.

use std::fs::{DirBuilder, File, Permissions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::error::OpenError;

/// Only the user may see what was run.
const DIR_MODE: u32 = 0o700;

/// The longest process number, with room to spare, in bytes.
const PID_BYTES_MAX: u64 = 16;

/// Makes the directory, private to the user, where it is not there.
pub(crate) fn make_dir(dir: &Path) -> Result<(), OpenError> {
    let made = DirBuilder::new().recursive(true).mode(DIR_MODE).create(dir);
    match made {
        Ok(()) => {}
        Err(_) if dir.exists() && !dir.is_dir() => {
            return Err(OpenError::NotADirectory {
                path: dir.to_owned(),
            });
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(OpenError::NotADirectory {
                path: dir.to_owned(),
            });
        }
        Err(source) => return Err(refused("making", dir, dir, source)),
    }
    let mode = std::fs::metadata(dir)
        .map_err(|source| refused("looking at", dir, dir, source))?
        .permissions()
        .mode();
    // What the user may not do there is left as it is.
    if mode & 0o7777 & !DIR_MODE != 0 {
        std::fs::set_permissions(dir, Permissions::from_mode(mode & DIR_MODE))
            .map_err(|source| refused("closing to others", dir, dir, source))?;
    }
    Ok(())
}

/// Takes the directory's lock. It is held as long as the file lives, and the
/// kernel gives it back however we end.
pub(crate) fn take(dir: &Path) -> Result<File, OpenError> {
    let path = dir.join("lock");
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(&path, flags, Mode::from_raw_mode(0o600));
    let mut file =
        File::from(opened.map_err(|errno| refused("opening", dir, &path, errno.into()))?);
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => {
            return Err(OpenError::Locked {
                dir: dir.to_owned(),
                pid: read_pid(&file),
            });
        }
        Err(errno) => return Err(refused("locking", dir, &path, errno.into())),
    }
    // The number is for people; a full disk must not keep us from starting.
    if let Err(error) = write_pid(&mut file) {
        tracing::warn!(%error, "the lock does not name its owner");
    }
    Ok(file)
}

fn read_pid(file: &File) -> Option<u32> {
    let mut text = String::new();
    file.take(PID_BYTES_MAX).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn write_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

/// Says plainly when it is a matter of rights.
pub(crate) fn refused(
    action: &'static str,
    dir: &Path,
    path: &Path,
    source: io::Error,
) -> OpenError {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    if matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem) {
        OpenError::ReadOnly {
            dir: dir.to_owned(),
            source,
        }
    } else {
        OpenError::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }
}
