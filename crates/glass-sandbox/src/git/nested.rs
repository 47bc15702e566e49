//! Repositories that lie somewhere in a writable place: submodules, other
//! work trees, clones, bare ones.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::repository::is_git_dir;

/// The most directories and entries looked at in one writable place, so that a
/// first command does not wait. What lies beyond is protected only if it was
/// found before, and `docs/sandbox.md` says so.
const DIRECTORIES_MAX: usize = 20_000;
const ENTRIES_MAX: usize = 200_000;

/// Directories full of files that others made, in which nobody commits.
const SKIPPED: &[&str] = &["node_modules", "__pycache__", ".venv"];

/// How deep is looked.
const DEPTH_MAX: usize = 8;

/// The most repositories.
const REPOSITORIES_MAX: usize = 256;

/// What was found below a directory.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Nested {
    /// Paths of `.git`, whatever they are.
    pub dot_gits: Vec<PathBuf>,
    /// Directories that look like a repository by themselves.
    pub bare: Vec<PathBuf>,
}

/// Looks for repositories in and below a directory, the nearest first. Those
/// that are `known` are found however much a command has put in the way.
pub(crate) fn find(root: &Path, known: &[PathBuf]) -> Nested {
    let mut found = search(root);
    for path in known.iter().filter(|path| path.starts_with(root)) {
        let list = match path.file_name().is_some_and(|name| name == ".git") {
            true => &mut found.dot_gits,
            false => &mut found.bare,
        };
        if !list.contains(path) && path.symlink_metadata().is_ok() {
            list.push(path.clone());
        }
    }
    found
}

/// All repositories in and below a directory.
pub(crate) fn find_all(root: &Path) -> Vec<PathBuf> {
    let Nested { dot_gits, bare } = search(root);
    dot_gits.into_iter().chain(bare).collect()
}

fn search(root: &Path) -> Nested {
    let mut found = Nested::default();
    let mut queue = VecDeque::from([(root.to_path_buf(), 0)]);
    let (mut looked_at, mut directories) = (0, 0);
    while let Some((directory, depth)) = queue.pop_front() {
        directories += 1;
        let Ok(entries) = std::fs::read_dir(&directory) else {
            continue;
        };
        let mut may_be_bare = false;
        let mut below = Vec::new();
        for entry in entries.flatten() {
            looked_at += 1;
            let name = entry.file_name();
            match name.to_str() {
                Some(".git") => {
                    found.dot_gits.push(entry.path());
                    continue;
                }
                Some("HEAD" | "config") => may_be_bare = true,
                Some(name) if SKIPPED.contains(&name) => continue,
                _ => {}
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                below.push(entry.path());
            }
        }
        let count = found.dot_gits.len() + found.bare.len();
        let too_many = looked_at > ENTRIES_MAX || directories > DIRECTORIES_MAX;
        if too_many || count > REPOSITORIES_MAX {
            break;
        }
        if may_be_bare && is_git_dir(&directory) {
            found.bare.push(directory);
        } else if depth < DEPTH_MAX {
            queue.extend(below.into_iter().map(|path| (path, depth + 1)));
        }
    }
    found
}
