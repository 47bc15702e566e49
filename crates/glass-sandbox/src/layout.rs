//! How the file system looks inside, while it is being decided.
//!
//! Invariants: an entry's ancestors come before it; between two entries at one
//! place the more important one stays; every directory between a writable
//! place and something protected in it is an entry itself, because a mount
//! point cannot be renamed away.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use glass_model::{FileId, Mount, View};

use crate::{Place, Refusal};

/// The most mounts of one sandbox.
pub(crate) const MOUNTS_MAX: usize = 4096;

/// Why something looks as it does. The order is the importance: at one place
/// the later one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Why {
    /// It leads to something protected, and must not be renamed.
    Pin,
    /// Every sandbox has its own.
    Private,
    /// Commits need it, although it lies outside of the workspace.
    Commit,
    /// It is secret.
    Secret,
    /// It is the workspace.
    Workspace,
    /// It was asked for.
    Extra,
    /// It was asked for, to be read only.
    ExtraReadOnly,
    /// A process outside listens on it.
    Socket,
    /// The user's programs execute or believe it.
    StartFile,
    /// Git executes or believes it.
    Git,
    /// Shellglass believes it.
    Reserved,
    /// It is to be ignored.
    Ignored,
    /// It is Shellglass's own.
    Own,
    /// It belongs to this session.
    Shown,
}

/// One place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub view: View,
    pub id: Option<FileId>,
    pub is_dir: bool,
    pub why: Why,
}

impl Entry {
    fn is_cover(&self) -> bool {
        matches!(
            self.view,
            View::Other { .. } | View::Empty | View::Scratch { .. }
        )
    }

    fn is_writable(&self) -> bool {
        matches!(
            self.view,
            View::Writable | View::Other { .. } | View::Scratch { .. }
        )
    }
}

/// All places that look different inside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    entries: BTreeMap<PathBuf, Entry>,
}

impl Layout {
    /// Shows a place in some way.
    pub(crate) fn put(&mut self, place: &Place, view: View, why: Why) {
        let entry = Entry {
            view,
            id: Some(place.id),
            is_dir: place.is_dir,
            why,
        };
        self.insert(place.path.clone(), entry);
    }

    /// Covers a directory with something that is not from the host.
    pub(crate) fn cover(&mut self, path: &Path, view: View) {
        let entry = Entry {
            view,
            id: None,
            is_dir: true,
            why: Why::Private,
        };
        self.insert(path.to_path_buf(), entry);
    }

    fn insert(&mut self, path: PathBuf, entry: Entry) {
        match self.entries.get(&path) {
            Some(there) if there.why > entry.why => {}
            _ => {
                self.entries.insert(path, entry);
            }
        }
    }

    /// Protects a place from writing, if it could be written.
    pub(crate) fn protect(&mut self, place: &Place, why: Why) {
        if self.is_writable(&place.path) && !self.is_covered(&place.path) {
            self.put(place, View::ReadOnly, why);
            self.close_below(&place.path);
            self.pin(&place.path);
        }
    }

    /// Takes out what we ourselves made writable below something that has
    /// become read-only.
    fn close_below(&mut self, path: &Path) {
        self.entries.retain(|at, entry| {
            let ours = matches!(entry.why, Why::Pin | Why::Commit);
            at == path || !at.starts_with(path) || !ours
        });
    }

    /// Hides a place, if it could be seen.
    pub(crate) fn hide(&mut self, place: &Place, why: Why) {
        let seen = match self.nearest(&place.path) {
            Some((_, entry)) => !entry.is_cover() && entry.view != View::Hidden,
            None => true,
        };
        if seen {
            self.put(place, View::Hidden, why);
            self.pin(&place.path);
        }
    }

    /// Makes a directory itself, and all above it up to the place that made it
    /// writable, impossible to rename.
    pub(crate) fn pin_directory(&mut self, place: &Place) {
        if self.is_writable(&place.path) && !self.is_covered(&place.path) {
            self.put(place, View::Writable, Why::Pin);
            self.pin(&place.path);
        }
    }

    /// Makes what leads to a place impossible to rename.
    pub(crate) fn pin(&mut self, path: &Path) {
        for above in path.ancestors().skip(1) {
            if self.entries.contains_key(above) || !self.is_writable(above) {
                return;
            }
            if self.is_covered(above) {
                return;
            }
            let Ok(place) = Place::at(above) else {
                return;
            };
            self.put(&place, View::Writable, Why::Pin);
        }
    }

    /// The entry that decides how a path looks.
    pub(crate) fn nearest(&self, path: &Path) -> Option<(&Path, &Entry)> {
        path.ancestors()
            .find_map(|above| self.entries.get_key_value(above))
            .map(|(path, entry)| (path.as_path(), entry))
    }

    /// The entry at exactly this path.
    pub(crate) fn at(&self, path: &Path) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// Whether a path can be written inside.
    pub(crate) fn is_writable(&self, path: &Path) -> bool {
        self.nearest(path)
            .is_some_and(|(_, entry)| entry.is_writable())
    }

    /// Whether a path's place on the host cannot be seen, because something of
    /// the sandbox's own is there.
    pub(crate) fn is_covered(&self, path: &Path) -> bool {
        self.nearest(path)
            .is_some_and(|(_, entry)| entry.is_cover())
    }

    /// Takes out everything below a path, except for what is shown last.
    pub(crate) fn clear_below(&mut self, path: &Path) {
        self.entries
            .retain(|at, entry| at == path || !at.starts_with(path) || entry.why == Why::Shown);
    }

    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// All entries, ancestors first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Path, &Entry)> {
        self.entries
            .iter()
            .map(|(path, entry)| (path.as_path(), entry))
    }

    /// The mounts, in order.
    pub(crate) fn mounts(&self) -> Result<Vec<Mount>, Refusal> {
        if self.entries.len() > MOUNTS_MAX {
            return Err(Refusal::TooMany {
                what: "mounts",
                max: MOUNTS_MAX,
            });
        }
        // The root itself is read-only from the start.
        let is_root = |path: &Path| path == Path::new("/");
        let mounts = self
            .iter()
            .filter(|(path, entry)| !(is_root(path) && entry.view == View::ReadOnly))
            .map(|(path, entry)| mount(path, entry));
        Ok(mounts.collect())
    }
}

/// An entry as the builder wants it.
fn mount(path: &Path, entry: &Entry) -> Mount {
    Mount {
        path: path.as_os_str().as_bytes().to_vec(),
        view: entry.view.clone(),
        expected: entry.id,
    }
}
