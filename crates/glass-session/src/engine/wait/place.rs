//! What a path means to an execution.

use glass_spawn::Launched;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use std::path::Path;

/// Whether something is there, as the processes of this launch see it: behind
/// walls, paths are theirs and not ours.
pub(super) fn exists(launched: Option<&Launched>, path: &Path) -> bool {
    match launched {
        Some(launched) if launched.init.is_some() => exists_behind_walls(launched, path),
        _ => path.symlink_metadata().is_ok(),
    }
}

/// Its links are followed inside, so that none leads to what is outside.
fn exists_behind_walls(launched: &Launched, path: &Path) -> bool {
    if !launched.child.is_alive() {
        return false;
    }
    let directory = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = format!("/proc/{}/root", launched.child.pid);
    let Ok(root) = rustix::fs::open(root, directory, Mode::empty()) else {
        return false;
    };
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    let found = rustix::fs::openat2(&root, path, flags, Mode::empty(), resolve);
    // The process whose root this was may have made place for another.
    found.is_ok() && launched.child.is_alive()
}
