//! Repositories that were seen in workspaces. What was protected once stays
//! so, whatever a command puts in the way of the next look.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The most that are remembered; beyond, new ones are only found by looking.
const REPOSITORIES_MAX: usize = 4096;

/// All of them, of all sessions.
#[derive(Default)]
pub(crate) struct Repositories(Mutex<BTreeSet<PathBuf>>);

impl Repositories {
    /// Those that are known.
    pub(crate) fn known(&self) -> Vec<PathBuf> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().cloned().collect()
    }

    /// Keeps in mind what was found.
    pub(crate) fn learn(&self, found: &[PathBuf]) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() + found.len() > REPOSITORIES_MAX {
            known.retain(|path| path.symlink_metadata().is_ok());
        }
        let room = REPOSITORIES_MAX.saturating_sub(known.len());
        known.extend(found.iter().take(room).cloned());
    }
}
