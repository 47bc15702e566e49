//! Things made so that a mask has something to stand on.
//!
//! In a work tree they are empty directories: git neither shows nor adds
//! those, no program takes one for a configuration, and taking one away can
//! never take anything with it. In `.git` they are what git reads there.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use glass_model::FileId;

use crate::Place;
use crate::place::{file_id, read_bounded};

/// Something that we made where there was nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// Where it is.
    pub path: PathBuf,
    /// Which file it is.
    pub id: FileId,
    /// What is in it; none for a directory.
    content: Option<&'static [u8]>,
}

impl Placeholder {
    /// Makes an empty directory, or finds the one that an earlier sandbox
    /// made.
    pub(crate) fn directory(path: &Path) -> io::Result<Placeholder> {
        match DirBuilder::new().mode(0o755).create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let place = Place::at(path)?;
        if !place.is_dir || std::fs::read_dir(path)?.next().is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(Placeholder {
            path: place.path,
            id: place.id,
            content: None,
        })
    }

    /// Makes a file, or finds the one that an earlier sandbox made.
    pub(crate) fn file(path: &Path, content: &'static [u8]) -> io::Result<Placeholder> {
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o644)
            .open(path);
        match made {
            Ok(mut file) => file.write_all(content)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let place = Place::at(path)?;
        if read_bounded(path, content.len() as u64).ok().as_deref() != Some(content) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(Placeholder {
            path: place.path,
            id: place.id,
            content: Some(content),
        })
    }

    /// The place to put a mask on.
    pub(crate) fn place(&self) -> Place {
        Place {
            path: self.path.clone(),
            id: self.id,
            is_dir: self.content.is_none(),
        }
    }

    /// Takes it away again, if it still is what we made. To be called when no
    /// sandbox that has it in its plan lives any more.
    pub fn remove(&self) {
        let Some(content) = self.content else {
            // A directory with something in it stays by itself. One that was
            // removed and made again is as empty as ours.
            let _ = std::fs::remove_dir(&self.path);
            return;
        };
        let Ok(metadata) = std::fs::symlink_metadata(&self.path) else {
            return;
        };
        let is_ours = metadata.is_file() && file_id(&metadata) == self.id && metadata.nlink() == 1;
        let unchanged = read_bounded(&self.path, content.len() as u64).ok();
        if is_ours && unchanged.as_deref() == Some(content) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Placeholder;
    use std::fs;

    #[test]
    fn a_placeholder_goes_as_it_came() {
        let dir = tempfile::tempdir().unwrap();
        let made = Placeholder::directory(&dir.path().join("d")).unwrap();
        let again = Placeholder::directory(&dir.path().join("d")).unwrap();
        assert_eq!(made, again);
        let file = Placeholder::file(&dir.path().join("f"), b".\n").unwrap();
        made.remove();
        file.remove();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_somebody_else_wrote_stays() {
        let dir = tempfile::tempdir().unwrap();
        let made = Placeholder::directory(&dir.path().join("d")).unwrap();
        let file = Placeholder::file(&dir.path().join("f"), b"").unwrap();
        fs::write(dir.path().join("d/x"), "x").unwrap();
        fs::write(dir.path().join("f"), "x").unwrap();
        made.remove();
        file.remove();
        assert!(dir.path().join("d/x").exists());
        assert!(dir.path().join("f").exists());
    }

    #[test]
    fn something_else_in_its_place_is_no_placeholder() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("f"), "mine").unwrap();
        assert!(Placeholder::directory(&dir.path().join("f")).is_err());
        assert!(Placeholder::file(&dir.path().join("f"), b"").is_err());
    }
}
