//! A plan while it is being made.

use std::io;
use std::path::{Component, Path, PathBuf};

use glass_model::SandboxKind;

use crate::git::Relevant;
use crate::layout::{Layout, Why};
use crate::{Effective, Facts, Place, Placeholder, Settings, Workspace};

/// What is known, and what has been decided so far.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    pub effective: &'a Effective,
    pub workspace: &'a Workspace,
    pub facts: &'a Facts,
    pub settings: &'a Settings,
    pub layout: Layout,
    pub placeholders: Vec<Placeholder>,
    pub notes: Vec<String>,
    /// What git's configurations said that the plan depends on.
    pub git_configs: Vec<(PathBuf, Relevant)>,
    /// Repositories that were found.
    pub repositories: Vec<PathBuf>,
}

impl Draft<'_> {
    /// Whether the workspace may be written.
    pub(crate) fn writes_workspace(&self) -> bool {
        self.effective.policy.kind == SandboxKind::WorkspaceReadWrite
    }

    /// The directories that were given to be written, without those that lie
    /// in another.
    pub(crate) fn writable_directories(&self) -> Vec<PathBuf> {
        let extras = self.effective.readwrite.iter().filter(|place| place.is_dir);
        let mut roots: Vec<PathBuf> = extras.map(|place| place.path.clone()).collect();
        if self.writes_workspace() {
            roots.push(self.workspace.path().to_path_buf());
        }
        roots.sort();
        roots.dedup_by(|later, earlier| later.starts_with(earlier));
        roots
    }

    /// Whether a path is Shellglass's own.
    pub(crate) fn is_own(&self, path: &Path) -> bool {
        self.facts.own.iter().any(|own| path.starts_with(own))
    }

    /// Protects what a path leads to from writing, if it could be written.
    pub(crate) fn protect_path(&mut self, path: &Path, why: Why) {
        if let Ok(place) = Place::resolve(path) {
            self.layout.protect(&place, why);
        }
    }

    /// Sees that a file can be neither changed nor made. False if something
    /// that cannot be protected is in its place.
    pub(crate) fn reserve_file(&mut self, path: &Path, text: &'static [u8], why: Why) -> bool {
        self.reserve(path, why, |path| Placeholder::file(path, text))
    }

    /// The same for a name that is to be a directory or nothing.
    pub(crate) fn reserve_directory(&mut self, path: &Path, why: Why) -> bool {
        self.reserve(path, why, Placeholder::directory)
    }

    fn reserve(
        &mut self,
        path: &Path,
        why: Why,
        make: impl Fn(&Path) -> io::Result<Placeholder>,
    ) -> bool {
        let Some((path, is_whole)) = locate(path) else {
            return false;
        };
        if !self.layout.is_writable(&path) || self.layout.is_covered(&path) {
            return true;
        }
        match Place::at(&path) {
            Ok(place) => {
                self.layout.protect(&place, why);
                // One that an earlier sandbox left behind is ours to remove.
                if let Ok(placeholder) = make(&path) {
                    self.placeholders.push(placeholder);
                }
                true
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let made = match is_whole {
                    true => make(&path),
                    // Where its directory is missing too, that is reserved.
                    false => Placeholder::directory(&path),
                };
                match made {
                    Ok(placeholder) => {
                        self.layout.protect(&placeholder.place(), why);
                        self.placeholders.push(placeholder);
                        true
                    }
                    // What we cannot make, a command cannot make either.
                    Err(error) => is_denial(&error),
                }
            }
            Err(_) => false,
        }
    }
}

fn is_denial(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
    )
}

/// Where a path that may not exist is, without symbolic links above it: the
/// path itself, or the first missing directory on the way to it.
fn locate(path: &Path) -> Option<(PathBuf, bool)> {
    let mut missing: Vec<Component<'_>> = Vec::new();
    let mut above = path.components();
    loop {
        missing.push(above.next_back()?);
        if let Ok(found) = std::fs::canonicalize(above.as_path()) {
            let first = missing.pop()?;
            let plain = |component: &Component<'_>| matches!(component, Component::Normal(_));
            if !plain(&first) || !missing.iter().all(plain) {
                return None;
            }
            return Some((found.join(first), missing.is_empty()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::locate;
    use std::path::Path;

    #[test]
    fn a_missing_path_is_found_as_far_as_it_goes() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::os::unix::fs::symlink(&root, root.join("link")).unwrap();
        let at = |text: &str| locate(&root.join(text));
        assert_eq!(at("a"), Some((root.join("a"), true)));
        assert_eq!(at("a/b/c"), Some((root.join("a"), false)));
        assert_eq!(at("link/a"), Some((root.join("a"), true)));
        assert_eq!(at("link"), Some((root.join("link"), true)));
        assert_eq!(at("a/../b"), None);
        assert_eq!(locate(Path::new("/")), None);
    }
}
