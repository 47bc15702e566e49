//! Places in the file system, known by what they are and not by their names.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use glass_model::FileId;
use rustix::fs::OFlags;

/// Something that exists: its path without symbolic links, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its absolute path, without symbolic links when it was looked at.
    pub path: PathBuf,
    /// Which file it is.
    pub id: FileId,
    /// Whether it is a directory.
    pub is_dir: bool,
}

impl Place {
    /// Resolves a path, following symbolic links.
    ///
    /// The path is opened and its name asked of the descriptor, so that name
    /// and identity are of one and the same thing.
    pub fn resolve(path: &Path) -> io::Result<Place> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let opened = rustix::fs::open(path, flags, rustix::fs::Mode::empty())?;
        let metadata = File::from(opened.try_clone()?).metadata()?;
        let name = format!("/proc/self/fd/{}", raw(&opened));
        let place = Place {
            path: std::fs::read_link(name)?,
            id: file_id(&metadata),
            is_dir: metadata.is_dir(),
        };
        // A file that is gone has a name that leads nowhere.
        match Place::at(&place.path) {
            Ok(found) if found == place => Ok(place),
            Ok(_) => Err(io::ErrorKind::NotFound.into()),
            Err(error) => Err(error),
        }
    }

    /// Looks at a path that must not end in a symbolic link.
    pub fn at(path: &Path) -> io::Result<Place> {
        let metadata = std::fs::symlink_metadata(path)?;
        if metadata.is_symlink() {
            return Err(rustix::io::Errno::LOOP.into());
        }
        Ok(Place {
            path: path.to_path_buf(),
            id: file_id(&metadata),
            is_dir: metadata.is_dir(),
        })
    }
}

fn raw(fd: &impl std::os::fd::AsRawFd) -> i32 {
    fd.as_raw_fd()
}

/// Which file some metadata is of.
pub(crate) fn file_id(metadata: &Metadata) -> FileId {
    FileId {
        device: metadata.dev(),
        inode: metadata.ino(),
    }
}

/// A path as it was given, made absolute against a base.
pub(crate) fn absolute(path: &str, base: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        (None, Some(home)) if path == "~" => home.to_path_buf(),
        _ => base.join(path),
    }
}

/// Reads a regular file of at most `bytes_max`. Never waits: a pipe in its
/// place is an error.
pub(crate) fn read_bounded(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// Reads a file of `/proc`, which has no length.
pub(crate) fn read_bounded_pseudo(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}
