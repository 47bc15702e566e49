//! The daemon's process number, for whoever wants to stop it.

use crate::error::{Failure, Kind};
use std::fs;
use std::path::PathBuf;

/// A file that is there while we serve.
pub(super) struct PidFile(PathBuf);

impl PidFile {
    /// Writes our own number. The caller holds the journal's lock, so whatever
    /// stands there is of a daemon that has gone.
    pub(super) fn write(path: PathBuf) -> Result<PidFile, Failure> {
        match fs::write(&path, format!("{}\n", std::process::id())) {
            Ok(()) => Ok(PidFile(path)),
            Err(error) => {
                let message = format!("{} cannot be written: {error}", path.display());
                Err(Failure::new(Kind::Failed, message))
            }
        }
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        // Whoever reads a number that is left checks it anyway.
        let _ = fs::remove_file(&self.0);
    }
}
