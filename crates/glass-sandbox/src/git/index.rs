//! The paths in git's index: what is tracked.

use std::path::Path;

use super::repository::{Found, Repository};
use crate::place::read_bounded;

/// The longest index that is read.
const INDEX_BYTES_MAX: u64 = 256 << 20;

const ENTRY_HEADER_BYTES: usize = 62;
const FLAG_EXTENDED: u16 = 0x4000;

/// The mode of an entry that is a repository of its own.
const MODE_GITLINK: u32 = 0o160_000;

/// The most of those that are followed, and of files that share entries.
const GITLINKS_MAX: usize = 4096;
const SHARED_MAX: usize = 16;

/// Whether any tracked path is one of these; none if the index cannot be
/// understood.
pub(crate) fn any_tracked(index: &Path, wanted: impl Fn(&[u8]) -> bool) -> Option<bool> {
    let bytes = match read_bounded(index, INDEX_BYTES_MAX) {
        Ok(bytes) => bytes,
        // Without an index nothing is tracked.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(false),
        Err(_) => return None,
    };
    any_in(&bytes, |_, path| wanted(path))
}

/// The paths in a repository's lists of files that are repositories of their
/// own; none if one of the lists cannot be understood.
pub(crate) fn gitlinks(dot_git: &Path) -> Option<Vec<Vec<u8>>> {
    let git_dir = match Repository::find(dot_git) {
        Found::Repository(repository) => repository.git_dir,
        Found::Link | Found::Nothing => return None,
    };
    let mut found = Vec::new();
    // A list may have a part in another file, which others share.
    let shared = std::fs::read_dir(&git_dir).ok()?.flatten();
    let shared = shared.filter(|entry| {
        let name = entry.file_name();
        name.as_encoded_bytes().starts_with(b"sharedindex.")
    });
    let shared: Vec<_> = shared.map(|entry| entry.path()).collect();
    if shared.len() > SHARED_MAX {
        return None;
    }
    for index in std::iter::once(git_dir.join("index")).chain(shared) {
        let bytes = match read_bounded(&index, INDEX_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(_) => return None,
        };
        any_in(&bytes, |mode, path| {
            if mode == MODE_GITLINK {
                found.push(path.to_vec());
            }
            found.len() > GITLINKS_MAX
        })?;
    }
    (found.len() <= GITLINKS_MAX).then_some(found)
}

fn any_in(bytes: &[u8], mut wanted: impl FnMut(u32, &[u8]) -> bool) -> Option<bool> {
    let header = bytes.get(..12)?;
    if &header[..4] != b"DIRC" {
        return None;
    }
    let version = u32::from_be_bytes(header[4..8].try_into().ok()?);
    let count = u32::from_be_bytes(header[8..12].try_into().ok()?);
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut at = 12;
    let mut path: Vec<u8> = Vec::new();
    for _ in 0..count {
        let mode = u32::from_be_bytes(bytes.get(at + 24..at + 28)?.try_into().ok()?);
        let flags = u16::from_be_bytes(bytes.get(at + 60..at + 62)?.try_into().ok()?);
        let extended = if flags & FLAG_EXTENDED != 0 { 2 } else { 0 };
        let name = at + ENTRY_HEADER_BYTES + extended;
        if version == 4 {
            let (strip, used) = variable_width(bytes.get(name..)?)?;
            let rest = until_nul(bytes.get(name + used..)?)?;
            path.truncate(path.len().checked_sub(strip)?);
            path.extend_from_slice(rest);
            at = name + used + rest.len() + 1;
        } else {
            let rest = until_nul(bytes.get(name..)?)?;
            path.clear();
            path.extend_from_slice(rest);
            // One to eight NULs, so that an entry's length is a multiple of 8.
            at += (ENTRY_HEADER_BYTES + extended + rest.len() + 8) & !7;
        }
        if wanted(mode, &path) {
            return Some(true);
        }
    }
    Some(false)
}

fn until_nul(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some(&bytes[..end])
}

/// The number of variable width that version 4 has before each name, and how
/// many bytes it takes.
fn variable_width(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value: usize = 0;
    for (at, byte) in bytes.iter().enumerate().take(8) {
        value = value.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
        value = value.checked_add(1)?.checked_mul(128)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::any_in;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(
            version in 0_u8..6,
            count in any::<u8>(),
            body in prop::collection::vec(any::<u8>(), 0..400),
        ) {
            let mut bytes = b"DIRC\0\0\0".to_vec();
            bytes.extend([version, 0, 0, 0, count]);
            bytes.extend(body);
            any_in(&bytes, |_, _| false);
        }
    }
}
