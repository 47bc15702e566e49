//! The workspace: the one directory that a sandbox is for.

use std::path::{Path, PathBuf};

use crate::pattern::matches_path;
use crate::place::{absolute, read_bounded};
use crate::{Place, Refusal, Settings};

/// Directories that are never workspaces by themselves, unless listed: what
/// they contain belongs to everybody.
const SHARED: &[&str] = &[
    "/", "/home", "/mnt", "/media", "/opt", "/root", "/run", "/srv", "/tmp", "/usr", "/var",
    "/var/lib", "/var/tmp", "/nix",
];

/// The system's own, with everything below.
const SYSTEM: &[&str] = &[
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/proc",
    "/sbin",
    "/sys",
    "/usr/bin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/sbin",
    "/usr/share",
];

/// How far above the working directory a git root is looked for.
const ANCESTORS_MAX: usize = 64;

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
        let cwd = directory(cwd)?;
        let root = match given.filter(|path| !path.as_os_str().is_empty()) {
            Some(path) => directory(&cwd.path.join(path))?,
            None => git_root(&cwd.path, settings).unwrap_or(cwd),
        };
        let unwritable = why_unwritable(&root.path, settings);
        Ok(Workspace { root, unwritable })
    }

    /// Refuses one that lies in a place that sandboxes hide.
    pub fn check_shown(&self, settings: &Settings) -> Result<(), Refusal> {
        let hidden = settings.hidden_places();
        hidden.iter().try_for_each(|place| self.check_beside(place))
    }

    pub(crate) fn check_beside(&self, hidden: &Place) -> Result<(), Refusal> {
        if !self.root.path.starts_with(&hidden.path) {
            return Ok(());
        }
        Err(Refusal::Workspace {
            why: format!("{} is hidden from sandboxes", hidden.path.display()),
            path: self.root.path.clone(),
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

fn directory(path: &Path) -> Result<Place, Refusal> {
    let read = |source| Refusal::Read {
        path: path.to_path_buf(),
        source,
    };
    let place = Place::resolve(path).map_err(read)?;
    if !place.is_dir {
        return Err(Refusal::Workspace {
            path: place.path,
            why: "it is not a directory".to_owned(),
        });
    }
    Ok(place)
}

/// The nearest git root that may be written. A repository around the whole
/// home directory is not what somebody below it works on.
fn git_root(cwd: &Path, settings: &Settings) -> Option<Place> {
    cwd.ancestors()
        .take(ANCESTORS_MAX)
        .filter(|path| is_git_root(path))
        .find(|path| why_unwritable(path, settings).is_none())
        .and_then(|path| Place::at(path).ok())
}

fn is_git_root(path: &Path) -> bool {
    let git = path.join(".git");
    match std::fs::metadata(&git) {
        Ok(found) if found.is_dir() => git.join("HEAD").symlink_metadata().is_ok(),
        Ok(found) if found.is_file() => {
            read_bounded(&git, 4096).is_ok_and(|text| text.starts_with(b"gitdir:"))
        }
        _ => false,
    }
}

/// Why a directory may not be written as a whole, if it may not.
pub(crate) fn why_unwritable(path: &Path, settings: &Settings) -> Option<String> {
    let home = settings.home_place();
    let listed: Vec<PathBuf> = settings
        .workspaces
        .iter()
        .map(|entry| absolute(entry, Path::new("/"), home.as_deref()))
        .collect();
    let is_listed = |path: &Path| listed.iter().any(|entry| matches_path(entry, path));
    if is_listed(path) {
        return None;
    }
    if path == Path::new("/") {
        return Some("it is the root of the file system".to_owned());
    }
    if let Some(home) = &home {
        if path == home {
            return Some("it is the home directory".to_owned());
        }
        if home.starts_with(path) {
            return Some("the home directory lies in it".to_owned());
        }
    }
    if !listed.is_empty() {
        let below = path.ancestors().any(is_listed);
        return (!below).then(|| "the configuration does not list it".to_owned());
    }
    let shared = SHARED.iter().any(|entry| path == Path::new(entry));
    let system = SYSTEM.iter().any(|entry| path.starts_with(entry));
    (shared || system).then(|| "it belongs to the system".to_owned())
}
