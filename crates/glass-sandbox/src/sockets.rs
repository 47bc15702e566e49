//! Sockets of processes outside. Neither a read-only mount nor an older
//! Landlock stops anybody from connecting to one by its path, so every one
//! that can be seen is hidden.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::layout::{Layout, Why};
use crate::place::read_bounded_pseudo;
use crate::system::is_socket;
use crate::{Place, Refusal};

/// Where the kernel lists them.
const TABLE: &str = "/proc/net/unix";

/// The longest list that is read.
const TABLE_BYTES_MAX: u64 = 16 << 20;

/// The most sockets that are hidden one by one.
const SOCKETS_MAX: usize = 1024;

/// The sockets that can be seen inside, and are not in a place that commands
/// may write.
pub(crate) fn visible(layout: &Layout) -> Result<Vec<Place>, Refusal> {
    let mut found = Vec::new();
    let Ok(table) = read_bounded_pseudo(TABLE.as_ref(), TABLE_BYTES_MAX + 1) else {
        // Without `/proc` there is nothing to look at, here or inside.
        return Ok(found);
    };
    if table.len() as u64 > TABLE_BYTES_MAX {
        return Err(Refusal::TooMany {
            what: "bytes of sockets",
            max: TABLE_BYTES_MAX as usize,
        });
    }
    for path in paths(&table) {
        if !is_socket(&path) {
            continue;
        }
        let Ok(place) = Place::resolve(&path) else {
            continue;
        };
        let asked_for = layout
            .at(&place.path)
            .is_some_and(|entry| matches!(entry.why, Why::Extra | Why::ExtraReadOnly));
        let seen = !layout.is_covered(&place.path) && !layout.is_writable(&place.path);
        if seen && !asked_for && !found.contains(&place) {
            found.push(place);
        }
        if found.len() > SOCKETS_MAX {
            return Err(Refusal::TooMany {
                what: "hidden sockets",
                max: SOCKETS_MAX,
            });
        }
    }
    Ok(found)
}

/// The absolute paths in the kernel's table. The path is the last column and
/// may have spaces; names of the abstract kind begin with `@`.
fn paths(table: &[u8]) -> Vec<PathBuf> {
    let lines = table.split(|byte| *byte == b'\n').skip(1);
    lines
        .filter_map(|line| {
            let at = line.windows(2).position(|pair| pair == b" /")?;
            Some(PathBuf::from(OsStr::from_bytes(&line[at + 1..])))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::paths;
    use std::path::PathBuf;

    #[test]
    fn paths_are_the_last_column() {
        let table = b"Num RefCount Path\n\
            0001: 00000002 0 00010000 0005 01 48 /run/a b.sock\n\
            0001: 00000002 0 00010000 0005 01 48 @/tmp/abstract\n\
            0001: 00000002 0 00010000 0005 01 48\n";
        assert_eq!(paths(table), [PathBuf::from("/run/a b.sock")]);
    }
}
