//! Repositories that lie somewhere in a writable place: submodules, other
//! work trees, clones, bare ones.

use std::collections::VecDeque;
use std::fs::DirEntry;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

use super::repository::is_git_dir;

/// The most directories and entries looked at in one writable place, so that a
/// command does not wait. What lies beyond is protected only if it was found
/// before, and is not believed.
const DIRECTORIES_MAX: usize = 20_000;
const ENTRIES_MAX: usize = 200_000;

/// Directories full of files that others made, in which nobody commits.
const SKIPPED: &[&str] = &["node_modules", "__pycache__", ".venv"];

/// How deep walls are planned.
const DEPTH_MAX: usize = 32;

/// The most repositories.
const REPOSITORIES_MAX: usize = 256;

/// The most entries among which a repository's parts are looked for.
const MODULES_MAX: usize = 4096;

/// How much is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// Where people work: for walls, which are planned while somebody waits.
    Work,
    /// Everything, inside of repositories too: for what is to be believed.
    Everything,
}

/// What was found below a directory.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Nested {
    /// Paths of `.git`, whatever they are.
    pub dot_gits: Vec<PathBuf>,
    /// Directories that look like a repository by themselves.
    pub bare: Vec<PathBuf>,
    /// Something that should have been looked at and was not.
    pub unseen: Option<PathBuf>,
}

/// Looks for repositories in and below a directory, the nearest first. Those
/// that are `known` are found however much a command has put in the way.
pub(crate) fn find(root: &Path, known: &[PathBuf]) -> Nested {
    let mut found = search(root, Extent::Work);
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

/// Those that [`find`] finds by looking alone.
pub(crate) fn find_work(root: &Path) -> Nested {
    search(root, Extent::Work)
}

/// All repositories in and below a directory, and what was not looked at.
pub(crate) fn find_all(root: &Path) -> Nested {
    search(root, Extent::Everything)
}

/// The git directories of a repository's parts, which it keeps in itself and
/// enters without asking whose they are; none if there is too much to look at, or
/// something leads elsewhere.
pub(crate) fn modules(git_dir: &Path) -> Option<Vec<PathBuf>> {
    let (mut found, mut looked_at) = (Vec::new(), 0);
    let mut queue = vec![git_dir.join("modules")];
    while let Some(directory) = queue.pop() {
        // Those that are entered by their name alone may be links, too.
        if directory.is_symlink() {
            return None;
        }
        if is_git_dir(&directory) {
            queue.push(directory.join("modules"));
            found.push(directory);
            continue;
        }
        let entries = match std::fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if is_gone(error.kind()) => continue,
            Err(_) => return None,
        };
        for entry in entries {
            looked_at += 1;
            let entry = entry.ok().filter(|_| looked_at <= MODULES_MAX)?;
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => return None,
                Ok(kind) if kind.is_dir() => queue.push(entry.path()),
                Ok(_) => {}
                Err(error) if is_gone(error.kind()) => {}
                Err(_) => return None,
            }
        }
    }
    Some(found)
}

/// Directories that wait to be looked at.
struct Queue {
    extent: Extent,
    first: VecDeque<(PathBuf, usize)>,
    /// What seldom has any comes last, so that it is what a limit leaves out.
    last: VecDeque<(PathBuf, usize)>,
}

impl Queue {
    fn pop(&mut self) -> Option<(PathBuf, usize)> {
        self.first.pop_front().or_else(|| self.last.pop_front())
    }

    fn put_last(&mut self, path: PathBuf, depth: usize) {
        if self.extent == Extent::Everything {
            self.last.push_back((path, depth));
        }
    }
}

fn search(root: &Path, extent: Extent) -> Nested {
    search_within(root, extent, DIRECTORIES_MAX)
}

fn search_within(root: &Path, extent: Extent, directories_max: usize) -> Nested {
    let mut found = Nested::default();
    let mut queue = Queue {
        extent,
        first: VecDeque::from([(root.to_path_buf(), 0)]),
        last: VecDeque::new(),
    };
    let (mut looked_at, mut directories) = (0, 0);
    while let Some((directory, depth)) = queue.pop() {
        directories += 1;
        let too_many = looked_at > ENTRIES_MAX || directories > directories_max;
        if too_many || found.dot_gits.len() + found.bare.len() > REPOSITORIES_MAX {
            found.unseen.get_or_insert(directory);
            break;
        }
        looked_at += look_into(&directory, depth, &mut queue, &mut found);
    }
    found
}

/// Looks at one directory, and says how many entries it has.
fn look_into(directory: &Path, depth: usize, queue: &mut Queue, found: &mut Nested) -> usize {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => {
            let is_shut = error.kind() == ErrorKind::PermissionDenied && is_closed(directory);
            if !is_gone(error.kind()) && !is_shut {
                found.unseen.get_or_insert(directory.to_path_buf());
            }
            return 0;
        }
    };
    let (mut count, mut may_be_bare, mut below) = (0, false, Vec::new());
    for entry in entries {
        count += 1;
        let seen = entry.and_then(|entry| is_dir(&entry).map(|is_dir| (entry, is_dir)));
        let (Ok((entry, is_dir)), true) = (seen, count <= ENTRIES_MAX) else {
            found.unseen.get_or_insert(directory.to_path_buf());
            break;
        };
        let name = entry.file_name();
        let name = name.to_str();
        may_be_bare |= matches!(name, Some("HEAD" | "config"));
        if name == Some(".git") {
            found.dot_gits.push(entry.path());
        }
        match name {
            _ if !is_dir => {}
            Some(".git") => queue.put_last(entry.path(), depth + 1),
            Some(name) if SKIPPED.contains(&name) => queue.put_last(entry.path(), depth + 1),
            _ => below.push(entry.path()),
        }
    }
    let is_named = directory.file_name().is_some_and(|name| name == ".git");
    let is_bare = may_be_bare && !is_named && is_git_dir(directory);
    if is_bare {
        found.bare.push(directory.to_path_buf());
    }
    for path in below {
        match queue.extent {
            Extent::Everything if is_bare || is_named => queue.put_last(path, depth + 1),
            Extent::Everything => queue.first.push_back((path, depth + 1)),
            Extent::Work if !is_bare && depth < DEPTH_MAX => {
                queue.first.push_back((path, depth + 1));
            }
            Extent::Work => {}
        }
    }
    count
}

/// Whether an entry is a directory; one that is gone by now is none.
fn is_dir(entry: &DirEntry) -> std::io::Result<bool> {
    match entry.file_type() {
        Ok(kind) => Ok(kind.is_dir()),
        Err(error) if is_gone(error.kind()) => Ok(false),
        Err(error) => Err(error),
    }
}

fn is_gone(why: ErrorKind) -> bool {
    matches!(why, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Whether a directory is somebody else's and shut for us, and so for whoever
/// might have made something in it.
fn is_closed(directory: &Path) -> bool {
    let owner = directory.symlink_metadata().map(|found| found.uid());
    let is_theirs = owner.is_ok_and(|owner| owner != rustix::process::getuid().as_raw());
    is_theirs && rustix::fs::access(directory, Access::EXEC_OK).is_err()
}

#[cfg(test)]
mod tests {
    use super::{Extent, MODULES_MAX, find_all, modules, search_within};
    use std::path::Path;

    fn make(root: &Path, name: &str) {
        std::fs::create_dir_all(root.join(name)).unwrap();
    }

    #[test]
    fn nothing_is_left_out_of_a_whole_look() {
        let dir = tempfile::tempdir().unwrap();
        let deep = format!("{}.git", "d/".repeat(40));
        let names = [
            "node_modules/a/.git",
            ".venv/.git",
            ".git/objects/ab/.git",
            "config/x/.git",
            "HEAD/.git",
            deep.as_str(),
        ];
        for name in names {
            make(dir.path(), name);
        }
        let found = find_all(dir.path());
        assert_eq!(found.unseen, None);
        for name in names {
            assert!(found.dot_gits.contains(&dir.path().join(name)), "{name}");
        }
    }

    #[test]
    fn a_look_that_was_cut_short_says_so() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a", "b", ".git", "c/node_modules/.git"] {
            make(dir.path(), name);
        }
        let look = |directories| search_within(dir.path(), Extent::Everything, directories);
        // The root, three in it, and what comes last: both `.git` and the rest.
        assert_eq!(look(7).unseen, None);
        assert_eq!(look(7).dot_gits.len(), 2);
        for directories in 0..7 {
            assert!(look(directories).unseen.is_some(), "{directories}");
        }
    }

    #[test]
    fn parts_are_known_only_if_all_of_them_were_seen() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(modules(dir.path()), Some(Vec::new()));
        for name in [
            "a/b/objects",
            "a/b/refs",
            "a/b/modules/c/objects",
            "a/b/modules/c/refs",
        ] {
            make(dir.path(), &format!("modules/{name}"));
        }
        for name in ["a/b", "a/b/modules/c"] {
            std::fs::write(
                dir.path().join("modules").join(name).join("HEAD"),
                "ref: refs/x",
            )
            .unwrap();
        }
        let parts = ["modules/a/b", "modules/a/b/modules/c"].map(|name| dir.path().join(name));
        assert_eq!(modules(dir.path()), Some(parts.to_vec()));
        // One that is somewhere else.
        let link = dir.path().join("modules/a/link");
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), &link).unwrap();
        assert_eq!(modules(dir.path()), None);
        std::fs::remove_file(link).unwrap();
        // All of them, or those of a part.
        for name in ["modules", "modules/a/b/modules"] {
            let (place, aside) = (dir.path().join(name), dir.path().join("aside"));
            std::fs::rename(&place, &aside).unwrap();
            std::os::unix::fs::symlink(&aside, &place).unwrap();
            assert_eq!(modules(dir.path()), None, "{name}");
            std::fs::remove_file(&place).unwrap();
            std::fs::rename(&aside, &place).unwrap();
        }
        assert!(modules(dir.path()).is_some());
        // Behind so much else that it would not be seen.
        for number in 0..MODULES_MAX {
            std::fs::write(dir.path().join(format!("modules/{number}")), "").unwrap();
        }
        assert_eq!(modules(dir.path()), None);
    }

    #[test]
    fn a_name_that_is_too_long_to_be_opened_was_not_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let part = "d".repeat(200);
        let mut at = dir.path().to_path_buf();
        while at.as_os_str().len() < 3_800 {
            at.push(&part);
        }
        std::fs::create_dir_all(&at).unwrap();
        assert_eq!(find_all(dir.path()).unseen, None);
        let flags = rustix::fs::OFlags::DIRECTORY;
        let mut open = rustix::fs::open(&at, flags, rustix::fs::Mode::empty()).unwrap();
        for _ in 0..3 {
            rustix::fs::mkdirat(&open, part.as_str(), 0o755.into()).unwrap();
            let mode = rustix::fs::Mode::empty();
            open = rustix::fs::openat(&open, part.as_str(), flags, mode).unwrap();
        }
        assert!(find_all(dir.path()).unseen.is_some());
    }
}
