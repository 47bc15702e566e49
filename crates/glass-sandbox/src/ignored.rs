//! Files that are to be ignored: neither read nor written inside, whatever
//! they are called.
//!
//! Patterns are expanded to what exists, because only what exists can be
//! masked; what comes to be later is found before the next command.

mod mapping;
mod scan;

pub(crate) use mapping::Mapping;
pub(crate) use scan::Scan;

use std::path::{Path, PathBuf};

use glass_model::SandboxPolicy;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::place::read_bounded;
use crate::{Refusal, Workspace};

/// The workspace's own list.
pub(crate) const IGNORE_FILE: &str = ".shellglassignore";

/// The longest list.
const IGNORE_FILE_BYTES_MAX: u64 = 1 << 20;

/// The directories of a policy's ignore mapping with their patterns, in the
/// syntax of gitignore, for whoever looks at texts and not at files.
pub fn mapped(policy: &SandboxPolicy, workspace: &Path) -> Vec<(PathBuf, Vec<String>)> {
    let mapping = Mapping::of_policy(policy);
    let lists = mapping.iter();
    lists
        .map(|(directory, patterns)| (root_of(workspace, directory), patterns.to_vec()))
        .collect()
}

fn root_of(workspace: &Path, directory: &str) -> PathBuf {
    let root = workspace.join(directory);
    // A directory that does not exist yet is taken by its name.
    std::fs::canonicalize(&root).unwrap_or(root)
}

/// All rules of a sandbox. A file is ignored if any list says so: one list
/// cannot take back what another says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    lists: Vec<Gitignore>,
}

impl Rules {
    /// Reads the mapping and the workspace's own list.
    pub(crate) fn read(mapping: &Mapping, workspace: &Workspace) -> Result<Rules, Refusal> {
        let mut lists = Vec::new();
        for (directory, patterns) in mapping.iter() {
            let root = root_of(workspace.path(), directory);
            lists.push(compile(&root, patterns.iter().map(String::as_str))?);
        }
        let file = workspace.path().join(IGNORE_FILE);
        match read_bounded(&file, IGNORE_FILE_BYTES_MAX) {
            Ok(bytes) => {
                let text = String::from_utf8(bytes).map_err(|_| Refusal::Ignore {
                    why: format!("{} is not UTF-8", file.display()),
                })?;
                lists.push(compile(workspace.path(), text.lines())?);
            }
            // A directory in its place is our own placeholder.
            Err(_) if file.is_dir() => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => return Err(Refusal::Read { path: file, source }),
        }
        lists.retain(|list| list.num_ignores() > 0);
        Ok(Rules { lists })
    }

    /// Whether nothing is ignored.
    pub(crate) fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// Where to begin looking: the lists' directories, without those that lie
    /// in another.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        let mut roots: Vec<PathBuf> = self.lists.iter().map(|l| l.path().to_path_buf()).collect();
        roots.sort();
        roots.dedup_by(|later, earlier| later.starts_with(earlier));
        roots
    }

    /// Whether this path by itself is ignored; that a directory above it is
    /// does not count.
    pub(crate) fn matches(&self, path: &Path, is_dir: bool) -> bool {
        let mut lists = self
            .lists
            .iter()
            .filter(|list| path.starts_with(list.path()));
        lists.any(|list| list.matched(path, is_dir).is_ignore())
    }

    /// Whether this file or a directory above it is ignored.
    pub(crate) fn matches_file_or_above(&self, path: &Path) -> bool {
        let mut lists = self
            .lists
            .iter()
            .filter(|list| path.starts_with(list.path()));
        lists.any(|list| list.matched_path_or_any_parents(path, false).is_ignore())
    }
}

fn compile<'a>(root: &Path, patterns: impl Iterator<Item = &'a str>) -> Result<Gitignore, Refusal> {
    let mut builder = GitignoreBuilder::new(root);
    for pattern in patterns {
        builder
            .add_line(None, pattern)
            .map_err(|error| Refusal::Ignore {
                why: error.to_string(),
            })?;
    }
    builder.build().map_err(|error| Refusal::Ignore {
        why: error.to_string(),
    })
}
