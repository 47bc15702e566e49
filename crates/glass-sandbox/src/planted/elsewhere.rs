//! Places that no command of a session could write to, for git to believe what
//! is in them as ever while it believes nothing new elsewhere.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::linked;

/// The most directories that are named beside the ways to the writable ones.
const BESIDE_MAX: usize = 512;

/// The words for git that stand for everything but what is below these roots:
/// the directories above them, and all that lies beside the ways to them.
/// Before version 2.46 git understands only some of them, and refuses the rest.
///
/// Nothing where the same files can be had under another name.
pub(super) fn elsewhere(roots: &BTreeSet<PathBuf>) -> Vec<String> {
    let mounts = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let mounts = Mount::all(&mounts);
    if roots.is_empty() || roots.iter().any(|root| has_other_names(root, &mounts)) {
        return Vec::new();
    }
    all_but(roots)
}

fn all_but(roots: &BTreeSet<PathBuf>) -> Vec<String> {
    let above: BTreeSet<&Path> = roots
        .iter()
        .flat_map(|root| root.ancestors().skip(1))
        .filter(|above| !roots.iter().any(|root| above.starts_with(root)))
        .collect();
    let mut words = Vec::new();
    for directory in above.iter().filter(|above| leads_nowhere(above, roots)) {
        words.extend(directory.to_str().map(str::to_owned));
    }
    let beside = above.iter().flat_map(|above| directories(above));
    let beside = beside.filter(|path| !roots.contains(path) && !above.contains(path.as_path()));
    for path in beside.take(BESIDE_MAX) {
        if let Some(path) = path.to_str() {
            words.extend([path.to_owned(), format!("{path}/*")]);
        }
    }
    words
}

/// Whether a repository that is there lists none of its parts in these roots.
fn leads_nowhere(directory: &Path, roots: &BTreeSet<PathBuf>) -> bool {
    let dot_git = directory.join(".git");
    dot_git.symlink_metadata().is_ok()
        && linked(&dot_git).is_some_and(|links| {
            let is_in = |link: &PathBuf| roots.iter().any(|root| link.starts_with(root));
            !links.iter().any(is_in)
        })
}

/// The directories in one, by their own names: a link may lead anywhere.
fn directories(above: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(above).into_iter().flatten().flatten();
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut found: Vec<PathBuf> = entries.take(BESIDE_MAX).map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// A line of `/proc/self/mountinfo`.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    device: Vec<u8>,
    /// Which directory of the file system it shows.
    shown: PathBuf,
    at: PathBuf,
}

impl Mount {
    fn all(text: &[u8]) -> Vec<Mount> {
        let lines = text.split(|byte| *byte == b'\n');
        lines.filter_map(Mount::parse).collect()
    }

    fn parse(line: &[u8]) -> Option<Mount> {
        let mut words = line.split(|byte| *byte == b' ').skip(2);
        let device = words.next()?.to_vec();
        let mut path = || words.next().map(unescaped);
        let (shown, at) = (path()?, path()?);
        Some(Mount { device, shown, at })
    }
}

/// A path in which some bytes are written as three octal digits.
fn unescaped(text: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let digits = after
            .get(..3)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|_| *first == b'\\');
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    std::ffi::OsString::from_vec(bytes).into()
}

/// Whether some of what is below a directory is to be found elsewhere too.
fn has_other_names(root: &Path, mounts: &[Mount]) -> bool {
    let around = mounts.iter().enumerate();
    let around = around.filter(|(_, mount)| root.starts_with(&mount.at));
    // Of those on one directory the last is on top.
    let around = around.max_by_key(|(number, mount)| (mount.at.as_os_str().len(), *number));
    let Some((number, around)) = around else {
        return true;
    };
    let Ok(rest) = root.strip_prefix(&around.at) else {
        return true;
    };
    let shown = around.shown.join(rest);
    mounts.iter().enumerate().any(|(other, mount)| {
        let overlaps = mount.shown.starts_with(&shown) || shown.starts_with(&mount.shown);
        other != number && mount.device == around.device && overlaps && !mount.at.starts_with(root)
    })
}

#[cfg(test)]
mod tests {
    use super::{Mount, all_but, has_other_names};
    use std::collections::BTreeSet;
    use std::path::Path;

    fn is_alone(root: &str, mounts: &str) -> bool {
        !has_other_names(Path::new(root), &Mount::all(mounts.as_bytes()))
    }

    #[test]
    fn a_mount_of_the_same_files_is_seen() {
        let disk = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:5 / /proc rw - proc proc rw\n";
        assert!(is_alone("/home/me/work", disk));
        for (line, alone) in [
            ("3 1 8:1 /home/me/work /mnt rw - ext4 x rw", false),
            ("3 1 8:1 /home/me /mnt rw - ext4 x rw", false),
            ("3 1 8:1 /home/me/work/sub /mnt rw - ext4 x rw", false),
            ("3 1 8:1 /home/me/work-2 /mnt rw - ext4 x rw", true),
            (
                "3 1 8:1 /home/me/work/sub /home/me/work/in rw - ext4 x rw",
                true,
            ),
            ("3 1 8:2 /home/me/work /mnt rw - ext4 x rw", true),
        ] {
            assert_eq!(
                is_alone("/home/me/work", &format!("{disk}{line}\n")),
                alone,
                "{line}"
            );
        }
        let spaced = "1 0 8:1 / / rw\n2 1 8:2 / /a\\040b rw\n3 1 8:2 /w /c rw\n";
        assert!(!is_alone("/a b/w", spaced));
        assert!(is_alone("/a b/x", spaced));
        assert!(!is_alone("/anything", ""));
    }

    #[test]
    fn what_is_beside_is_named_and_no_link() {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let dir = dir.path().canonicalize().unwrap();
        for name in ["a/root/in", "a/beside", "b"] {
            std::fs::create_dir_all(dir.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(dir.join("a/root"), dir.join("link")).unwrap();
        let words = all_but(&BTreeSet::from([dir.join("a/root")]));
        let word = |name: &str| format!("{}/{name}", dir.display());
        for name in ["a/beside", "a/beside/*", "b", "b/*"] {
            assert!(words.contains(&word(name)), "{name}: {words:?}");
        }
        let reaches = |word: &String| {
            let word = word.strip_suffix("/*").unwrap_or(word);
            Path::new(word).starts_with(dir.join("a/root")) || word.ends_with("/link")
        };
        assert!(!words.iter().any(reaches), "{words:?}");
        assert!(!words.contains(&word("a/*")), "{words:?}");
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
            has_other_names(Path::new("/a"), &Mount::all(&bytes));
        }
    }
}
