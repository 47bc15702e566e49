//! The workspace: the one directory that a sandbox is for.

use std::path::{Path, PathBuf};

use crate::{Place, Refusal, Settings};

/// A workspace, as it was when it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// Its directory.
    pub root: Place,
    /// Why it may not be written, if it may not.
    pub unwritable: Option<String>,
}

impl Workspace {
    /// Finds the workspace: the one given, or the git root above the working
    /// directory, or that directory.
    pub fn find(
        given: Option<&Path>,
        cwd: &Path,
        settings: &Settings,
    ) -> Result<Workspace, Refusal> {
        let _ = settings;
        let path = given.unwrap_or(cwd);
        let root = Place::resolve(path).map_err(|source| Refusal::Read {
            path: path.to_path_buf(),
            source,
        })?;
        Ok(Workspace {
            root,
            unwritable: None,
        })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.root.path
    }

    /// Whether a resolved path is the workspace or lies in it.
    pub fn contains(&self, resolved: &Path) -> bool {
        resolved.starts_with(&self.root.path)
    }
}

/// A path as it was given, made absolute against a base.
pub(crate) fn absolute(path: &str, base: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ if path == "~" => home.unwrap_or(base).to_path_buf(),
        _ => base.join(path),
    }
}
