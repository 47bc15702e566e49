//! The keeper's children that this session has made.

use glass_model::LaunchId;
use glass_spawn::Launched;
use std::collections::HashMap;

/// All children whose descriptors the keeper still holds for us.
#[derive(Default)]
pub(super) struct Launches(HashMap<LaunchId, Entry>);

struct Entry {
    launched: Launched,
    exited: bool,
}

impl Launches {
    pub(super) fn add(&mut self, launched: Launched) {
        self.0.insert(
            launched.id,
            Entry {
                launched,
                exited: false,
            },
        );
    }

    pub(super) fn exited(&mut self, id: LaunchId) {
        if let Some(entry) = self.0.get_mut(&id) {
            entry.exited = true;
        }
    }

    pub(super) fn all(&self) -> Vec<Launched> {
        self.0
            .values()
            .map(|entry| entry.launched.clone())
            .collect()
    }

    /// Removes the children that have ended and that nothing here uses.
    pub(super) fn take_unused(&mut self, used: impl Fn(LaunchId) -> bool) -> Vec<LaunchId> {
        let mut unused = Vec::new();
        self.0.retain(|id, entry| {
            let keep = !entry.exited || used(*id);
            if !keep {
                unused.push(*id);
            }
            keep
        });
        unused
    }

    pub(super) fn take_all(&mut self) -> Vec<LaunchId> {
        self.0.drain().map(|(id, _)| id).collect()
    }
}
