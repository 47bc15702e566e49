//! What a `.git` resolves to.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::config::relevant;
use crate::Place;
use crate::place::read_bounded;

/// How much of a configuration is read to know it for git's.
const CONFIG_BYTES_MAX: u64 = 1 << 20;

/// The longest file that holds nothing but a path.
const POINTER_BYTES_MAX: u64 = 8192;

/// A repository, or a work tree of one.
#[derive(Clone, Debug)]
pub(crate) struct Repository {
    /// The `.git` of the work tree; none for a bare repository.
    pub dot_git: Option<Place>,
    /// Where this work tree's own state is.
    pub git_dir: PathBuf,
    /// Where objects, references, hooks and configuration are.
    pub common_dir: PathBuf,
}

/// What is at a path where a `.git` may be.
#[derive(Debug)]
pub(crate) enum Found {
    /// Nothing, or nothing that git would take for a repository.
    Nothing,
    /// A symbolic link. Git follows it, and nothing can be mounted on it.
    Link,
    /// A repository.
    Repository(Repository),
}

impl Repository {
    /// Looks at a path where a `.git` may be.
    pub(crate) fn find(dot_git: &Path) -> Found {
        let Ok(metadata) = std::fs::symlink_metadata(dot_git) else {
            return Found::Nothing;
        };
        if metadata.is_symlink() {
            return Found::Link;
        }
        let Ok(place) = Place::at(dot_git) else {
            return Found::Nothing;
        };
        let git_dir = if place.is_dir {
            Some(dot_git.to_path_buf())
        } else {
            pointer(dot_git, b"gitdir:").and_then(|path| std::fs::canonicalize(path).ok())
        };
        // A pointer that leads nowhere is still a pointer, and is protected.
        let git_dir = git_dir.unwrap_or_else(|| dot_git.to_path_buf());
        Found::Repository(Repository {
            common_dir: common_dir(&git_dir),
            dot_git: Some(place),
            git_dir,
        })
    }

    /// A repository without a work tree of its own.
    pub(crate) fn bare(git_dir: &Path) -> Repository {
        Repository {
            dot_git: None,
            git_dir: git_dir.to_path_buf(),
            common_dir: common_dir(git_dir),
        }
    }

    /// The directory that it is checked out in, if any.
    pub(crate) fn work_tree(&self) -> Option<&Path> {
        self.dot_git.as_ref().and_then(|place| place.path.parent())
    }

    /// Whether `.git` is a file that points elsewhere.
    pub(crate) fn is_pointer(&self) -> bool {
        self.dot_git.as_ref().is_some_and(|place| !place.is_dir)
    }

    /// Whether the place that `.git` points to says that it belongs to this
    /// work tree. A pointer alone proves nothing: anybody can write one.
    pub(crate) fn belongs_here(&self) -> bool {
        let (Some(dot_git), Some(work_tree)) = (&self.dot_git, self.work_tree()) else {
            return false;
        };
        let back = pointer(&self.git_dir.join("gitdir"), b"");
        let back = back.and_then(|path| std::fs::canonicalize(path).ok());
        if back.as_deref() == Some(dot_git.path.as_path()) {
            return true;
        }
        let config = relevant(&self.git_dir.join("config"));
        let tree = config.worktree.map(|path| self.git_dir.join(path));
        let tree = tree.and_then(|path| std::fs::canonicalize(path).ok());
        tree.as_deref() == Some(work_tree)
    }

    /// Other object stores that this one borrows from, directly.
    pub(crate) fn alternates(&self) -> Vec<PathBuf> {
        let objects = self.common_dir.join("objects");
        let Ok(bytes) = read_bounded(&objects.join("info/alternates"), POINTER_BYTES_MAX) else {
            return Vec::new();
        };
        let lines = bytes.split(|byte| *byte == b'\n');
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
        let paths = lines.map(|line| objects.join(OsStr::from_bytes(line)));
        paths
            .filter_map(|path| std::fs::canonicalize(path).ok())
            .collect()
    }
}

/// The common directory of a git directory.
pub(crate) fn common_dir(git_dir: &Path) -> PathBuf {
    pointer(&git_dir.join("commondir"), b"")
        .and_then(|path| std::fs::canonicalize(path).ok())
        .unwrap_or_else(|| git_dir.to_path_buf())
}

/// Whether a directory is git's, or would be with little changed. A command may
/// rename `HEAD` and all the rest that git goes by, and have it back when nobody
/// looks; only what a mask holds in its place tells.
pub(crate) fn is_git_dir(path: &Path) -> bool {
    let has = |name: &str| path.join(name).symlink_metadata().is_ok();
    let is_named = path.file_name().is_some_and(|name| name == ".git");
    is_named
        || has("commondir")
        || (has("HEAD") && has("objects") && has("refs"))
        || has_git_config(path)
}

/// Whether there is a configuration as every repository has it.
fn has_git_config(path: &Path) -> bool {
    const WORD: &[u8] = b"repositoryformatversion";
    let config = read_bounded(&path.join("config"), CONFIG_BYTES_MAX);
    config.is_ok_and(|text| text.windows(WORD.len()).any(|part| part == WORD))
}

/// The path in a file that holds one, relative to where the file is.
fn pointer(file: &Path, prefix: &[u8]) -> Option<PathBuf> {
    let bytes = read_bounded(file, POINTER_BYTES_MAX).ok()?;
    let line = bytes.strip_prefix(prefix)?;
    let line = line.trim_ascii();
    let path = Path::new(OsStr::from_bytes(line));
    (!line.is_empty() && !line.contains(&0)).then(|| file.parent().map(|dir| dir.join(path)))?
}
