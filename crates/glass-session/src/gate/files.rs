//! A workspace's own rules and ignore list, read again when they change.
//!
//! Whoever works in the workspace may have put anything there: what is read is
//! bounded, is never waited for, and a file that is no good refuses commands
//! instead of letting them through.

use crate::actor::lock;
use glass_policy::{Ignored, RuleFile};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Largest file, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

const RULES_FILE: &str = ".shellglass.toml";
const IGNORE_FILE: &str = ".shellglassignore";

/// What of a file changes when its text does.
type Stamp = (u64, u64, u64, i64, i64);

/// What a file said, or why that is no good.
type Said<T> = Result<Option<Arc<T>>, String>;

/// What is known of each file, and what it was like then.
type Known<T> = Mutex<HashMap<PathBuf, (Stamp, Said<T>)>>;

/// The files of one workspace, and of the folders above it.
#[derive(Default)]
pub(super) struct ProjectFiles {
    rules: Known<RuleFile>,
    ignored: Known<Ignored>,
}

impl ProjectFiles {
    /// The project's rules, if it has any.
    pub(super) fn rules(&self, workspace: &Path) -> Said<RuleFile> {
        let path = workspace.join(RULES_FILE);
        said(&self.rules, &path, |text| {
            RuleFile::of_configuration(text).map_err(|error| error.to_string())
        })
    }

    /// The project's ignore list, if it has one.
    pub(super) fn ignored(&self, workspace: &Path) -> Said<Ignored> {
        let path = workspace.join(IGNORE_FILE);
        let root = workspace.to_string_lossy();
        said(&self.ignored, &path, |text| {
            Ignored::parse(&root, text).map_err(|error| error.to_string())
        })
    }
}

fn said<T>(
    known: &Known<T>,
    path: &Path,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Said<T> {
    let Some(now) = stamp(path) else {
        // Most folders have none, and nothing is kept of those.
        return Ok(None);
    };
    let mut known = lock(known);
    if let Some((then, said)) = known.get(path)
        && *then == now
    {
        return said.clone();
    }
    let said = read(path)
        .map_err(|error| error.to_string())
        .and_then(|text| parse(&text))
        .map(|value| Some(Arc::new(value)))
        .map_err(|why| format!("{} cannot be used: {why}", path.display()));
    known.insert(path.to_owned(), (now, said.clone()));
    said
}

/// None where there is nothing to read: no file, or the empty directory that
/// keeps a sandbox from planting one.
fn stamp(path: &Path) -> Option<Stamp> {
    let found = path.symlink_metadata().ok()?;
    (!found.is_dir()).then(|| {
        (
            found.dev(),
            found.ino(),
            found.len(),
            found.ctime(),
            found.ctime_nsec(),
        )
    })
}

fn read(path: &Path) -> io::Result<String> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits() | rustix::fs::OFlags::NOFOLLOW.bits();
    let mut options = File::options();
    let file = options
        .read(true)
        .custom_flags(flags.cast_signed())
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a plain file"));
    }
    let mut text = String::new();
    file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(text)
}
