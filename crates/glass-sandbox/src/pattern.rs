//! The small patterns of settings: `*` stands for any run of characters, in a
//! name or in one component of a path.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// The most paths that one pattern stands for; more are left out.
const EXPANSIONS_MAX: usize = 64;

/// The most directory entries looked at for one component.
const ENTRIES_MAX: usize = 10_000;

/// Whether a text matches a pattern.
pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    // Where the last `*` was, and how far it had reached: enough to go back
    // to, because an earlier `*` never needs to take more.
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, t));
            p += 1;
        } else if pattern.get(p) == Some(&text[t]) {
            p += 1;
            t += 1;
        } else if let Some((at, reached)) = star {
            star = Some((at, reached + 1));
            p = at + 1;
            t = reached + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// Whether a path matches a pattern, component for component.
pub(crate) fn matches_path(pattern: &Path, path: &Path) -> bool {
    let (mut pattern, mut path) = (pattern.components(), path.components());
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return true,
            (Some(p), Some(t)) if component_matches(p, t) => {}
            _ => return false,
        }
    }
}

fn component_matches(pattern: Component<'_>, text: Component<'_>) -> bool {
    let bytes = |component: Component<'_>| component.as_os_str().as_bytes().to_vec();
    match (pattern, text) {
        (Component::Normal(_), Component::Normal(_)) => matches(&bytes(pattern), &bytes(text)),
        _ => pattern == text,
    }
}

/// The paths that a pattern stands for. Those without `*` stand for
/// themselves, whether they exist or not.
pub(crate) fn expand(pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for component in pattern.components() {
        let name = component.as_os_str();
        if !name.as_bytes().contains(&b'*') {
            found.iter_mut().for_each(|path| path.push(name));
            continue;
        }
        found = found.iter().flat_map(|path| children(path, name)).collect();
        found.truncate(EXPANSIONS_MAX);
    }
    found
}

fn children(directory: &Path, pattern: &OsStr) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    let names = entries.take(ENTRIES_MAX).flatten();
    let names = names.filter(|entry| matches(pattern.as_bytes(), entry.file_name().as_bytes()));
    names
        .map(|entry| entry.path())
        .take(EXPANSIONS_MAX)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{expand, matches, matches_path};
    use std::path::Path;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, expected) in [
            ("*_TOKEN", "GITHUB_TOKEN", true),
            ("*_TOKEN", "TOKEN", false),
            ("AWS_*", "AWS_", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
        ] {
            let found = matches(pattern.as_bytes(), text.as_bytes());
            assert_eq!(found, expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_star_does_not_cross_components() {
        let yes = |p: &str, t: &str| matches_path(Path::new(p), Path::new(t));
        assert!(yes("/home/*/src", "/home/u/src"));
        assert!(!yes("/home/*", "/home/u/src"));
        assert!(!yes("/home/u", "/home/u-evil"));
    }

    #[test]
    fn expansion_finds_what_exists() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("credentials"), "").unwrap();
        std::fs::write(dir.path().join("credentials.toml"), "").unwrap();
        std::fs::write(dir.path().join("config"), "").unwrap();
        assert_eq!(expand(&dir.path().join("cred*")).len(), 2);
        assert_eq!(expand(&dir.path().join("nothing")).len(), 1);
    }
}
