//! What can be had without namespaces: a command that reads, and writes
//! nowhere but in a directory of its own.
//!
//! Landlock only ever adds rights, so nothing can be hidden below what is
//! readable nor protected below what is writable. What needs that is refused.
//! Secrets are hidden by naming everything else: here a read-only mount says
//! that something can be read at all.

use std::path::PathBuf;

use glass_model::{SandboxKind, View, WallBuild, Walls};

use crate::draft::Draft;
use crate::ignored::{Mapping, Rules};
use crate::layout::Why;
use crate::{Place, Refusal};

/// The most places that are named one by one as readable.
const READABLE_MAX: usize = 4096;

/// Decides the walls without namespaces.
pub(crate) fn make(draft: &mut Draft<'_>, network: bool) -> Result<Walls, Refusal> {
    let policy = &draft.effective.policy;
    if policy.kind != SandboxKind::WorkspaceReadOnly {
        return Err(refuse("a writable workspace"));
    }
    if !draft.effective.readwrite.is_empty() {
        return Err(refuse("a further writable path"));
    }
    if network {
        // The daemon's own port could be reached.
        return Err(refuse("the network"));
    }
    let rules = Rules::read(&Mapping::of_policy(policy), draft.workspace)?;
    if !rules.is_empty() {
        return Err(refuse("an ignore list"));
    }
    if !draft.effective.revealed.is_empty() {
        return Err(refuse("reading what is hidden"));
    }
    if policy.disable_tmp_write != Some(true) {
        let place = Place::resolve(&draft.facts.private_tmp).map_err(|source| Refusal::Read {
            path: draft.facts.private_tmp.clone(),
            source,
        })?;
        draft.layout.put(&place, View::Writable, Why::Private);
    }
    for path in readable(draft)? {
        if let Ok(place) = Place::at(&path) {
            draft.layout.put(&place, View::ReadOnly, Why::Private);
        }
    }
    Ok(Walls {
        build: WallBuild::LandlockOnly,
        mounts: draft.layout.mounts()?,
        network,
        refuses_repositories: false,
    })
}

fn refuse(what: &str) -> Refusal {
    Refusal::Unsupported {
        what: what.to_owned(),
        hint: "without user namespaces only a read-only sandbox without network can be had: \
               enable unprivileged user namespaces (see `shellglass doctor`), or ask for a \
               read-only sandbox"
            .to_owned(),
    }
}

/// Everything that may be read, so that secrets are not among it: beside each
/// hidden place, and beside each directory on the way to it, all the others.
fn readable(draft: &Draft<'_>) -> Result<Vec<PathBuf>, Refusal> {
    let own = draft.facts.own.iter().flat_map(|path| Place::resolve(path));
    let mut hidden: Vec<PathBuf> = own.map(|place| place.path).collect();
    hidden.extend(
        draft
            .settings
            .hidden_places()
            .into_iter()
            .map(|place| place.path),
    );
    let mut found: Vec<PathBuf> = draft.facts.shown.clone();
    let mut queue = vec![PathBuf::from("/")];
    while let Some(directory) = queue.pop() {
        let Ok(entries) = std::fs::read_dir(&directory) else {
            continue;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            if hidden.contains(&path) || entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                continue;
            }
            match hidden.iter().any(|place| place.starts_with(&path)) {
                true => queue.push(path),
                false => found.push(path),
            }
            if found.len() > READABLE_MAX {
                return Err(Refusal::TooMany {
                    what: "readable places",
                    max: READABLE_MAX,
                });
            }
        }
    }
    Ok(found)
}
