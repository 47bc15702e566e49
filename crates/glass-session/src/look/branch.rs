//! Which git branch a directory is on, from git's own files.

use super::reftable::{self, Head};
use rustix::fs::{FileType, Mode, OFlags};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Bytes read of a file of git's.
const FILE_BYTES_MAX: u64 = 4096;

/// Directories above that are looked at.
const DEPTH_MAX: usize = 64;

/// Characters of a commit that stand for it.
const COMMIT_CHARS: usize = 8;

/// What HEAD has where the references are in reftables.
const ELSEWHERE: &str = "ref: refs/heads/.invalid";

/// The branch, or the beginning of the commit where there is none; empty outside
/// of a repository.
pub(super) fn branch(directory: &Path) -> String {
    let mut above = directory.ancestors().take(DEPTH_MAX);
    let git = above.find_map(|directory| git_directory(&directory.join(".git")));
    let head = git.and_then(|git| match read(&git.join("HEAD"))? {
        head if head.trim() == ELSEWHERE => from_tables(&git.join("reftable")),
        head => Some(head),
    });
    head.map_or_else(String::new, |head| name(&head))
}

/// What HEAD would have in a file of its own.
fn from_tables(place: &Path) -> Option<String> {
    let list = read(&place.join("tables.list"))?;
    let mut said = reftable::tables(&list).filter_map(|name| {
        let table = read_bytes(&place.join(name), reftable::TABLE_BYTES_MAX)?;
        reftable::head(&table)
    });
    match said.next()? {
        Head::Reference(target) => Some(format!("ref: {target}")),
        Head::Commit(commit) => Some(commit),
        Head::Gone => None,
    }
}

/// The repository itself, also where a file says where it is.
fn git_directory(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        return path
            .join("HEAD")
            .symlink_metadata()
            .is_ok()
            .then(|| path.to_owned());
    }
    let text = read(path)?;
    let target = Path::new(text.trim_end().strip_prefix("gitdir: ")?);
    // A relative one is meant from where the file is.
    Some(path.parent()?.join(target))
}

fn name(head: &str) -> String {
    let head = head.trim();
    if let Some(reference) = head.strip_prefix("ref: ") {
        let branch = reference.strip_prefix("refs/heads/").unwrap_or(reference);
        return branch.chars().filter(|one| !one.is_control()).collect();
    }
    let is_commit = head.len() >= COMMIT_CHARS && head.bytes().all(|one| one.is_ascii_hexdigit());
    match is_commit {
        true => head.chars().take(COMMIT_CHARS).collect(),
        false => String::new(),
    }
}

fn read(path: &Path) -> Option<String> {
    String::from_utf8(read_bytes(path, FILE_BYTES_MAX)?).ok()
}

/// The beginning of a plain file; anything else, such as a pipe, would be waited for.
fn read_bytes(path: &Path, bytes_max: u64) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    let about = rustix::fs::fstat(&file).ok()?;
    if FileType::from_raw_mode(about.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut bytes = Vec::new();
    let mut file = std::fs::File::from(file).take(bytes_max);
    file.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{branch, name};
    use std::fs;

    #[test]
    fn a_head_names_a_branch_or_a_commit() {
        assert_eq!(name("ref: refs/heads/feature/x\n"), "feature/x");
        assert_eq!(
            name("0123456789abcdef0123456789abcdef01234567\n"),
            "01234567"
        );
        assert_eq!(name("nonsense"), "");
        assert_eq!(name(""), "");
    }

    #[test]
    fn a_directory_is_on_the_branch_of_its_repository() {
        let root = tempfile::tempdir().expect("a directory");
        let (main, tree) = (root.path().join("main"), root.path().join("tree"));
        let below = main.join("a/b");
        fs::create_dir_all(&below).expect("made");
        fs::create_dir_all(main.join(".git/worktrees/tree")).expect("made");
        fs::write(main.join(".git/HEAD"), "ref: refs/heads/main\n").expect("written");
        fs::write(
            main.join(".git/worktrees/tree/HEAD"),
            "ref: refs/heads/side\n",
        )
        .expect("written");
        fs::create_dir_all(&tree).expect("made");
        fs::write(tree.join(".git"), "gitdir: ../main/.git/worktrees/tree\n").expect("written");
        assert_eq!(branch(&below), "main");
        assert_eq!(branch(&tree), "side");
        assert_eq!(
            branch(root.path()),
            branch(root.path().parent().expect("a parent"))
        );
    }
}
