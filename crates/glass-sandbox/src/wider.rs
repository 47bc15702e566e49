//! Whether some rights go beyond others. Component-wise on resolved paths,
//! right by right; a prefix of a name is never a path.

use std::path::Path;

use glass_model::SandboxKind;

use crate::ignored::Mapping;
use crate::{Effective, GitLevel};

/// What `asked` can do and `granted` cannot, if anything.
pub(crate) fn beyond(asked: &Effective, granted: &Effective) -> Option<String> {
    if granted.policy.kind == SandboxKind::InsecureNone {
        return None;
    }
    let asked_kind = rank(asked.policy.kind);
    if asked_kind > rank(granted.policy.kind) {
        return Some(match asked.policy.kind {
            SandboxKind::InsecureNone => "running without a sandbox".to_owned(),
            _ => "writing to the workspace".to_owned(),
        });
    }
    if asked.policy.network_access == Some(true) && granted.policy.network_access != Some(true) {
        return Some("reaching the network".to_owned());
    }
    if asked.policy.disable_tmp_write != Some(true)
        && granted.policy.disable_tmp_write == Some(true)
    {
        return Some("writing to /tmp".to_owned());
    }
    let can_write = asked_kind > 0 || !asked.readwrite.is_empty();
    if asked.git < granted.git && can_write {
        return Some(match asked.git {
            GitLevel::None => "writing git's hooks and configuration".to_owned(),
            _ => "writing to .git".to_owned(),
        });
    }
    beyond_paths(asked, granted)
}

fn beyond_paths(asked: &Effective, granted: &Effective) -> Option<String> {
    let wanted = asked.readwrite.iter().map(|place| place.path.as_path());
    // What the other protects inside something that both may write counts too.
    let kept = granted.readonly.iter().map(|place| place.path.as_path());
    // Two sandboxes of one session have one workspace; if not, it counts too.
    let root = asked.workspace.as_path();
    for path in wanted.chain(kept).chain([root]) {
        if writes(asked, path) && !writes(granted, path) {
            return Some(format!("writing to {}", path.display()));
        }
    }
    for path in &asked.revealed {
        let shown = granted.readonly.iter().chain(&granted.readwrite);
        let mut shown = shown.map(|place| place.path.as_path());
        if !shown.any(|place| path.starts_with(place)) {
            return Some(format!("reading {}", path.display()));
        }
    }
    let hides = Mapping::of_policy(&asked.policy);
    let must_hide = Mapping::of_policy(&granted.policy);
    (!hides.includes(&must_hide)).then(|| "reading files that are to be ignored".to_owned())
}

/// Whether these rights let a path be written: what is nearest above it
/// decides, and of two at the same place the stricter.
fn writes(rights: &Effective, path: &Path) -> bool {
    if rights.policy.kind == SandboxKind::InsecureNone {
        return true;
    }
    let root = (rights.policy.kind == SandboxKind::WorkspaceReadWrite)
        .then_some(rights.workspace.as_path());
    let writable = rights.readwrite.iter().map(|place| place.path.as_path());
    let writable = depth_of(writable.chain(root), path);
    let readonly = rights.readonly.iter().map(|place| place.path.as_path());
    writable > depth_of(readonly, path)
}

/// How deep the nearest of some places above a path is; 0 for none.
fn depth_of<'a>(places: impl Iterator<Item = &'a Path>, path: &Path) -> usize {
    let above = places.filter(|place| path.starts_with(place));
    above
        .map(|place| place.components().count())
        .max()
        .unwrap_or(0)
}

fn rank(kind: SandboxKind) -> u8 {
    match kind {
        SandboxKind::WorkspaceReadOnly => 0,
        SandboxKind::WorkspaceReadWrite | SandboxKind::Unspecified => 1,
        SandboxKind::InsecureNone => 2,
    }
}
