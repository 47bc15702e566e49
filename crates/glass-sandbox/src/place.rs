//! Places in the file system, known by what they are and not by their names.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use glass_model::FileId;

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
    pub fn resolve(path: &Path) -> io::Result<Place> {
        let path = std::fs::canonicalize(path)?;
        Place::at(&path)
    }

    /// Looks at a path that must not end in a symbolic link.
    pub fn at(path: &Path) -> io::Result<Place> {
        let metadata = std::fs::symlink_metadata(path)?;
        if metadata.is_symlink() {
            return Err(io::Error::from_raw_os_error(
                rustix::io::Errno::LOOP.raw_os_error(),
            ));
        }
        Ok(Place {
            path: path.to_path_buf(),
            id: file_id(&metadata),
            is_dir: metadata.is_dir(),
        })
    }
}

/// Which file some metadata is of.
pub(crate) fn file_id(metadata: &Metadata) -> FileId {
    FileId {
        device: metadata.dev(),
        inode: metadata.ino(),
    }
}
