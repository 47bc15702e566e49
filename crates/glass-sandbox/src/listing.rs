//! What the directories of a tree hold, each read at most once: asking for sixty
//! files that are not there costs more than looking once at where they would be.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The most entries of one directory that are remembered. Of larger ones
/// nothing is known.
const ENTRIES_MAX: usize = 4096;

/// The listings of directories below one that exists.
pub(crate) struct Listings {
    top: PathBuf,
    /// Names in lower case; `None` where nothing could be learned.
    known: HashMap<PathBuf, Option<HashSet<Vec<u8>>>>,
}

impl Listings {
    pub(crate) fn below(top: &Path) -> Listings {
        Listings {
            top: top.to_path_buf(),
            known: HashMap::new(),
        }
    }

    /// Whether something of this name may be there. Only a `no` is certain:
    /// what a file system takes for the same name is its own affair, so letters
    /// are compared without their case, and names beyond ASCII not at all.
    pub(crate) fn may_hold(&mut self, path: &Path) -> bool {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return true;
        };
        let is_plain = path
            .components()
            .all(|part| part.as_os_str().is_ascii() && part.as_os_str() != OsStr::new(".."));
        if !is_plain || !parent.starts_with(&self.top) {
            return true;
        }
        if parent != self.top && !self.may_hold(parent) {
            return false;
        }
        if !self.known.contains_key(parent) {
            self.known.insert(parent.to_path_buf(), list(parent));
        }
        match &self.known[parent] {
            Some(names) => names.contains(&name.as_bytes().to_ascii_lowercase()),
            None => true,
        }
    }
}

fn list(directory: &Path) -> Option<HashSet<Vec<u8>>> {
    let mut names = HashSet::new();
    for entry in std::fs::read_dir(directory).ok()? {
        if names.len() == ENTRIES_MAX {
            return None;
        }
        names.insert(entry.ok()?.file_name().as_bytes().to_ascii_lowercase());
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::Listings;
    use std::path::Path;

    #[test]
    fn only_what_is_surely_missing_is_called_so() -> std::io::Result<()> {
        let home = tempfile::tempdir()?;
        let home = home.path();
        std::fs::create_dir_all(home.join(".Config/real"))?;
        std::fs::write(home.join("file"), "")?;
        std::os::unix::fs::symlink("/nowhere", home.join("link"))?;
        let mut listings = Listings::below(home);
        for there in [
            ".Config",
            ".config/real",
            "file",
            "link",
            ".Config/../x",
            "é",
        ] {
            assert!(listings.may_hold(&home.join(there)), "{there}");
        }
        for missing in [
            ".ssh",
            ".aws/credentials",
            ".Config/other",
            ".Config/other/deep",
        ] {
            assert!(!listings.may_hold(&home.join(missing)), "{missing}");
        }
        // What cannot be listed may hold anything.
        assert!(listings.may_hold(&home.join("file/below")));
        assert!(listings.may_hold(Path::new("/nowhere/at/all")));
        Ok(())
    }
}
