//! What every sandbox has: private places, secrets hidden, and what the
//! user's programs believe protected.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use glass_model::View;

use crate::draft::Draft;
use crate::layout::{Layout, Why};
use crate::{Place, Refusal};

/// Directories for temporary files.
const TMP: &[&str] = &["/tmp", "/var/tmp"];

/// Where daemons keep their sockets. A read-only mount does not stop
/// anybody from connecting to one.
const RUN: &[&str] = &["/run", "/var/run"];

/// What names of hosts are looked up with; it may lead into `/run`.
const RESOLVER: &str = "/etc/resolv.conf";

/// A system whose programs are found through a link in `/run`. There `/run`
/// stays, and what is in it is hidden one by one.
const RUN_WITH_PROGRAMS: &str = "/run/current-system";

/// Shared memory: writable by everybody, and so a place for temporary files.
const SHARED_MEMORY: &str = "/dev/shm";

/// Covers the places that every sandbox has for itself.
pub(crate) fn cover_private(draft: &mut Draft<'_>) {
    let disabled = draft.effective.policy.disable_tmp_write == Some(true);
    for path in TMP
        .iter()
        .map(Path::new)
        .filter(|path| is_plain_directory(path))
    {
        let view = match disabled {
            true => View::Empty,
            false => View::Other {
                source: bytes(&draft.facts.private_tmp),
            },
        };
        draft.layout.cover(path, view);
    }
    if disabled {
        draft.layout.cover(Path::new(SHARED_MEMORY), View::Empty);
    }
    for path in RUN
        .iter()
        .map(Path::new)
        .filter(|path| is_plain_directory(path))
    {
        if path.join("current-system") == Path::new(RUN_WITH_PROGRAMS)
            && Path::new(RUN_WITH_PROGRAMS).is_symlink()
        {
            hide_children(draft, path);
        } else {
            draft.layout.cover(path, View::Empty);
        }
    }
    if let Ok(place) = Place::resolve(Path::new(RESOLVER))
        && draft.layout.is_covered(&place.path)
    {
        draft.layout.put(&place, View::ReadOnly, Why::Private);
    }
}

fn hide_children(draft: &mut Draft<'_>, directory: &Path) {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    let kept = ["wrappers", "opengl-driver"];
    for entry in entries.flatten() {
        let keep = kept.iter().any(|name| entry.file_name() == *name);
        if let Ok(place) = Place::at(&entry.path())
            && !keep
        {
            draft.layout.put(&place, View::Hidden, Why::Private);
        }
    }
}

/// Shows the workspace and the further paths.
pub(crate) fn show_asked(draft: &mut Draft<'_>) {
    let effective = draft.effective;
    let view = match draft.writes_workspace() {
        true => View::Writable,
        false => View::ReadOnly,
    };
    draft
        .layout
        .put(&draft.workspace.root, view, Why::Workspace);
    for place in &effective.readwrite {
        draft.layout.put(place, View::Writable, Why::Extra);
    }
    for place in &effective.readonly {
        draft.layout.put(place, View::ReadOnly, Why::ExtraReadOnly);
    }
    // A read-only path in a writable one must not be renamed away.
    for place in &effective.readonly {
        draft.layout.pin(&place.path);
    }
}

/// Hides what lets somebody act as the user elsewhere.
pub(crate) fn hide_secrets(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    for place in draft.settings.hidden_places() {
        draft.workspace.check_beside(&place)?;
        draft.layout.hide(&place, Why::Secret);
    }
    Ok(())
}

/// Protects what the user's programs execute or believe later.
pub(crate) fn protect_believed(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    let settings = draft.settings;
    for path in settings.paths(&settings.readonly) {
        // Whoever works on exactly this asked for it by its name.
        let is_asked = |why| matches!(why, Why::Workspace | Why::Extra);
        let entry = Place::resolve(&path).ok();
        let entry = entry.and_then(|place| draft.layout.at(&place.path));
        if !entry.is_some_and(|entry| is_asked(entry.why)) {
            draft.protect_path(&path, Why::StartFile);
        }
    }
    if !draft.writes_workspace() {
        return Ok(());
    }
    let root = draft.workspace.path().to_path_buf();
    for name in &settings.workspace_readonly {
        draft.protect_path(&root.join(name), Why::StartFile);
    }
    for name in &settings.workspace_reserved {
        let path = root.join(name);
        if !draft.reserve_directory(&path, Why::Reserved) {
            let why = "it is a symbolic link, which a sandbox cannot protect".to_owned();
            return Err(Refusal::Path { path, why });
        }
    }
    Ok(())
}

/// Hides Shellglass's own directories, and shows what belongs to this session.
pub(crate) fn hide_own(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    let own: Vec<Place> = draft
        .facts
        .own
        .iter()
        .flat_map(|path| Place::resolve(path))
        .collect();
    for place in &own {
        if draft.workspace.path().starts_with(&place.path) {
            return Err(Refusal::Workspace {
                path: draft.workspace.path().to_path_buf(),
                why: "it lies in Shellglass's own directories".to_owned(),
            });
        }
        draft.layout.hide(place, Why::Own);
        draft.layout.clear_below(&place.path);
    }
    for path in &draft.facts.shown {
        let place = Place::resolve(path).map_err(|source| Refusal::Read {
            path: path.clone(),
            source,
        })?;
        draft.layout.put(&place, View::ReadOnly, Why::Shown);
    }
    Ok(())
}

/// A private directory for temporary files needs something for those mounts
/// to stand on that lie below its place. What is not directly below gets an
/// empty directory around it, so that nothing on the way can be renamed.
pub(crate) fn make_stands(layout: &mut Layout, private_tmp: &Path) -> Result<(), Refusal> {
    let covers: Vec<PathBuf> = layout
        .iter()
        .filter(|(_, entry)| matches!(entry.view, View::Other { .. }))
        .map(|(path, _)| path.to_path_buf())
        .collect();
    let inside: Vec<(PathBuf, bool)> = layout
        .iter()
        .filter(|(path, entry)| !covers.iter().any(|c| c == path) && entry.id.is_some())
        .map(|(path, entry)| (path.to_path_buf(), entry.is_dir))
        .collect();
    for (path, is_dir) in inside {
        let Some(cover) = covers.iter().find(|cover| path.starts_with(cover)) else {
            continue;
        };
        let Some(name) = path
            .strip_prefix(cover)
            .ok()
            .and_then(|rest| rest.iter().next())
        else {
            continue;
        };
        let first = cover.join(name);
        if first != path && layout.at(&first).is_none() {
            layout.cover(&first, View::Empty);
        }
        stand(&private_tmp.join(name), first != path || is_dir)?;
    }
    Ok(())
}

/// Makes an empty directory or file to mount on. The directory above is ours,
/// but commands can write to it: what is there is looked at, never followed.
fn stand(path: &Path, is_dir: bool) -> Result<(), Refusal> {
    let made = match is_dir {
        true => std::fs::create_dir(path),
        false => std::fs::File::create_new(path).map(drop),
    };
    let _ = made;
    let found = Place::at(path).map_err(|source| Refusal::Read {
        path: path.to_path_buf(),
        source,
    })?;
    if found.is_dir == is_dir {
        return Ok(());
    }
    Err(Refusal::Path {
        path: path.to_path_buf(),
        why: "something else is in the way".to_owned(),
    })
}

/// Whether a cover is a place for temporary files.
pub(crate) fn is_tmp(path: &Path) -> bool {
    let mut places = TMP.iter().chain([&SHARED_MEMORY]);
    places.any(|place| path == Path::new(place))
}

fn is_plain_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

/// Whether something is a socket.
pub(crate) fn is_socket(path: &Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|found| found.file_type().is_socket())
}

pub(crate) fn bytes(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().to_vec()
}
