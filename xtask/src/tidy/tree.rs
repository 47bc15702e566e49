//! The repository's own text files, read once.

use std::fs;
use std::io;
use std::path::Path;

/// Folders that are made and not written.
const MADE_FOLDERS: &[&str] = &[
    "target",
    ".git",
    ".tools",
    "node_modules",
    "__pycache__",
    "dist",
];

/// Largest file that is looked at, in bytes; what is larger is data.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// One text file.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// Its path below the root, with `/`.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// All text files of the repository, by path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// In order of their paths.
    pub files: Vec<File>,
}

impl Tree {
    /// Reads every text file below `root`. Files that are not UTF-8 are data
    /// and left out.
    pub(crate) fn read(root: &Path) -> io::Result<Tree> {
        let mut tree = Tree::default();
        tree.collect(root, "")?;
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }

    fn collect(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if prefix.is_empty() {
                name.clone()
            } else {
                format!("{prefix}/{name}")
            };
            let kind = entry.file_type()?;
            if kind.is_dir() {
                if !MADE_FOLDERS.contains(&name.as_str()) {
                    self.collect(&entry.path(), &path)?;
                }
            } else if kind.is_file()
                && entry.metadata()?.len() <= FILE_BYTES_MAX
                && let Ok(text) = fs::read_to_string(entry.path())
            {
                self.files.push(File { path, text });
            }
        }
        Ok(())
    }

    /// The file at this path.
    pub(crate) fn get(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// All Rust files.
    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    /// A tree made of these files, for tests.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Tree {
        let files = files
            .iter()
            .map(|(path, text)| File {
                path: (*path).to_owned(),
                text: (*text).to_owned(),
            })
            .collect();
        Tree { files }
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;
    use std::fs;

    #[test]
    fn made_folders_and_binary_files_are_left_out() {
        let root = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir_all(root.path().join("target/debug")).expect("folders");
        fs::create_dir_all(root.path().join("a")).expect("folders");
        fs::write(root.path().join("target/debug/x.rs"), "x").expect("a file");
        fs::write(root.path().join("a/b.rs"), "fn b() {}").expect("a file");
        fs::write(root.path().join("a/c.bin"), [0xff, 0xfe]).expect("a file");
        let tree = Tree::read(root.path()).expect("readable");
        let paths: Vec<&str> = tree.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["a/b.rs"]);
    }
}
