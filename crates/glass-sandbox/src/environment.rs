//! How a sandbox changes the environment.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::pattern::matches;

/// The variables that programs take the directory for temporary files from.
const TMP_VARIABLES: &[&[u8]] = &[b"TMPDIR", b"TMP", b"TEMP", b"TEMPDIR"];

/// Changes to an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvChanges {
    /// Names that are taken out; `*` stands for anything.
    pub unset: Vec<String>,
    /// Variables that get a value, unless they have one that may stay.
    pub set: Vec<(String, Vec<u8>)>,
    /// Places whose files can be written inside: a directory for temporary
    /// files that lies in one of them stays.
    pub writable: Vec<PathBuf>,
}

impl EnvChanges {
    /// The environment, as `NAME=VALUE` each, with these changes.
    pub fn apply(&self, env: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut kept: Vec<Vec<u8>> = env
            .iter()
            .filter(|entry| self.keeps(entry))
            .cloned()
            .collect();
        for (name, value) in &self.set {
            let is_there = |entry: &Vec<u8>| split(entry).0 == name.as_bytes();
            if !kept.iter().any(is_there) {
                kept.push([name.as_bytes(), b"=", value].concat());
            }
        }
        kept
    }

    fn keeps(&self, entry: &[u8]) -> bool {
        let (name, value) = split(entry);
        if TMP_VARIABLES.contains(&name) {
            let path = Path::new(OsStr::from_bytes(value));
            return self.writable.iter().any(|place| path.starts_with(place));
        }
        let mut patterns = self.unset.iter();
        !patterns.any(|pattern| is_named(pattern, name))
    }
}

/// Whether a variable is meant, whichever case it is written in: programs read
/// `npm_config_token` as they read `NPM_CONFIG_TOKEN`.
pub(crate) fn is_named(pattern: &str, name: &[u8]) -> bool {
    let upper = name.to_ascii_uppercase();
    matches(pattern.to_ascii_uppercase().as_bytes(), &upper)
}

/// An entry's name and value.
pub(crate) fn split(entry: &[u8]) -> (&[u8], &[u8]) {
    match entry.iter().position(|byte| *byte == b'=') {
        Some(at) => (&entry[..at], &entry[at + 1..]),
        None => (entry, b""),
    }
}

#[cfg(test)]
mod tests {
    use super::EnvChanges;
    use std::path::PathBuf;

    fn check(changes: &EnvChanges, env: &[&str], expected: &[&str]) {
        let bytes = |list: &[&str]| -> Vec<Vec<u8>> {
            list.iter().map(|entry| entry.as_bytes().to_vec()).collect()
        };
        assert_eq!(changes.apply(&bytes(env)), bytes(expected));
    }

    #[test]
    fn secrets_are_taken_out_and_the_rest_stays() {
        let changes = EnvChanges {
            unset: vec!["*_TOKEN".to_owned()],
            ..EnvChanges::default()
        };
        check(
            &changes,
            &["A=1", "MY_TOKEN=x", "my_token=x", "B=_TOKEN"],
            &["A=1", "B=_TOKEN"],
        );
    }

    #[test]
    fn a_tmp_directory_stays_only_where_it_can_be_written() {
        let changes = EnvChanges {
            set: vec![("TMPDIR".to_owned(), b"/ws".to_vec())],
            writable: vec![PathBuf::from("/ws")],
            ..EnvChanges::default()
        };
        check(&changes, &["TMPDIR=/ws/t"], &["TMPDIR=/ws/t"]);
        check(&changes, &["TMPDIR=/ws-evil"], &["TMPDIR=/ws"]);
        check(&changes, &["TMP=/tmp"], &["TMPDIR=/ws"]);
    }
}
